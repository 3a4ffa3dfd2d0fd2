/**
 * Metering: may this account have one more request, what has it used, has it been notified, and what does it owe at
 * the end of the month. Rules and journal, put together on the service's clock.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Account } from './accounts.js';
import { isPastNotice, monthOf, requestLimit, type Statement, type StatementFile } from './statements.js';
import type { UsageCount, UsageJournal } from './usage-journal.js';
import { channelsOf, type Notifier } from './usage-notice.js';

export interface MeterOptions {
  readonly accounts: readonly Account[];
  readonly journal: UsageJournal;
  readonly statements: StatementFile;
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly log: Log;
}

export class Meter {
  #month = '';

  constructor(private readonly options: MeterOptions) {}

  /** Whether the account may not have another request that counts. Changes nothing. */
  isSpent(account: Account): boolean {
    return this.usage(account) >= requestLimit(account);
  }

  /** What the usage header shows. */
  usage(account: Account): number {
    return this.#countOf(account).requests;
  }

  /** Counts one request. It is on record when the journal's `written()` resolves. */
  count(account: Account): void {
    const { journal, notifier, clock } = this.options;
    const before = this.#countOf(account);
    const requests = before.requests + 1;
    if (before.notice !== null || !isPastNotice(account, requests)) {
      journal.change({ ...before, requests });
      return;
    }
    const notice = { at: clock.now(), requests, quota: account.quota, open: channelsOf(account) };
    journal.change({ ...before, requests, notice });
    notifier.notify(account, before.period);
  }

  /** The account's month, by default the current one: as it stands, or as it was closed. Lifetime accounts have none. */
  statement(account: Account, month?: string): Statement | undefined {
    const current = this.closeMonths();
    if (account.period === 'lifetime') return undefined;
    const asked = month ?? current;
    const { requests } = this.options.journal.read(account.name, asked);
    return this.options.statements.of(account, asked, requests, current);
  }

  /** Writes the statements of months that are over, once in each month. Returns the current one. */
  closeMonths(): string {
    const { accounts, journal, statements, clock, log } = this.options;
    const current = monthOf(clock.now());
    if (current === this.#month) return current;
    this.#month = current;
    for (const { account: name, period, requests } of journal.list()) {
      const account = accounts.find((candidate) => candidate.name === name);
      if (account === undefined || account.period === 'lifetime' || period >= current) continue;
      const statement = statements.of(account, period, requests, current);
      try {
        if (statements.close(statement)) log.info({ ...statement }, 'month closed');
      } catch (error) {
        log.error({ ...statement, error: errorText(error) }, 'statement not written');
      }
    }
    return current;
  }

  #countOf(account: Account): UsageCount {
    const current = this.closeMonths();
    return this.options.journal.read(account.name, account.period === 'lifetime' ? 'lifetime' : current);
  }
}
