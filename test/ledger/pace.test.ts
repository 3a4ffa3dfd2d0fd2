import { describe, expect, test } from 'vitest';
import type { PaceState } from '../../src/ledger/ledger.js';
import { createPaceWatch, openingPace, type RefusedRate, slowDown, speedUp } from '../../src/ledger/pace.js';

function paced(some: Partial<PaceState>): PaceState {
  return {
    version: 7,
    rate: 100,
    burst: 10,
    floorMs: 0,
    acceptedLastSecond: 0,
    acceptedThisSecond: 0,
    ...some,
  };
}

describe('after a refusal', () => {
  test.each<[string, Partial<PaceState>, number, number]>([
    ['nine tenths of what was accepted in the last second', { acceptedLastSecond: 80 }, 0, 72],
    ['or in this one', { acceptedLastSecond: 60, acceptedThisSecond: 80 }, 0, 72],
    ['or beside the refusal', { acceptedThisSecond: 30 }, 50, 72],
    ['never more than nine tenths of the rate', { acceptedLastSecond: 500 }, 0, 90],
    ['never less than nine tenths of half of it', { acceptedLastSecond: 3 }, 0, 45],
    ['without a pace the accepted number is all we know', { rate: null, acceptedLastSecond: 50 }, 0, 45],
    ['without a pace and next to nothing accepted: ten a second', { rate: null }, 0, 10],
    ['with four accepted too', { rate: null, acceptedThisSecond: 3 }, 1, 10],
    ['five accepted are a measurement', { rate: null, acceptedThisSecond: 4 }, 1, 4.5],
    ['it never stands still', { rate: 0.2 }, 0, 0.2],
  ])('%s', (_what, state, accepted, rate) => {
    expect(slowDown(paced(state), null, accepted).rate).toBeCloseTo(rate, 10);
  });

  test('names the version that was judged, removes the burst, and waits for a second or Retry-After', () => {
    expect(slowDown(paced({}), null)).toMatchObject({ ifVersion: 7, burst: 1, floorMs: 1_000 });
    expect(slowDown(paced({}), 30_000).floorMs).toBe(30_000);
  });
});

describe('without a refusal', () => {
  test.each<[string, Partial<PaceState>, number, number | null, number | null]>([
    ['half a percent a second', {}, 1_000, null, 100.5],
    ['for each second', {}, 4_000, null, 102],
    ['five at most: a longer quiet is idleness', {}, 3_600_000, null, 102.5],
    ['a slow pace grows by a twentieth a second', { rate: 1 }, 1_000, null, 1.05],
    ['up to the ceiling', {}, 4_000, 101, 101],
    ['not at the ceiling', {}, 4_000, 100, null],
    ['not beyond it', {}, 4_000, 50, null],
    ['not within a second', {}, 999, null, null],
    ['not without a pace', { rate: null }, 4_000, null, null],
  ])('%s', (_what, state, quietMs, ceiling, rate) => {
    expect(speedUp(paced(state), quietMs, ceiling)?.rate ?? null).toBe(rate);
  });

  test.each<[string, number, RefusedRate, number | null, number | null, quietMs?: number]>([
    ['a guess grows by a tenth', 20, 'guess', null, 22],
    ['an unmeasured rate fourfold', 10, 'unmeasured', null, 40],
    ['up to the ceiling', 10, 'unmeasured', 30, 30],
    ['a pace that slows nothing down is lifted', 640, 'unmeasured', null, null],
    ['unless the run has a ceiling', 640, 'unmeasured', 4_000, 2_560],
    ['an unmeasured rate takes one step after any quiet time', 10, 'unmeasured', null, 40, 3_600_000],
  ])('%s', (_what, rate, refused, ceiling, grown, quietMs = 1_000) => {
    expect(speedUp(paced({ rate }), quietMs, ceiling, refused)?.rate).toBe(grown);
  });

  test('burst and version stay those that were judged, and nothing waits', () => {
    expect(speedUp(paced({}), 1_000, null)).toMatchObject({ ifVersion: 7, burst: 10, floorMs: 0 });
  });
});

test.each<[string, number | null, boolean, ReturnType<typeof openingPace>]>([
  ['remote, without a setting', null, false, { rate: 90, burst: 10 }],
  ['loopback: what earlier refusals taught', null, true, { rate: undefined, burst: 1 }],
  ['--rate 98', 98, false, { rate: 98, burst: 1 }],
  ['--rate 0 is unpaced', 0, false, { rate: null, burst: 1 }],
])('at the beginning: %s', (_what, rate, isLoopback, pace) => {
  expect(openingPace(rate, isLoopback)).toEqual(pace);
});

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

/** A watcher whose unpaced ledger was refused once, and the rate it guessed from `answered`. */
function refusedOnce(answered: number) {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.refused(100);
  const guess = watch.propose(paceOf(null), REFUSAL, answered, null, 100)?.rate ?? 0;
  watch.learn(paceOf(guess, { this: answered }), 100);
  return { watch, guess };
}

test('answers in flight at the first refusal raise the pace to what they prove', () => {
  const { watch, guess } = refusedOnce(8);
  expect(guess).toBeCloseTo(7.2);
  expect(watch.propose(paceOf(guess, { this: 8 }), null, 42, null, 200)?.rate).toBeCloseTo(45);
});

test('such answers raise the pace no further than the run allows', () => {
  const { watch, guess } = refusedOnce(2);
  expect(watch.propose(paceOf(guess, { this: 50 }), null, 1, 30, 200)?.rate).toBe(30);
});

test('a guessed pace grows by 10 % a second; a refused one does up to 90 % of it, then by 0.5 %', () => {
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

test('a first refusal before any acceptance leads to large steps, until something is accepted beside it', () => {
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

test('answers of the burst that arrive after its first refusal turn an unmeasured rate into a guess', () => {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.refused(0);
  watch.learn(paceOf(10), 0);
  expect(watch.propose(paceOf(10), null, 50, null, 100)?.rate).toBeCloseTo(45);
  watch.learn(paceOf(45, { this: 50 }), 100);
  expect(watch.propose(paceOf(45), null, 1, null, 1_100)?.rate).toBeCloseTo(49.95, 0);
});

test('a refusal without an accepted request beside it says nothing of the rate', () => {
  const watch = createPaceWatch(0);
  watch.learn(paceOf(null), 0);
  watch.learn(paceOf(10), 0);
  watch.refused(2_500);
  watch.learn(paceOf(4.5), 2_500);
  expect(watch.propose(paceOf(4.5), null, 1, null, 3_500)?.rate).toBe(18);
});

test('a low pace left by earlier runs may be an unmeasured one; a high one is a guess', () => {
  const low = createPaceWatch(0);
  low.learn(paceOf(9), 0);
  expect(low.propose(paceOf(9), null, 1, null, 1_000)?.rate).toBe(36);
  const high = createPaceWatch(0);
  high.learn(paceOf(45), 0);
  expect(high.propose(paceOf(45), null, 1, null, 1_000)?.rate).toBeCloseTo(49.5);
});
