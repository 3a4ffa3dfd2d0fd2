/**
 * Metering: may this account have one more request, what has it used, has it been notified, and what does it owe at the
 * end of the month. The rules are `plan-terms.ts`'s, the durable count is `usage-journal.ts`'s; this file
 * puts them together on the service's clock.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Account } from './accounts.js';
import {
  isPastNotice,
  monthOf,
  nextMonthStart,
  requestLimit,
  type Statement,
  type StatementFile,
  statementOf,
} from './statements.js';
import type { UsageJournal } from './usage-journal.js';
import { channelsOf, type Notifier } from './usage-notice.js';

export interface Meter {
  /** Whether the account may have another request that counts. Changes nothing. */
  isSpent(account: Account): boolean;
  /** Counts one request. It is on record when the journal's `written()` resolves. */
  count(account: Account): void;
  /** What the usage header shows. */
  usage(account: Account): number;
  /** The account's month: as it stands, or as it was closed. Lifetime accounts have none. */
  statement(account: Account, month?: string): Statement | undefined;
  /** Writes the statements of months that are over. Cheap when there are none. */
  closeMonths(): void;
}

export interface MeterOptions {
  readonly accounts: readonly Account[];
  readonly journal: UsageJournal;
  readonly statements: StatementFile;
  readonly notifier: Notifier;
  readonly clock: Clock;
  readonly log: Log;
}

export function createMeter(options: MeterOptions): Meter {
  const { accounts, journal, statements, notifier, clock, log } = options;
  const limits = new Map(accounts.map((account) => [account, requestLimit(account)]));
  let month = '';
  let monthEndsAt = 0;
  let monthBeganAt = Number.POSITIVE_INFINITY;

  const currentMonth = () => {
    const now = clock.now();
    if (now >= monthEndsAt || now < monthBeganAt) {
      month = monthOf(now);
      monthBeganAt = Date.parse(`${month}-01T00:00:00Z`);
      monthEndsAt = nextMonthStart(now);
      writeStatementsBefore(month);
    }
    return month;
  };
  const periodOf = (account: Account) => {
    const current = currentMonth();
    return account.period === 'lifetime' ? 'lifetime' : current;
  };

  const writeStatementsBefore = (first: string) => {
    for (const { account: name, period, requests } of journal.list()) {
      const account = accounts.find((candidate) => candidate.name === name);
      if (account === undefined || account.period === 'lifetime' || period >= first) continue;
      if (statements.find(name, period) !== undefined) continue;
      const statement = statementOf(account, period, requests, true);
      try {
        statements.add(statement);
        log.info({ ...statement }, 'month closed');
      } catch (error) {
        log.error({ ...statement, error: errorText(error) }, 'statement not written');
      }
    }
  };

  return {
    isSpent: (account) =>
      journal.read(account.name, periodOf(account)).requests >=
      (limits.get(account) ?? requestLimit(account)),
    count(account) {
      const before = journal.read(account.name, periodOf(account));
      const requests = before.requests + 1;
      const isDue = before.notice === null && isPastNotice(account, requests);
      if (!isDue) {
        journal.change({ ...before, requests });
        return;
      }
      const notice = { at: clock.now(), requests, quota: account.quota, open: channelsOf(account) };
      journal.change({ ...before, requests, notice });
      notifier.notify(account, before.period);
    },
    usage: (account) => journal.read(account.name, periodOf(account)).requests,
    statement(account, wanted) {
      const current = currentMonth();
      if (account.period === 'lifetime') return undefined;
      const asked = wanted ?? current;
      const { requests } = journal.read(account.name, asked);
      return statements.find(account.name, asked) ?? statementOf(account, asked, requests, asked < current);
    },
    closeMonths() {
      currentMonth();
    },
  };
}
