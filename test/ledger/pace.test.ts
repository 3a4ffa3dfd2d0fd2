/**
 * The pace as arithmetic: slower after a refusal, faster after a while without.
 */
import { describe, expect, test } from 'vitest';
import type { PaceState } from '../../src/ledger/ledger.js';
import { openingPace, type RefusedRate, slowDown, speedUp } from '../../src/ledger/pace.js';

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
    ['without a pace what was accepted is all that is known', { rate: null, acceptedLastSecond: 50 }, 0, 45],
    ['without a pace and next to nothing accepted it says nothing: ten a second', { rate: null }, 0, 10],
    ['with four accepted too', { rate: null, acceptedThisSecond: 3 }, 1, 10],
    ['five accepted are a measure', { rate: null, acceptedThisSecond: 4 }, 1, 4.5],
    ['it never stands still', { rate: 0.2 }, 0, 0.2],
  ])('%s', (_what, state, accepted, rate) => {
    expect(slowDown(paced(state), null, accepted).rate).toBeCloseTo(rate, 10);
  });

  test('it names the version that was judged, takes the burst away, and waits for a second', () => {
    expect(slowDown(paced({}), null)).toMatchObject({ ifVersion: 7, burst: 1, floorMs: 1_000 });
  });

  test('a Retry-After is the wait', () => {
    expect(slowDown(paced({}), 30_000).floorMs).toBe(30_000);
  });
});

describe('without one', () => {
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

  test.each<[string, number, RefusedRate, number | null, number | null]>([
    ['a guess grows by a tenth', 20, 'guess', null, 22],
    ['an unmeasured rate fourfold', 10, 'unmeasured', null, 40],
    ['up to the ceiling', 10, 'unmeasured', 30, 30],
    ['a pace that holds nobody back is lifted', 640, 'unmeasured', null, null],
    ['unless the run has a ceiling', 640, 'unmeasured', 4_000, 2_560],
  ])('%s', (_what, rate, refused, ceiling, grown) => {
    expect(speedUp(paced({ rate }), 1_000, ceiling, refused)?.rate).toBe(grown);
  });

  test('however long it was quiet, an unmeasured rate takes one step', () => {
    expect(speedUp(paced({ rate: 10 }), 3_600_000, null, 'unmeasured')?.rate).toBe(40);
  });

  test('burst and version stay those that were judged, and nobody waits', () => {
    expect(speedUp(paced({}), 1_000, null)).toMatchObject({ ifVersion: 7, burst: 10, floorMs: 0 });
  });
});

describe('at the beginning', () => {
  test.each<[string, number | null, number | null, boolean, ReturnType<typeof openingPace>]>([
    ['remote, without a word', null, null, false, { rate: 90, burst: 10 }],
    ['remote, with a burst', null, 3, false, { rate: 90, burst: 3 }],
    ['loopback: what earlier refusals taught', null, null, true, { rate: undefined, burst: 1 }],
    ['--rate 98', 98, null, false, { rate: 98, burst: 1 }],
    ['--rate 98 --burst 5', 98, 5, true, { rate: 98, burst: 5 }],
    ['--rate 0 is unpaced', 0, null, false, { rate: null, burst: 1 }],
  ])('%s', (_what, rate, burst, isLoopback, pace) => {
    expect(openingPace(rate, burst, isLoopback)).toEqual(pace);
  });
});
