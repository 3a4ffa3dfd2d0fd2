/** Settings of a run for tests: without limits unless the test sets some. */
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
