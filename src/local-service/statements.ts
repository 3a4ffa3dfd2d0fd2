/**
 * What an account may spend and what it owes: the rules of the specification's "Limits" as arithmetic,
 * and the file of statements of closed months.
 *
 * used < quota                       included
 * quota <= used < quota + overage    overage, owed at the end of the month (paid plan)
 * beyond                             refused with 429
 */

import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Decimal, decimalText, multiply, wholeTimes } from '../core/decimal.js';

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

/** The month's bill of one account. Amounts are exact decimals in the currency of the price. */
export interface Statement {
  readonly account: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly plan: 'free' | 'paid';
  readonly quota: number;
  readonly requests: number;
  readonly overageRequests: number;
  readonly overagePrice: string;
  readonly overageOwed: string;
  /** Whether the month is over: nothing is added any more. */
  readonly isFinal: boolean;
}

/**
 * The statement for so many requests on these terms. What is owed never passes the budget, even where the quota or
 * the budget was lowered in the course of the month.
 */
export function statementOf(
  account: { readonly name: string } & PlanTerms,
  month: string,
  used: number,
  isFinal: boolean,
): Statement {
  const overageRequests = Math.min(Math.max(0, used - account.quota), overageAllowance(account));
  return {
    account: account.name,
    month,
    plan: account.plan,
    quota: account.quota,
    requests: used,
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

/** First moment of the month after the one that `nowMs` lies in. */
export function nextMonthStart(nowMs: number): number {
  const date = new Date(nowMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

export interface StatementFile {
  find(account: string, month: string): Statement | undefined;
  /** Appends and syncs. Throws when the file cannot be written. */
  add(statement: Statement): void;
}

/** `path` null keeps statements in memory only. */
export function openStatementFile(path: string | null): StatementFile {
  const statements = new Map<string, Statement>();
  for (const statement of path === null ? [] : readStatements(path)) {
    statements.set(statementKey(statement.account, statement.month), statement);
  }
  return {
    find: (account, month) => statements.get(statementKey(account, month)),
    add(statement) {
      if (path !== null) appendLine(path, JSON.stringify(statement));
      statements.set(statementKey(statement.account, statement.month), statement);
    },
  };
}

/** The statements of a file in the order in which they were written; none when there is no such file. */
function readStatements(path: string): Statement[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\n').flatMap(parseLine);
}

/** Begins on a line of its own, whatever a crash left at the end of the file. */
function appendLine(path: string, line: string): void {
  const isTorn = existsSync(path) && !/(^|\n)$/.test(readFileSync(path, 'utf8'));
  const descriptor = openSync(path, 'a', 0o600);
  try {
    writeSync(descriptor, `${isTorn ? '\n' : ''}${line}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function parseLine(line: string): Statement[] {
  try {
    const statement = JSON.parse(line) as Statement;
    return typeof statement.account === 'string' && typeof statement.month === 'string' ? [statement] : [];
  } catch {
    return [];
  }
}

function statementKey(account: string, month: string): string {
  return `${month} ${account}`;
}
