import { expect, test } from 'vitest';
import type { PaceState } from '../../src/quota/ledger.js';
import { createPaceWatch } from '../../src/quota/pace-watch.js';

function paceOf(rate: number | null, accepted: { last?: number; this?: number } = {}): PaceState {
  return {
    version: 1,
    rate,
    burst: 1,
    floorMs: 0,
    acceptedLastSecond: accepted.last ?? 0,
    acceptedThisSecond: accepted.this ?? 0,
  };
}

const REFUSAL = { retryAfterMs: null };

/** A watch that has seen the unpaced ledger refused once, and the rate that it guessed from `answered` answers. */
function refusedOnce(answered: number) {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.refused(100);
  const guess = watch.propose(paceOf(null), REFUSAL, answered, null, 100)?.rate ?? 0;
  watch.learn(paceOf(guess), 100);
  return { watch, guess };
}

test('answers that were under way at the first refusal raise the pace to what they prove', () => {
  const { watch, guess } = refusedOnce(2);
  expect(guess).toBeCloseTo(1.8);
  expect(watch.propose(paceOf(guess, { this: 8 }), null, 42, null, 200)?.rate).toBeCloseTo(45);
});

test('what they prove raises the pace no further than the run allows', () => {
  const { watch, guess } = refusedOnce(2);
  expect(watch.propose(paceOf(guess, { this: 50 }), null, 1, 30, 200)?.rate).toBe(30);
});

test('a guessed pace grows by a tenth a second; a refused one so up to nine tenths of itself, then by a two-hundredth', () => {
  const { watch } = refusedOnce(20);
  expect(watch.propose(paceOf(20), null, 1, null, 5_100)?.rate).toBeCloseTo(30);
  watch.learn(paceOf(30), 5_100);
  watch.refused(7_000);
  expect(watch.propose(paceOf(30, { last: 20 }), REFUSAL, 0, null, 7_000)?.rate).toBeCloseTo(18);
  watch.learn(paceOf(18), 7_000);
  expect(watch.propose(paceOf(18), null, 1, null, 9_000)?.rate).toBeCloseTo(21.6);
  expect(watch.propose(paceOf(26), null, 1, null, 11_000)?.rate).toBeCloseTo(27);
  expect(watch.propose(paceOf(27), null, 1, null, 13_000)?.rate).toBeCloseTo(27.27);
});

test('answers long after a refusal prove nothing beyond the pace', () => {
  const { watch } = refusedOnce(20);
  expect(watch.propose(paceOf(18, { last: 60 }), null, 1, null, 3_200)?.rate).toBeLessThan(30);
});
