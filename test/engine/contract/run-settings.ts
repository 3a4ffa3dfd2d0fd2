/** Settings of a run and exchanges with the ledger for tests: the test sets what matters to it. */
import type { RunSettings } from '../../../src/engine/stores/run-store.js';
import type { ExchangeRequest } from '../../../src/ledger/ledger.js';

export function runSettings(some: Partial<RunSettings> = {}): RunSettings {
  return {
    service: 'http://service.example',
    account: 'account',
    allowNsfw: 'unset',
    allowUnknown: false,
    maxAgeMs: 7 * 86_400_000,
    maxAgeMissingMs: 86_400_000,
    refresh: false,
    plan: 'unspecified',
    quotaCap: null,
    overage: 0,
    period: 'month',
    freeStatuses: ['204', '400', '402', '5xx'],
    maxRate: null,
    maxRequests: null,
    maxOverageRequests: null,
    timeoutMs: 40_000,
    ownDomain: null,
    ...some,
  };
}

/** A worker's exchange: useful answers, nothing settled, no permit requested, unless given. */
export function exchangeRequest(
  some: Pick<ExchangeRequest, 'account' | 'worker' | 'run'> & Partial<ExchangeRequest>,
): ExchangeRequest {
  return {
    seen: null,
    settle: [],
    reading: null,
    isConfirmed: true,
    refusedForQuota: false,
    pace: null,
    take: [],
    look: null,
    permitMs: 50_000,
    turn: null,
    usageLagMs: 60_000,
    ...some,
  };
}
