/**
 * Meters requests and overage of accounts by the specification's "Limits":
 *
 * used < quota                       included
 * quota <= used < quota + overage    overage, owed at the end of the month (paid plan)
 * beyond                             refused with 429
 */
import { z } from 'zod';
import type { Clock } from '../core/clock.js';
import { decimalText, multiply, wholeTimes } from '../core/decimal.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { Account, Accounts } from './accounts.js';
import { appendLine, readLines } from './line-file.js';
import { type UsageCount, UsageJournal } from './usage-journal.js';
import { channelsOf, Notifier } from './usage-notice.js';

type PlanTerms = Pick<Account, 'plan' | 'quota' | 'period' | 'overageBudget' | 'overagePrice'>;

function overageAllowance(terms: PlanTerms): number {
  if (terms.plan === 'free' || terms.period === 'lifetime') return 0;
  return wholeTimes(terms.overageBudget, terms.overagePrice);
}

function requestLimit(terms: PlanTerms): number {
  return terms.quota + overageAllowance(terms);
}

/** True if the usage is past 80 % of the quota, which is notified ("Usage notice"). */
function isPastNotice(terms: PlanTerms, used: number): boolean {
  return used * 5 > terms.quota * 4;
}

type StatedAccount = { readonly name: string } & PlanTerms;

/** The month's bill of one account. Amounts are exact, in the currency of the price. */
export type Statement = Readonly<ReturnType<typeof statementOf>>;

/** Returns a statement. The amount owed never exceeds the budget, even a lowered one. */
function statementOf(account: StatedAccount, month: string, requests: number, isFinal: boolean) {
  const overageRequests = Math.min(Math.max(0, requests - account.quota), overageAllowance(account));
  return {
    account: account.name,
    /** `YYYY-MM`, UTC. */
    month,
    plan: account.plan,
    quota: account.quota,
    requests,
    overageRequests,
    overagePrice: decimalText(account.overagePrice),
    overageOwed: decimalText(multiply(account.overagePrice, overageRequests)),
    isFinal,
  };
}

export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

export class StatementFile {
  readonly #closed = new Map<string, Statement>();

  constructor(private readonly path: string | null) {
    for (const statement of path === null ? [] : readLines(path, statementLine)) this.#keep(statement);
  }

  /** Returns the statement of a month, as it was closed, or by the usage so far. */
  of(account: StatedAccount, month: string, used: number, current: string): Statement {
    const closed = this.#closed.get(`${month} ${account.name}`);
    return closed ?? statementOf(account, month, used, month < current);
  }

  /** Closes a month; false if it is closed already. Throws if the file cannot be written. */
  close(statement: Statement): boolean {
    if (this.#closed.has(`${statement.month} ${statement.account}`)) return false;
    if (this.path !== null) appendLine(this.path, JSON.stringify(statement));
    this.#keep(statement);
    return true;
  }

  #keep(statement: Statement): void {
    this.#closed.set(`${statement.month} ${statement.account}`, statement);
  }
}

/** A closed statement is not judged again: it only needs its account and month. */
const statementLine = z.custom<Statement>(
  (line) => z.looseObject({ account: z.string(), month: z.string() }).safeParse(line).success,
);

export interface MeterOptions {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly log: Log;
  /** The file of usage, for one process at a time (`lockUsage`); in memory if absent. */
  readonly usageFile?: string | undefined;
  /** The file of statements of closed months; in memory if absent. */
  readonly statementFile?: string | undefined;
}

export class Meter {
  readonly #journal: UsageJournal;
  readonly #statements: StatementFile;
  readonly #notifier: Notifier;
  #month = '';

  /** Sends the notices that an earlier process owed. Throws `RunError` like the journal. */
  constructor(private readonly options: MeterOptions) {
    this.#journal = new UsageJournal(options.usageFile ?? null);
    this.#statements = new StatementFile(options.statementFile ?? null);
    this.#notifier = new Notifier(this.#journal, options);
    this.closeMonths();
  }

  /** True if the account may have no further billed request. Changes nothing. */
  isSpent(account: Account): boolean {
    return this.usage(account) >= requestLimit(account);
  }

  usage(account: Account): number {
    return this.#countOf(account).requests;
  }

  /** Counts a request, which is on record when `written()` resolves. */
  count(account: Account): void {
    const before = this.#countOf(account);
    const requests = before.requests + 1;
    const isDue = before.notice === null && isPastNotice(account, requests);
    const due = { at: this.options.clock.now(), requests, quota: account.quota, open: channelsOf(account) };
    this.#journal.change({ ...before, requests, notice: isDue ? due : before.notice });
    if (isDue) this.#notifier.notify(account, before.period);
  }

  /** Writes the statements of past months, once a month. Returns the current month. */
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

  /** Resolves when the system has all counts; rejects if it cannot take them. */
  written(): Promise<void> {
    return this.#journal.written();
  }

  async close(): Promise<void> {
    // The last deliveries still write to the journal.
    await this.#notifier.close();
    this.#journal.close();
  }

  #countOf(account: Account): UsageCount {
    const current = this.closeMonths();
    return this.#journal.read(account.name, account.period === 'lifetime' ? 'lifetime' : current);
  }
}
