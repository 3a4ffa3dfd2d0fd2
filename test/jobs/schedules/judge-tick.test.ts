import { expect, it } from 'vitest';
import { stampOf } from '../../../src/jobs/schedules/schedule-runner.js';

const ADDED = 1_000;
const NOW = 100_000_000;

it.each([
  ['its due time', 50_000, null, 50_000],
  ['its due time, after an earlier tick', 50_000, 40_000, 50_000],
  ['now, by hand', null, null, NOW],
  ['now, if a later tick has begun', 50_000, 60_000, NOW],
  ['now, if this one has begun before', 50_000, 50_000, NOW],
  ['now, if it was due before the schedule was added', 999, null, NOW],
  ['now, if it is due tomorrow', NOW + 86_400_000, null, NOW],
  ['its due time, on a clock that is a moment behind', NOW + 5_000, null, NOW + 5_000],
])('a tick is dated %s', (_, dueAt, last, expected) => {
  const begun = last === null ? null : { stampedAt: last };
  expect(stampOf(dueAt, { addedAt: ADDED }, begun, NOW)).toBe(expected);
});
