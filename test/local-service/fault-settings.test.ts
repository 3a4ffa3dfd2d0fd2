import { describe, expect, it } from 'vitest';
import { NeverStartError } from '../../src/core/errors.js';
import { FAULT_KEYS, NO_FAULTS, parseFaults } from '../../src/local-service/fault-settings.js';

describe('fault settings', () => {
  it('none means none', () => {
    expect(parseFaults([])).toEqual(NO_FAULTS);
  });

  it.each([
    ['latency=100ms', { latencyMs: 100 }],
    ['latency=100', { latencyMs: 100 }],
    ['jitter=2s', { jitterMs: 2000 }],
    ['500=0.1', { error500: 0.1 }],
    ['503=10%', { error503: 0.1 }],
    ['503=100%', { error503: 1 }],
    ['outage-from=1m', { outageFromMs: 60_000 }],
    ['per-second=50', { perSecond: 50 }],
    ['retry-after=3', { retryAfterSeconds: 3 }],
    ['usage-headers=off', { hidesUsage: true }],
    ['dialect=coded', { dialect: 'coded' }],
  ])('%s', (text, part) => {
    expect(parseFaults([text])).toEqual({ ...NO_FAULTS, ...part });
  });

  it('the last word on a fault counts', () => {
    expect(parseFaults(['drop=1', 'drop=0.5']).drop).toBe(0.5);
  });

  it('everything that is wrong is listed at once, with the form it should have', () => {
    const wrong = ['503=2', 'latency=soon', 'colour=red', 'reset', 'constructor=1'];
    expect(() => parseFaults(wrong)).toThrow(NeverStartError);
    for (const text of wrong) expect(() => parseFaults(wrong)).toThrow(text);
    expect(() => parseFaults(wrong)).toThrow(FAULT_KEYS.latency?.form);
  });
});
