import { expect, it } from 'vitest';
import { stampPath, unknownStamps } from '../../../src/daemon/schedules/schedule-times.js';

const AT = Date.parse('2026-01-14T23:30:05Z');

it.each([
  ['out/{date}.csv', 'UTC', 'out/2026-01-14.csv'],
  ['out/{date}.csv', 'Europe/Berlin', 'out/2026-01-15.csv'],
  ['{date}/{time}/{date}.csv', 'UTC', '2026-01-14/233005/2026-01-14.csv'],
  ['{time}.csv', 'Europe/Berlin', '003005.csv'],
  ['plain.csv', 'UTC', 'plain.csv'],
])('%s in %s is %s', (path, tz, expected) => {
  expect(stampPath(path, AT, tz)).toBe(expected);
});

it.each([
  ['out/{date}-{time}.csv', []],
  ['out/{datum}-{hour}.csv', ['datum', 'hour']],
  ['out/{}.csv', []],
])('%s holds the unknown stamps %j', (path, expected) => {
  expect(unknownStamps(path)).toEqual(expected);
});
