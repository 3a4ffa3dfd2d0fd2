import { expect, it } from 'vitest';
import { parkMs, quickRetryMs } from '../../src/worker/retry-policy.js';

it.each<[number, number | null, number, number | null]>([
  [1, null, 0, 100],
  [1, null, 1, 150],
  [2, null, 0, 500],
  [2, null, 0.5, 625],
  [3, null, 0, null],
  [7, null, 0, null],
  [1, 0, 0, 100],
  [1, 1_500, 0, 1_500],
  [1, 1_501, 0, null],
  [2, 200, 0, 500],
  [2, 900_000, 0, null],
])(
  'the next quick retry: after %i requests, Retry-After %s, chance %f: %s ms',
  (tries, retryAfterMs, random, waitMs) => {
    expect(quickRetryMs(tries, retryAfterMs, random)).toBe(waitMs);
  },
);

it.each<[number, number | null, number | null]>([
  [1, null, 2_000],
  [2, null, 5_000],
  [3, null, 15_000],
  [4, null, 30_000],
  [5, null, 60_000],
  [6, null, null],
  [1, 1_000, 2_000],
  [1, 90_000, 90_000],
  [6, 90_000, null],
])('parking: after %i rounds, Retry-After %s: %s ms', (attempts, retryAfterMs, waitMs) => {
  expect(parkMs(attempts, retryAfterMs)).toBe(waitMs);
});
