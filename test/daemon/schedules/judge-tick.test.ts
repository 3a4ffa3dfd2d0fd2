import { expect, it } from 'vitest';
import { judgeTick } from '../../../src/daemon/schedules/schedule-runner.js';

const LATE = 60_000;
const DUE = 1_000_000;

it.each([
  ['in time', { dueAt: DUE, hasBegun: false }, 0, false, 'run'],
  ['a minute late', { dueAt: DUE, hasBegun: false }, LATE, false, 'run'],
  ['later than that', { dueAt: DUE, hasBegun: false }, LATE + 1, false, 'missed'],
  ['later, with --catch-up', { dueAt: DUE, hasBegun: false }, 10 * LATE, true, 'run'],
  ['later, and interrupted before', { dueAt: DUE, hasBegun: true }, 10 * LATE, false, 'run'],
  ['by hand', { dueAt: null, hasBegun: false }, 10 * LATE, false, 'run'],
  ['before its time, by a clock that was put back', { dueAt: DUE, hasBegun: false }, -LATE, false, 'run'],
] as const)('a tick %s', (_, tick, byMs, catchesUp, expected) => {
  expect(judgeTick(tick, { now: DUE + byMs, catchesUp, lateAfterMs: LATE })).toBe(expected);
});
