/** Judges an account as the governor does: its hold, its use, and what is left. Pure. */
import { costOf, requestsFor } from '../../core/decimal.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { nextPeriodAt, serviceTime } from '../../ledger/period.js';
import {
  capOf,
  holdOf,
  inFlightOf,
  limitOf,
  overageOf,
  roomOf,
  spentOf,
  waitsUntil,
} from '../../ledger/policy.js';

type Account = Parameters<typeof holdOf>[0] &
  Pick<
    LedgerState,
    'quota' | 'quotaCap' | 'overage' | 'held' | 'probes' | 'now' | 'behindMs' | 'period' | 'pace'
  >;

/** Share of the limit at which a warning is due (specification: usage notice at 80 %). */
const WARN_AT = 0.8;

/** Judges in requests of the period, in flight included; counts are null while unknown. */
export function judgeAccount(account: Account) {
  const { quota, closedAt, period } = account;
  const overage = overageOf(account);
  const [limit, cap, used, left] = [limitOf(account), capOf(account), spentOf(account), roomOf(account)];
  const edge = cap ?? quota;
  const beyondEdge = edge === null ? 0 : Math.max(0, used - edge);
  const isOver = serviceTime(account) >= (nextPeriodAt(period, 'month') ?? Number.POSITIVE_INFINITY);
  return {
    /** Why it may not spend; null if it may, or only waits for requests in flight. */
    hold: holdOf(account),
    /** A permit could be taken now, if nothing is paused. */
    hasRoom: closedAt === null && left !== 0,
    isNearLimit: !isOver && limit !== null && limit > 0 && used >= WARN_AT * limit,
    /** The end of a long wait that the service asked for (Retry-After), or null. */
    waitsUntil: waitsUntil(account),
    limit,
    cap,
    used,
    left,
    quotaLeft: edge === null ? null : Math.max(0, edge - used),
    overageUsed: Math.min(overage, beyondEdge),
    overageLeft: Math.max(0, overage - beyondEdge),
    /** Spent by others beyond the limit, or by us before it was lowered. */
    beyond: Math.max(0, beyondEdge - overage),
  };
}

/** Returns the account's requests of the period, for documents. */
export function useOf(state: LedgerState) {
  const { period, quota, sent, others, free } = state;
  const { limit, cap, used, left } = judgeAccount(state);
  return { period, quota, limit, cap, used, left, sent, inFlight: inFlightOf(state), others, free };
}

export interface BudgetTerms {
  readonly plan: 'free' | 'paid' | null;
  readonly budget: string;
  readonly price: string;
}

/** Money as exact decimal text. */
export type JudgedBudget = Readonly<NonNullable<ReturnType<typeof judgeBudget>>>;

/** Judges the budget of the whole account; null unless paid with a known quota. */
export function judgeBudget(state: Account, { plan, budget, price }: BudgetTerms) {
  if (plan !== 'paid' || state.quota === null) return null;
  const requestsAllowed = requestsFor(budget, price);
  const { cap, used, overageLeft } = judgeAccount({ ...state, overage: requestsAllowed });
  const overageRequests = Math.max(0, used - state.quota);
  return {
    budget,
    price,
    /** Requests beyond the quota, ours and others', and their cost. */
    overageRequests,
    used: costOf(overageRequests, price),
    /** `--quota` if it is below the quota; then nothing of the budget is spent. */
    quotaCap: cap,
    /** Requests that the whole budget allows beyond the quota. */
    requestsAllowed,
    requestsLeft: overageLeft,
    /** The unspent budget, in whole requests. */
    left: costOf(Math.max(0, requestsAllowed - overageRequests), price),
  };
}
