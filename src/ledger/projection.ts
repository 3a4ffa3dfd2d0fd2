/** Where an account will be at its period's end, at its rate so far, and its use of the budget. */

import { costOf, requestsFor } from '../core/decimal.js';
import type { LedgerState } from './ledger.js';
import { nextPeriodAt, periodStart } from './period.js';
import { capOf, spentOf } from './policy.js';

const DAY_MS = 86_400_000;

export type Projection = Readonly<NonNullable<ReturnType<typeof projectPeriodEnd>>>;

/**
 * Goes on from the whole period so far in a straight line. null when there is too little to go on:
 * no period or none that ends, less than a day of it, nothing used, or a period that is over and
 * has not been seen to turn. `limit`: null while unknown.
 */
export function projectPeriodEnd(
  state: Pick<LedgerState, 'now' | 'period' | 'sent' | 'held' | 'others'>,
  limit: number | null,
) {
  const { now, period } = state;
  const endsAt = nextPeriodAt(period, 'month');
  if (period === null || endsAt === null) return null;
  const startedAt = periodStart(period);
  const goneMs = now - startedAt;
  const used = spendingOf(state.sent + state.held, state.others);
  if (goneMs < DAY_MS || now >= endsAt || used.total === 0) return null;
  const growth = (endsAt - startedAt) / goneMs;
  const projected = spendingOf(Math.ceil(used.byUs * growth), Math.ceil(used.byOthers * growth));
  const reachedAt = limit === null ? endsAt : Math.max(now, startedAt + (goneMs * limit) / used.total);
  return {
    /** First day of the period that comes next, `YYYY-MM-DD`, UTC. */
    endsOn: dayOf(endsAt),
    /** Days of the period, with their fractions. */
    daysGone: goneMs / DAY_MS,
    daysLeft: (endsAt - now) / DAY_MS,
    used,
    /** At the end of the period, rounded up. */
    projected,
    /** Day on which `limit` is reached at this rate; null when it is not, or is not known. */
    limitReachedOn: reachedAt < endsAt ? dayOf(reachedAt) : null,
  };
}

export interface BudgetTerms {
  readonly plan: 'free' | 'paid' | null;
  /** Exact decimal text. */
  readonly budget: string;
  readonly price: string;
}

/** Money as exact decimal text. */
export type BudgetState = Readonly<NonNullable<ReturnType<typeof budgetStateOf>>>;

/** Of the whole account: overage is use beyond the quota. null: not paid, or quota unknown. */
export function budgetStateOf(
  state: Pick<LedgerState, 'quota' | 'quotaCap' | 'sent' | 'held' | 'others'>,
  { plan, budget, price }: BudgetTerms,
) {
  if (plan !== 'paid' || state.quota === null) return null;
  const cap = capOf(state);
  const spent = spentOf(state);
  const overageRequests = Math.max(0, spent - state.quota);
  const requestsAllowed = requestsFor(budget, price);
  return {
    budget,
    price,
    /** Requests beyond the quota, ours and others', and their cost. */
    overageRequests,
    used: costOf(overageRequests, price),
    /** `--quota` if below the quota: the budget's requests begin there, billed only beyond it. */
    quotaCap: cap,
    /** The number of requests that the whole budget allows beyond the quota or `quotaCap`. */
    requestsAllowed,
    requestsLeft: Math.max(0, requestsAllowed - Math.max(0, spent - (cap ?? state.quota))),
    /** What is not spent, in whole requests. */
    left: costOf(Math.max(0, requestsAllowed - overageRequests), price),
  };
}

/** Requests of the account, in flight included. */
function spendingOf(byUs: number, byOthers: number) {
  return { byUs, byOthers, total: byUs + byOthers };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
