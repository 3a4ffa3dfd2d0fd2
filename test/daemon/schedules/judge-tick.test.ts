import { expect, it } from 'vitest';
import { isMissed } from '../../../src/daemon/schedules/schedule-runner.js';

const LATE = 60_000;
const ON_TIME = { lateMs: 0, hasBegun: false, catchesUp: false };

it.each([
  ['in time', ON_TIME, false],
  ['a minute late', { ...ON_TIME, lateMs: LATE }, false],
  ['later than that', { ...ON_TIME, lateMs: LATE + 1 }, true],
  ['later, with --catch-up', { ...ON_TIME, lateMs: 10 * LATE, catchesUp: true }, false],
  ['later, and interrupted before', { ...ON_TIME, lateMs: 10 * LATE, hasBegun: true }, false],
  ['by hand', { ...ON_TIME, lateMs: null }, false],
  ['before its time, by a clock that was set back', { ...ON_TIME, lateMs: -LATE }, false],
])('a tick %s is missed: %s', (_, tick, expected) => {
  expect(isMissed(tick, LATE)).toBe(expected);
});
