/** Which files a watcher begins, in which order and when. */
import { describe, expect, it } from 'vitest';
import type { SeenFile } from '../../src/jobs/inbox-file.js';
import { inTurn, inTurnAfterDeath, mayBegin, nextAt } from '../../src/jobs/inbox-scheduler.js';
import { CRASHED } from '../../src/jobs/inbox-verdict.js';
import type { Job } from '../../src/jobs/job-folder.js';

type Places = Parameters<typeof nextAt>[0];

const NOW = 1_000;
const LARGE = 100_001;

/** Places of a watcher of which so many are taken. */
function places(taken: number, filesAtOnce: number, changes: Partial<Places> = {}): Places {
  const running = new Set(Array.from({ length: taken }, () => Promise.resolve()));
  return { filesAtOnce, running, due: [], ready: [], slow: new Set(), holdUntil: 0, ...changes };
}

const seen = (size: number, ino = 1): SeenFile => ({
  name: `${size}.csv`,
  size,
  ino,
  mtimeMs: NOW,
  kind: 'file',
});

function jobOf(file: string, deaths?: number): Job {
  const record = { id: `j-${file}`, run: null, file, reason: null, parked: null, deaths };
  return { folder: `/own/${file}`, file, path: `/own/${file}/${file}`, record };
}

const dueAt = (at: number, isLong = false) => ({ job: jobOf('a.csv'), tries: 0, end: null, at, isLong });

it.each([
  ['a large file has a place where two are free', places(1, 3), LARGE, true],
  ['a large file leaves the last place free', places(2, 3), LARGE, false],
  ['a small file has the last place', places(2, 3), LARGE - 1, true],
  ['one that may take long leaves it free all the same', places(2, 3, { slow: new Set([1]) }), 9, false],
  ['one that may take long has another place', places(1, 3, { slow: new Set([1]) }), 9, true],
  ['a large file has the only place', places(0, 1), LARGE, true],
])('%s', (_, free, size, expected) => {
  expect(mayBegin(free, seen(size))).toBe(expected);
});

it.each([
  ['in the order in which they were complete', places(1, 3), [500, LARGE, 9]],
  ['in the last place the smallest first, without large ones', places(2, 3), [9, 500]],
])('files of the inbox begin %s', (_, free, expected) => {
  const ready = [seen(500, 2), seen(LARGE, 3), seen(9, 4)];
  expect(inTurn({ ...free, ready }).map(({ size }) => size)).toEqual(expected);
});

describe('a watcher looks again', () => {
  it.each([
    ['when something has changed', places(0, 3), null],
    ['when the first job is due', places(0, 3, { due: [dueAt(1_700), dueAt(1_200)] }), 1_200],
    ['when a hold ends, whatever is due', places(0, 3, { due: [dueAt(900)], holdUntil: 1_500 }), 1_500],
    ['not after a hold that has ended', places(0, 3, { holdUntil: NOW }), null],
    ['not for a job without a place', places(3, 3, { due: [dueAt(1_200)] }), null],
    ['not for a long job in the last place', places(2, 3, { due: [dueAt(1_200, true)] }), null],
    ['for a long job in the only place', places(0, 1, { due: [dueAt(1_200, true)] }), 1_200],
  ])('%s', (_, free, expected) => {
    expect(nextAt(free, NOW)).toBe(expected);
  });
});

it('jobs of dead watchers go on in the order of their deaths; after three a person decides', () => {
  const jobs = [jobOf('c.csv', 3), jobOf('b.csv', 2), jobOf('a.csv'), jobOf('d.csv', 0)];
  const ends = inTurnAfterDeath(jobs).map(({ job, end }) => [job.file, end]);
  expect(ends).toEqual([
    ['a.csv', null],
    ['d.csv', null],
    ['b.csv', null],
    ['c.csv', CRASHED],
  ]);
});
