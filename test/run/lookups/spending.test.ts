/** What a run may cost before it spends: the complete estimate as tables. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sayPhrase } from '../../../src/core/phrase.js';
import type { LedgerState } from '../../../src/ledger/ledger.js';
import {
  chunksAhead,
  estimateSpending,
  foreignTerms,
  isMoreThan,
  requestsLeft,
  spendingQuestion,
  usesMostOfQuota,
} from '../../../src/run/lookups/spending.js';
import { runSettings } from '../../engine/contract/run-settings.js';
import { ledgerState, runSpending } from '../ledger-state.js';

interface Limits {
  readonly overage: number;
  readonly quotaCap: number | null;
  readonly maxRequests: number | null;
  readonly maxOverageRequests: number | null;
}

const FREE: Limits = { overage: 0, quotaCap: null, maxRequests: null, maxOverageRequests: null };

function estimate(requests: number, state: Partial<LedgerState>, limits: Partial<Limits> = {}) {
  const settings = { ...FREE, ...limits };
  return estimateSpending(requests, ledgerState(state), { settings, overagePrice: '0.1' });
}

describe('the estimate', () => {
  it.each<
    [string, number, Partial<LedgerState>, Partial<Limits>, [number | null, number, string, number | null]]
  >([
    ['a quota that covers it', 100, { quota: 250 }, {}, [100, 0, '0', 0]],
    ['a quota that covers a part', 1_000, { quota: 100 }, {}, [100, 0, '0', 900]],
    ['quota used in part', 100, { quota: 250, sent: 180, held: 10, others: 20 }, {}, [40, 0, '0', 60]],
    ['a quota that is used up', 100, { quota: 250, sent: 250 }, {}, [0, 0, '0', 100]],
    ['a quota that is overdrawn', 100, { quota: 250, sent: 300 }, {}, [0, 0, '0', 100]],
    ['quota unknown', 100, {}, {}, [null, 0, '0', null]],
    ['quota unknown, with overage', 100, {}, { overage: 30 }, [null, 30, '3', null]],
    ['--quota below the header', 100, { quota: 250 }, { quotaCap: 20 }, [20, 0, '0', 80]],
    ['--quota above the header', 100, { quota: 50 }, { quotaCap: 80 }, [50, 0, '0', 50]],
    ['--quota alone', 100, {}, { quotaCap: 80 }, [80, 0, '0', 20]],
    ['overage for the rest', 53, { quota: 50 }, { overage: 3 }, [50, 3, '0.3', 0]],
    ['overage for a part of the rest', 100, { quota: 50 }, { overage: 3 }, [50, 3, '0.3', 47]],
    ['overage that was used in part', 100, { quota: 50, sent: 52 }, { overage: 3 }, [0, 1, '0.1', 99]],
    ['overage that is used up', 100, { quota: 50, sent: 53 }, { overage: 3 }, [0, 0, '0', 100]],
    ['--max-requests', 100, { quota: 250 }, { maxRequests: 30 }, [30, 0, '0', 70]],
    ['--max-requests above it', 100, { quota: 20 }, { maxRequests: 30, overage: 50 }, [20, 10, '1', 70]],
    ['--max-requests above what is needed', 10, { quota: 250 }, { maxRequests: 30 }, [10, 0, '0', 0]],
    ['--max-cost', 100, { quota: 20 }, { overage: 1_000, maxOverageRequests: 5 }, [20, 5, '0.5', 75]],
    ['nothing to ask for', 0, { quota: 20 }, { overage: 5 }, [0, 0, '0', 0]],
  ])('with %s', (_what, requests, state, limits, [withinQuota, overageRequests, maxCost, deferred]) => {
    const expected = { requests, withinQuota, overageRequests, maxCost, deferred };
    expect(estimate(requests, state, limits)).toEqual(expected);
  });

  it('accounts for every request, and never plans beyond limit or caps', () => {
    const count = fc.integer({ min: 0, max: 300 });
    const maybe = fc.option(count);
    const limits = fc.record({
      overage: count,
      quotaCap: maybe,
      maxRequests: maybe,
      maxOverageRequests: maybe,
    });
    const state = fc.record({ quota: maybe, sent: count, held: count, others: count });
    fc.assert(
      fc.property(count, state, limits, (requests, numbers, caps) => {
        const plan = estimate(requests, numbers, caps);
        const spent = numbers.sent + numbers.held + numbers.others;
        const { withinQuota, overageRequests, deferred } = plan;
        expect(overageRequests).toBeLessThanOrEqual(caps.maxOverageRequests ?? 300);
        if (withinQuota === null || deferred === null) return;
        expect(withinQuota + overageRequests + deferred).toBe(requests);
        expect(Math.min(withinQuota, overageRequests, deferred)).toBeGreaterThanOrEqual(0);
        const quota = Math.min(numbers.quota ?? 1e9, caps.quotaCap ?? 1e9);
        if (withinQuota + overageRequests > 0) {
          expect(spent + withinQuota + overageRequests).toBeLessThanOrEqual(quota + caps.overage);
        }
        expect(withinQuota + overageRequests).toBeLessThanOrEqual(caps.maxRequests ?? 300);
      }),
      { numRuns: 500 },
    );
  });
});

it.each<[number, Partial<LedgerState>, number | null, boolean]>([
  [50, { quota: 100 }, 100, false],
  [51, { quota: 100 }, 100, true],
  [51, { quota: 200, sent: 60, held: 20, others: 20 }, 100, true],
  [51, { quota: 200, quotaCap: 100 }, 100, true],
  [51, { quotaCap: 100 }, 100, true],
  [500, {}, null, false],
  [5, { quota: 100, sent: 120 }, 0, false],
  [51, { quota: 100, run: runSpending({ maxRequests: 30 }) }, 100, false],
])('the quota left for %i requests at %j is %s, most of it used: %s', (requests, state, left, isMost) => {
  const request = {
    runSettings: runSettings({ maxRequests: state.run?.maxRequests ?? null }),
    settings: { overagePrice: '0.1' },
  };
  const question = spendingQuestion(requests, ledgerState(state), request);
  expect([question.quotaLeft, usesMostOfQuota(question)]).toEqual([left, isMost]);
});

it.each<[string, string, boolean]>([
  ['20', '20', false],
  ['20.1', '20', true],
  ['0.3', '0.30', false],
  ['0.300001', '0.3', true],
  ['100', '20', true],
  ['9', '20', false],
])('amounts: %s is more than %s: %s', (amount, other, expected) => {
  expect(isMoreThan(amount, other)).toBe(expected);
});

const THREE_OF_FIVE = { maxOverageRequests: 5, overageRequests: 3 };
it.each([
  { state: {}, left: null },
  { state: { quota: 100, sent: 20, held: 5, others: 10 }, left: 65 },
  { state: { quota: 100, quotaCap: 40, sent: 30 }, left: 10 },
  { state: { quota: 100, sent: 120, overage: 50 }, left: 30 },
  { state: { quota: 100, sent: 90, overage: 50, run: runSpending({ maxOverageRequests: 5 }) }, left: 15 },
  { state: { quota: 100, sent: 103, overage: 50, run: runSpending(THREE_OF_FIVE) }, left: 2 },
  { state: { quota: 100, run: runSpending({ maxRequests: 30, requests: 12 }) }, left: 18 },
  { state: { quota: 100, run: runSpending({ maxRequests: 30, requests: 31 }) }, left: 0 },
  { state: { run: runSpending({ maxRequests: 30 }) }, left: null },
])('a run may still send its rest: $state leaves $left', ({ state, left }) => {
  expect(requestsLeft(ledgerState(state))).toBe(left);
});

it.each([
  [null, 1],
  [99, 1],
  [100, 2],
  [149, 2],
  [1_000_000, 20_000],
])('the number of chunks queued ahead: with %j left: %j', (quota, chunks) => {
  expect(chunksAhead(ledgerState({ quota }))).toBe(chunks);
});

describe('limits of other runs of the account', () => {
  it.each([
    { overage: 0, quotaCap: null },
    { overage: 30, quotaCap: 100 },
    { overage: 0, quotaCap: 100 },
  ])('%j are not mentioned to a run with the same', (terms) => {
    expect(foreignTerms(terms, { ...terms })).toBeNull();
  });

  it('are mentioned if they are lower, with their end', () => {
    const notice = foreignTerms({ overage: 3, quotaCap: 100 }, { overage: 30, quotaCap: null }) ?? '';
    expect(sayPhrase(notice, 'keys')).toBe(
      'another run of this account has quota 100 and a budget of 3 overage requests: the lower limit applies until that run has ended, or 30 s after it dies',
    );
  });
});
