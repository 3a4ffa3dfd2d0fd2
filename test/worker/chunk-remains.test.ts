import { describe, expect, it } from 'vitest';
import type { ChunkData } from '../../src/engine/engine.js';
import type { Asked } from '../../src/worker/asked.js';
import { dueInMs, failuresOf, whatIsLeft } from '../../src/worker/resolve-chunk.js';

const NOW = 1_000_000;
const IDENTIFIERS = ['domain:a', 'domain:b', 'domain:c'];
const DATA: ChunkData = { run: 'run', chunk: 3, identifiers: IDENTIFIERS, attempts: {} };

const asked = (result: Asked['result']): Asked => ({ result, requests: 0, billed: 0 });

function again(retryInMs: number, countsAsAttempt: boolean): Asked {
  const failedAttempt = countsAsAttempt ? 'the service answered 503' : null;
  return asked({ type: 'again', retryInMs, failedAttempt });
}

/** What the first identifiers of the chunk came to, in their order. */
const round = (...all: Asked[]) => all.map((each, at): [string, Asked] => [IDENTIFIERS[at] ?? '', each]);

const MATCHED = asked({ type: 'matched' });

describe('the rest of a chunk', () => {
  it('is empty when everything has ended', () => {
    const failed = asked({ type: 'failed', reason: { code: 'damaged' }, billed: true });
    const ends = round(MATCHED, asked({ type: 'not_found' }), failed);
    expect(whatIsLeft(DATA, ends, NOW)).toBeNull();
  });

  it('is due as soon as its first identifier is, each at its own time', () => {
    const left = whatIsLeft(DATA, round(again(90_000, true), MATCHED, again(400, false)), NOW);
    const due = { 'domain:a': NOW + 90_000, 'domain:c': NOW + 400 };
    const rest = { identifiers: ['domain:a', 'domain:c'], attempts: { 'domain:a': 1 } };
    expect(left).toEqual({ data: { ...DATA, ...rest, due, parkedAt: NOW }, waitMs: 400 });
  });

  it('has no due time when it is retried at once', () => {
    const left = whatIsLeft(DATA, round(again(0, false)), NOW);
    expect(left).toEqual({ data: { ...DATA, identifiers: ['domain:a'] }, waitMs: 0 });
  });

  it('keeps the attempts of identifiers rejected without one, and forgets those of the others', () => {
    const data = { ...DATA, attempts: { 'domain:a': 2, 'domain:b': 1 } };
    const left = whatIsLeft(data, round(again(1_000, false), MATCHED), NOW);
    expect(left).toMatchObject({ data: { attempts: { 'domain:a': 2 } }, waitMs: 1_000 });
  });
});

const HOUR = 3_600_000;
const parked = { due: { 'domain:a.com': NOW + 60_000 }, parkedAt: NOW };

it.each<[string, Parameters<typeof dueInMs>[0], number, number]>([
  ['without a time of its own is due', {}, NOW, 0],
  ['is due at its time', parked, NOW + 20_000, 40_000],
  ['whose time has passed is due', parked, NOW + HOUR, 60_000 - HOUR],
  ['waits no longer than was asked for when the clock is set back by an hour', parked, NOW - HOUR, 60_000],
  ['waits no longer when it is set back by three days', parked, NOW - 72 * HOUR, 60_000],
  ['parked without a time waits at most the longest wait', { due: parked.due }, NOW - HOUR, 900_000],
])('an identifier: %s', (_, chunk, now, expected) => {
  expect(dueInMs(chunk, 'domain:a.com', now)).toBe(expected);
});

describe('the failed identifiers', () => {
  it('are those refused permanently, and those asked for often enough', () => {
    const data = { ...DATA, attempts: { 'domain:b': 5, 'domain:c': 4 } };
    const gone = { reason: { code: 'answer', text: 'the service answered 410' }, billed: true } as const;
    const tried = { code: 'answer', text: 'the service answered 503; tried 6 times' };
    const rounds = round(asked({ type: 'failed', ...gone }), again(0, true), again(0, true));
    expect(failuresOf(data, rounds, (text) => `k:${text}`)).toEqual([
      { key: 'k:domain:a', ...gone },
      { key: 'k:domain:b', reason: tried, billed: false },
    ]);
    expect(whatIsLeft(data, rounds, NOW)?.data.identifiers).toEqual(['domain:c']);
  });

  it('never include those rejected without an attempt, however often', () => {
    const data = { ...DATA, attempts: { 'domain:a': 5 } };
    expect(failuresOf(data, round(again(0, false)), (text) => `k:${text}`)).toEqual([]);
  });
});
