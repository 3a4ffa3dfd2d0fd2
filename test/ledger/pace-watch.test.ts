import { expect, test } from 'vitest';
import type { PaceState } from '../../src/ledger/ledger.js';
import { createPaceWatch } from '../../src/ledger/pace.js';

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
  watch.learn(paceOf(guess, { this: answered }), 100);
  return { watch, guess };
}

test('answers that were under way at the first refusal raise the pace to what they prove', () => {
  const { watch, guess } = refusedOnce(8);
  expect(guess).toBeCloseTo(7.2);
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

test('a first refusal before anything was accepted is tried out in large steps, until something beside it is accepted', () => {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.refused(0);
  expect(watch.propose(paceOf(null), REFUSAL, 0, null, 0)?.rate).toBe(10);
  watch.learn(paceOf(10), 0);
  expect(watch.propose(paceOf(10), null, 1, null, 1_000)?.rate).toBe(40);
  watch.learn(paceOf(40), 1_000);
  watch.refused(2_500);
  expect(watch.propose(paceOf(40, { last: 25 }), REFUSAL, 0, null, 2_500)?.rate).toBeCloseTo(22.5);
  watch.learn(paceOf(22.5, { last: 25 }), 2_500);
  expect(watch.propose(paceOf(22.5), null, 1, null, 3_500)?.rate).toBeCloseTo(24.75);
  expect(watch.propose(paceOf(36), null, 1, null, 6_000)?.rate).toBeCloseTo(36.45);
});

test('answers of the burst that come after its first refusal make a guess of an unmeasured rate', () => {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.refused(0);
  watch.learn(paceOf(10), 0);
  expect(watch.propose(paceOf(10), null, 50, null, 100)?.rate).toBeCloseTo(45);
  watch.learn(paceOf(45, { this: 50 }), 100);
  expect(watch.propose(paceOf(45), null, 1, null, 1_100)?.rate).toBeCloseTo(49.95, 0);
});

test('a refusal beside which nothing is accepted is no matter of the rate', () => {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.learn(paceOf(10), 0);
  watch.refused(2_500);
  watch.learn(paceOf(4.5), 2_500);
  expect(watch.propose(paceOf(4.5), null, 1, null, 3_500)?.rate).toBe(18);
});

test('a low pace that was left behind may be an unmeasured one; a high one is a guess', () => {
  const low = createPaceWatch(0);
  low.learn(paceOf(9), 0);
  expect(low.propose(paceOf(9), null, 1, null, 1_000)?.rate).toBe(36);
  const high = createPaceWatch(0);
  high.learn(paceOf(45), 0);
  expect(high.propose(paceOf(45), null, 1, null, 1_000)?.rate).toBeCloseTo(49.5);
});
