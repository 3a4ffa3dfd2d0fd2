/** An account as numbers: nothing spent and nothing known, unless the test says so. */
import type { LedgerState, RunSpending } from '../../src/ledger/ledger.js';

export function ledgerState(some: Partial<LedgerState> = {}): LedgerState {
  return {
    now: 0,
    epoch: 'epoch',
    version: 1,
    period: null,
    behindMs: 0,
    isTurnUnconfirmed: false,
    asksAt: null,
    sent: 0,
    held: 0,
    probes: 0,
    freeOut: 0,
    others: 0,
    free: 0,
    own: { of: null, isProven: false, booked: 0, rises: 0 },
    checkedAt: 0,
    quota: null,
    usage: null,
    lastUsage: null,
    confirmedAt: 0,
    answeredAt: null,
    days: [],
    closedAt: null,
    nextProbeAt: 0,
    restsUntil: 0,
    servesOverage: false,
    isPaused: false,
    quotaCap: null,
    overage: 0,
    pace: { version: 0, rate: null, burst: 1, floorMs: 0, acceptedLastSecond: 0, acceptedThisSecond: 0 },
    run: null,
    ...some,
  };
}

export function runSpending(some: Partial<RunSpending> = {}): RunSpending {
  return {
    status: 'alive',
    requests: 0,
    overageRequests: 0,
    held: 0,
    overageInFlight: 0,
    overageBilled: 0,
    maxRequests: null,
    maxOverageRequests: null,
    ...some,
  };
}
