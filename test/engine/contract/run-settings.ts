/** Runs, their settings and exchanges with the ledger: the test sets what matters to it. */
import {
  NO_TALLY,
  type RunProgress,
  type RunRecord,
  type RunSettings,
} from '../../../src/engine/stores/run-store.js';
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

/** A command that has just begun. */
export function beginningRun(some: Partial<RunRecord> = {}): RunRecord {
  const { id = 'run', key = 'key', asOf = 0 } = some;
  return {
    ...{ id, key, job: id, owner: key, label: { host: 'etl-1', name: 'test' }, settings: runSettings() },
    ...{ asOf, keyStartedAt: asOf, heartbeatAt: asOf, endedAt: null, hasEarlierFailures: false },
    ...{ status: 'running', stop: null, paused: null, cancelled: null },
    ...{ rows: null, identifiers: null, tally: NO_TALLY, spent: 0, overageBilled: 0 },
    ...some,
  };
}

/** What a heartbeat returns before a chunk is done. */
export const NO_PROGRESS: RunProgress = {
  ...{ chunks: 0, tally: NO_TALLY, halt: null },
  ...{ isCancelled: false, isPaused: false, isPausedAlone: false },
};

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
