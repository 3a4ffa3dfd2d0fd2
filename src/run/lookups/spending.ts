/**
 * What a run may cost, before it spends: requests needed, how many of them the quota covers, and what the overage
 * would cost at most. Pure.
 */

import { costOf, requestsFor } from '../../core/decimal.js';
import type { LedgerState } from '../../ledger/ledger.js';
import { overageLeftFor, spentOf } from '../../ledger/policy.js';

export interface SpendingEstimate {
  /** Requests to be made: identifiers without a fresh answer. */
  readonly requests: number;
  /** Of those, covered by the quota; null while the quota is unknown. */
  readonly withinQuota: number | null;
  /** Overage requests at most, and their cost as exact text. */
  readonly overageRequests: number;
  readonly maxCost: string;
  /** Requests that neither quota nor overage covers: they would be deferred; null while unknown. */
  readonly deferred: number | null;
}

export function estimateSpending(
  requests: number,
  state: LedgerState,
  request: {
    readonly settings: {
      readonly overage: number;
      readonly quotaCap: number | null;
      readonly maxRequests: number | null;
      readonly maxOverageRequests: number | null;
    };
    readonly overagePrice: string;
  },
): SpendingEstimate {
  const { overage, quotaCap, maxRequests, maxOverageRequests } = request.settings;
  // What earlier starts of the same command sent counts too.
  const { run } = state;
  const wanted = Math.min(
    requests,
    Math.max(0, (maxRequests ?? Number.POSITIVE_INFINITY) - (run?.requests ?? 0)),
  );
  const spent = spentOf(state);
  const isKnown = state.quota !== null || quotaCap !== null;
  const quota = Math.min(state.quota ?? Number.POSITIVE_INFINITY, quotaCap ?? Number.POSITIVE_INFINITY);
  const withinQuota = isKnown ? Math.min(wanted, Math.max(0, quota - spent)) : null;
  const overageLeft = isKnown ? Math.max(0, overage - Math.max(0, spent - quota)) : overage;
  const beyond = wanted - (withinQuota ?? 0);
  const capLeft = run === null ? (maxOverageRequests ?? beyond) : overageLeftFor(run);
  const overageRequests = Math.min(beyond, overageLeft, capLeft);
  return {
    requests,
    withinQuota,
    overageRequests,
    maxCost: costOf(overageRequests, request.overagePrice),
    deferred: withinQuota === null ? null : requests - withinQuota - overageRequests,
  };
}

/** Whether one amount is more than another; both as plain decimal text. */
export function isMoreThan(amount: string, other: string): boolean {
  // In millionths, because that is the most exact price anybody has.
  return requestsFor(amount, '0.000001') > requestsFor(other, '0.000001');
}
