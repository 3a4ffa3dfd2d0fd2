/**
 * Metering: may this account have one more request, what has it used, has it been notified, and what does it owe at
 * the end of the month. Rules and journal, put together on the service's clock.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Account, Accounts } from './accounts.js';
import { isPastNotice, monthOf, requestLimit, type Statement, StatementFile } from './statements.js';
import { type UsageCount, UsageJournal } from './usage-journal.js';
import { channelsOf, Notifier } from './usage-notice.js';

export interface MeterOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly log: Log;
  /** Where usage is kept; in memory when absent. One process at a time (`usage-lock.ts`). */
  readonly usageFile?: string | undefined;
  /** Where statements of closed months are kept; in memory when absent. */
  readonly statementFile?: string | undefined;
}

export class Meter {
  readonly #journal: UsageJournal;
  readonly #statements: StatementFile;
  readonly #notifier: Notifier;
  #month = '';

  /** Begins with the months and notices that an earlier process still owed. Throws `FailFileError` like the journal. */
  constructor(private readonly options: MeterOptions) {
    this.#journal = new UsageJournal(options.usageFile ?? null);
    this.#statements = new StatementFile(options.statementFile ?? null);
    this.#notifier = new Notifier(this.#journal, options);
    this.closeMonths();
  }

  /** Whether the account may not have another request that counts. Changes nothing. */
  isSpent(account: Account): boolean {
    return this.usage(account) >= requestLimit(account);
  }

  /** What the usage header shows. */
  usage(account: Account): number {
    return this.#countOf(account).requests;
  }

  /** Counts one request. It is on record when `written()` resolves. */
  count(account: Account): void {
    const before = this.#countOf(account);
    const requests = before.requests + 1;
    if (before.notice !== null || !isPastNotice(account, requests)) {
      this.#journal.change({ ...before, requests });
      return;
    }
    const notice = {
      at: this.options.clock.now(),
      requests,
      quota: account.quota,
      open: channelsOf(account),
    };
    this.#journal.change({ ...before, requests, notice });
    this.#notifier.notify(account, before.period);
  }

  /** The account's month, by default the current one: as it stands, or as it was closed. Lifetime accounts have none. */
  statement(account: Account, month?: string): Statement | undefined {
    const current = this.closeMonths();
    if (account.period === 'lifetime') return undefined;
    const asked = month ?? current;
    const { requests } = this.#journal.read(account.name, asked);
    return this.#statements.of(account, asked, requests, current);
  }

  /** Writes the statements of months that are over, once in each month. Returns the current one. */
  closeMonths(): string {
    const { accounts, clock, log } = this.options;
    const current = monthOf(clock.now());
    if (current === this.#month) return current;
    this.#month = current;
    for (const { account: name, period, requests } of this.#journal.list()) {
      const account = accounts.all.find((candidate) => candidate.name === name);
      if (account === undefined || account.period === 'lifetime' || period >= current) continue;
      const statement = this.#statements.of(account, period, requests, current);
      try {
        if (this.#statements.close(statement)) log.info({ ...statement }, 'month closed');
      } catch (error) {
        log.error({ ...statement, error: errorText(error) }, 'statement not written');
      }
    }
    return current;
  }

  /** Resolves when all that was counted is in the hands of the operating system; rejects if it cannot be. */
  written(): Promise<void> {
    return this.#journal.written();
  }

  async close(): Promise<void> {
    // Until the last word of a delivery is in the journal.
    await this.#notifier.close();
    this.#journal.close();
  }

  #countOf(account: Account): UsageCount {
    const current = this.closeMonths();
    return this.#journal.read(account.name, account.period === 'lifetime' ? 'lifetime' : current);
  }
}
