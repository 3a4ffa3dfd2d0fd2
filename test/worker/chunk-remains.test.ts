/** What is left of a chunk after a round: tables of failures, attempts and times. */
import { describe, expect, it } from 'vitest';
import type { ChunkData } from '../../src/engine/engine.js';
import type { Asked } from '../../src/worker/asked.js';
import { dueInMs, failuresOf, whatIsLeft } from '../../src/worker/resolve-chunk.js';

const NOW = 1_000_000;
const DATA: ChunkData = {
  run: 'run',
  chunk: 3,
  identifiers: ['domain:a', 'domain:b', 'domain:c'],
  attempts: {},
};

function asked(result: Asked['result']): Asked {
  return { result, requests: 0, billed: 0 };
}

function again(retryInMs: number, countsAsAttempt: boolean): Asked {
  return asked({
    type: 'again',
    retryInMs,
    failedAttempt: countsAsAttempt ? 'the service answered 503' : null,
  });
}

const MATCHED = asked({ type: 'matched' });

describe('the rest of a chunk', () => {
  it('is empty when everything has ended', () => {
    const failed = asked({ type: 'failed', reason: { code: 'damaged' }, billed: true });
    const ends: [string, Asked][] = [
      ['domain:a', MATCHED],
      ['domain:b', asked({ type: 'not_found' })],
      ['domain:c', failed],
    ];
    expect(whatIsLeft(DATA, ends, NOW)).toBeNull();
  });

  it('is due as soon as its first identifier is, each at its own time', () => {
    const left = whatIsLeft(
      DATA,
      [
        ['domain:a', again(90_000, true)],
        ['domain:b', MATCHED],
        ['domain:c', again(400, false)],
      ],
      NOW,
    );
    expect(left).toEqual({
      data: {
        run: 'run',
        chunk: 3,
        identifiers: ['domain:a', 'domain:c'],
        attempts: { 'domain:a': 1 },
        due: { 'domain:a': NOW + 90_000, 'domain:c': NOW + 400 },
        parkedAt: NOW,
      },
      waitMs: 400,
    });
  });

  it('has no time of its own when it is retried at once', () => {
    const left = whatIsLeft(DATA, [['domain:a', again(0, false)]], NOW);
    expect(left).toEqual({
      data: { run: 'run', chunk: 3, identifiers: ['domain:a'], attempts: {} },
      waitMs: 0,
    });
  });

  it('keeps the attempts of identifiers rejected without one, and forgets those of the others', () => {
    const data = { ...DATA, attempts: { 'domain:a': 2, 'domain:b': 1 } };
    const left = whatIsLeft(
      data,
      [
        ['domain:a', again(1_000, false)],
        ['domain:b', MATCHED],
      ],
      NOW,
    );
    expect(left).toMatchObject({ data: { attempts: { 'domain:a': 2 } }, waitMs: 1_000 });
  });
});

describe('an identifier', () => {
  const HOUR = 3_600_000;
  const parked = { due: { 'domain:a.com': NOW + 60_000 }, parkedAt: NOW };

  it.each<[string, Parameters<typeof dueInMs>[0], number, number]>([
    ['without a time of its own is due', {}, NOW, 0],
    ['is due at its time', parked, NOW + 20_000, 40_000],
    ['whose time has passed is due', parked, NOW + HOUR, 60_000 - HOUR],
    ['waits no longer than was asked for when the clock is set back by an hour', parked, NOW - HOUR, 60_000],
    ['waits no longer when it is set back by three days', parked, NOW - 72 * HOUR, 60_000],
    [
      'parked by an earlier version waits no longer than the longest possible wait',
      { due: parked.due },
      NOW - HOUR,
      900_000,
    ],
  ])('%s', (_, chunk, now, expected) => {
    expect(dueInMs(chunk, 'domain:a.com', now)).toBe(expected);
  });
});

describe('the failed identifiers', () => {
  it('are those refused permanently, and those asked for often enough', () => {
    const data = { ...DATA, attempts: { 'domain:b': 5, 'domain:c': 4 } };
    const rounds: [string, Asked][] = [
      [
        'domain:a',
        asked({ type: 'failed', reason: { code: 'answer', text: 'the service answered 410' }, billed: true }),
      ],
      ['domain:b', again(0, true)],
      ['domain:c', again(0, true)],
    ];
    expect(failuresOf(data, rounds, (text) => `k:${text}`)).toEqual([
      { key: 'k:domain:a', reason: { code: 'answer', text: 'the service answered 410' }, billed: true },
      {
        key: 'k:domain:b',
        reason: { code: 'answer', text: 'the service answered 503; tried 6 times' },
        billed: false,
      },
    ]);
    expect(whatIsLeft(data, rounds, NOW)?.data.identifiers).toEqual(['domain:c']);
  });

  it('never include those rejected without an attempt, however often', () => {
    const data = { ...DATA, attempts: { 'domain:a': 5 } };
    expect(failuresOf(data, [['domain:a', again(0, false)]], (text) => `k:${text}`)).toEqual([]);
  });
});
