/** When a stored answer is still good: the whole rule as tables, each boundary on both sides. */
import { describe, expect, it } from 'vitest';
import type { Freshness } from '../../src/core/outcome.js';
import { COME_BACK_FRESH_MS, isFresh, KEEP_ANSWERS_MS } from '../../src/stores/freshness.js';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 5, 15, 12);
const RUN: Freshness = { asOf: NOW, maxAgeMs: 7 * DAY, maxAgeMissingMs: DAY, notBefore: 0 };

type Status = 'matched' | 'not_found';

describe('by age', () => {
  it.each<[string, Status, number, boolean]>([
    ['a brand fetched this moment', 'matched', NOW, true],
    ['a brand of six days', 'matched', NOW - 6 * DAY, true],
    ['a brand of exactly seven days', 'matched', NOW - 7 * DAY, true],
    ['a brand a millisecond older', 'matched', NOW - 7 * DAY - 1, false],
    ['nothing found this moment', 'not_found', NOW, true],
    ['nothing found exactly a day ago', 'not_found', NOW - DAY, true],
    ['nothing found a millisecond more than a day ago', 'not_found', NOW - DAY - 1, false],
    ['nothing found six days ago', 'not_found', NOW - 6 * DAY, false],
    ['a brand fetched after the run began', 'matched', NOW + 5 * DAY, true],
  ])('%s', (_what, status, fetchedAt, fresh) => {
    expect(isFresh({ status, fetchedAt, freshUntil: null }, RUN)).toBe(fresh);
  });

  it('an age of zero leaves only what was fetched since the run began', () => {
    const none = { ...RUN, maxAgeMs: 0, maxAgeMissingMs: 0 };
    expect(isFresh({ status: 'matched', fetchedAt: NOW, freshUntil: null }, none)).toBe(true);
    expect(isFresh({ status: 'matched', fetchedAt: NOW - 1, freshUntil: null }, none)).toBe(false);
    expect(isFresh({ status: 'not_found', fetchedAt: NOW - 1, freshUntil: null }, none)).toBe(false);
  });
});

describe('with --refresh', () => {
  const refresh = { ...RUN, notBefore: NOW - 3_600_000 };

  it.each<[string, Status, number, boolean]>([
    ['older than the first start of the run key: asked again', 'matched', NOW - 3_600_001, false],
    ['bought since then, before a crash: not bought again', 'matched', NOW - 3_600_000, true],
    ['not found since then: not asked again', 'not_found', NOW - 1, true],
    ['not found before: asked again', 'not_found', NOW - 3_600_001, false],
  ])('%s', (_what, status, fetchedAt, fresh) => {
    expect(isFresh({ status, fetchedAt, freshUntil: null }, refresh)).toBe(fresh);
  });

  it('age rules hold all the same', () => {
    const long = { ...RUN, notBefore: NOW - 30 * DAY };
    expect(isFresh({ status: 'matched', fetchedAt: NOW - 8 * DAY, freshUntil: null }, long)).toBe(false);
  });
});

describe('with a "come back later" answer', () => {
  const fetchedAt = NOW - 60_000;

  it.each<[string, number | null, boolean]>([
    ['no such limit', null, true],
    ['a millisecond left when the run begins', NOW + 1, true],
    ['over in the moment the run begins', NOW, false],
    ['over before', NOW - 1, false],
  ])('%s', (_what, freshUntil, fresh) => {
    expect(isFresh({ status: 'not_found', fetchedAt, freshUntil }, RUN)).toBe(fresh);
  });

  it('never makes an old answer fresh', () => {
    const old = { status: 'not_found', fetchedAt: NOW - 2 * DAY, freshUntil: NOW + DAY } as const;
    expect(isFresh(old, RUN)).toBe(false);
  });

  it('is believed for two minutes', () => {
    expect(COME_BACK_FRESH_MS).toBe(2 * 60_000);
  });
});

it('answers are kept for thirty days at most', () => {
  expect(KEEP_ANSWERS_MS).toBe(30 * DAY);
});
