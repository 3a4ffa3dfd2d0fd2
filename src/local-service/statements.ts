/**
 * What an account may spend and what it owes: the rules of the specification's "Limits" as arithmetic,
 * and the file of statements of closed months.
 *
 * used < quota                       included
 * quota <= used < quota + overage    overage, owed at the end of the month (paid plan)
 * beyond                             refused with 429
 */

import { z } from 'zod';
import { type Decimal, decimalText, multiply, wholeTimes } from '../core/decimal.js';
import { appendLine, readLines } from './line-file.js';

export interface PlanTerms {
  readonly plan: 'free' | 'paid';
  readonly quota: number;
  /** `month`: the quota is that of a UTC month. `lifetime`: it is never renewed, and there is no overage. */
  readonly period: 'month' | 'lifetime';
  /** Hard limit of what overage may cost in a month. Specification: 100 by default, 0 disables overage. */
  readonly overageBudget: Decimal;
  /** Price of one request beyond the quota. Specification: 0.1. */
  readonly overagePrice: Decimal;
}

/** How many requests beyond the quota are served. */
function overageAllowance(terms: PlanTerms): number {
  if (terms.plan === 'free' || terms.period === 'lifetime') return 0;
  return wholeTimes(terms.overageBudget, terms.overagePrice);
}

/** The number of requests at which the account is refused. */
export function requestLimit(terms: PlanTerms): number {
  return terms.quota + overageAllowance(terms);
}

/** Whether the usage is past 80 % of the quota ("Usage notice"), which is when the account is notified. */
export function isPastNotice(terms: PlanTerms, used: number): boolean {
  return used * 5 > terms.quota * 4;
}

type StatedAccount = { readonly name: string } & PlanTerms;

/** The month's bill of one account. Amounts are exact decimals in the currency of the price. */
export type Statement = Readonly<ReturnType<typeof statementOf>>;

/**
 * The statement for so many requests on these terms. What is owed never passes the budget, even where the quota or
 * the budget was lowered in the course of the month. `isFinal`: the month is over, nothing is added any more.
 */
export function statementOf(account: StatedAccount, month: string, requests: number, isFinal: boolean) {
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

/** The UTC month of a moment. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** The statements of closed months. */
export class StatementFile {
  readonly #closed = new Map<string, Statement>();

  /** `path` null keeps statements in memory only. */
  constructor(private readonly path: string | null) {
    for (const statement of path === null ? [] : readLines(path, statementLine)) this.#keep(statement);
  }

  /** The statement of a month: as it was closed, or from the usage so far. `current` is the month of now. */
  of(account: StatedAccount, month: string, used: number, current: string): Statement {
    const closed = this.#closed.get(`${month} ${account.name}`);
    return closed ?? statementOf(account, month, used, month < current);
  }

  /** Closes a month: appends and syncs. False when it is closed already. Throws when the file cannot be written. */
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

/** What is written once is not judged again: whose and of which month is all that has to be there. */
const statementLine = z.custom<Statement>(
  (line) => z.looseObject({ account: z.string(), month: z.string() }).safeParse(line).success,
);
