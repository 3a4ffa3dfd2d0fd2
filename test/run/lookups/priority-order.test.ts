/** How far ahead of what is settled a run with priorities may hand out chunks. */
import { describe, expect, it } from 'vitest';
import { chunksAhead, requestsLeft } from '../../../src/run/lookups/priority-order.js';
import { ledgerState, runSpending } from '../ledger-state.js';

describe('what a run may still send', () => {
  it.each([
    { state: {}, left: null },
    { state: { quota: 100 }, left: 100 },
    { state: { quota: 100, sent: 20, held: 5, others: 10 }, left: 65 },
    { state: { quota: 100, quotaCap: 40, sent: 30 }, left: 10 },
    { state: { quotaCap: 40 }, left: 40 },
    { state: { quota: 100, sent: 120 }, left: 0 },
    { state: { quota: 100, sent: 90, overage: 50 }, left: 60 },
    { state: { quota: 100, sent: 120, overage: 50 }, left: 30 },
    { state: { quota: 100, sent: 90, overage: 50, run: runSpending({ maxOverageRequests: 5 }) }, left: 15 },
    {
      state: {
        quota: 100,
        sent: 103,
        overage: 50,
        run: runSpending({ maxOverageRequests: 5, overageRequests: 3 }),
      },
      left: 2,
    },
    { state: { quota: 100, run: runSpending({ maxRequests: 30, requests: 12 }) }, left: 18 },
    { state: { quota: 100, run: runSpending({ maxRequests: 30, requests: 31 }) }, left: 0 },
    { state: { run: runSpending({ maxRequests: 30 }) }, left: null },
  ])('$state leaves $left', ({ state, left }) => {
    expect(requestsLeft(ledgerState(state))).toBe(left);
  });
});

describe('chunks ahead', () => {
  it.each([
    [null, 1],
    [0, 1],
    [49, 1],
    [50, 1],
    [100, 2],
    [149, 2],
    [1_000_000, 20_000],
  ])('with %j left: %j', (quota, chunks) => {
    expect(chunksAhead(ledgerState({ quota }))).toBe(chunks);
  });
});
