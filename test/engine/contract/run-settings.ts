/** Settings of a run and exchanges with the ledger for tests: the test sets what matters to it. */
import type { ExchangeRequest } from '../../../src/ledger/ledger.js';
import type { RunSettings } from '../../../src/stores/run-store.js';

export function runSettings(some: Partial<RunSettings> = {}): RunSettings {
  return {
    service: 'http://service.example',
    account: 'account',
    allowNsfw: 'unset',
    maxAgeMs: 7 * 86_400_000,
    maxAgeMissingMs: 86_400_000,
    refresh: false,
    plan: 'unsaid',
    quotaCap: null,
    overage: 0,
    period: 'month',
    freeStatuses: ['204', '400', '402', '5xx'],
    maxRequests: null,
    maxOverageRequests: null,
    timeoutMs: 40_000,
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
    heard: true,
    refusedForQuota: false,
    pace: null,
    take: [],
    permitMs: 50_000,
    mayHaveTurned: false,
    usageLagMs: 60_000,
    ...some,
  };
}
