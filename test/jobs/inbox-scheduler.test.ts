/** Which files a watcher begins, in which order and when. */
import { expect, it } from 'vitest';
import type { SeenFile } from '../../src/jobs/inbox-file.js';
import { inTurn, mayBegin } from '../../src/jobs/inbox-scheduler.js';

type Places = Parameters<typeof inTurn>[0];

const NOW = 1_000;
const LARGE = 100_001;

/** Places of a watcher of which so many are taken. */
function places(taken: number, filesAtOnce: number, changes: Partial<Places> = {}): Places {
  const running = new Set(Array.from({ length: taken }, () => Promise.resolve()));
  return { filesAtOnce, running, ready: [], slow: new Set(), ...changes };
}

const seen = (size: number, ino = 1): SeenFile => ({
  name: `${size}.csv`,
  size,
  ino,
  mtimeMs: NOW,
  kind: 'file',
});

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
