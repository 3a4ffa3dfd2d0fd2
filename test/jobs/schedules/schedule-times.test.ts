import { describe, expect, it } from 'vitest';
import {
  findCronProblem,
  isTimeZone,
  nextTickAt,
  stampPath,
  unknownStamps,
} from '../../../src/jobs/schedules/scheduled-command.js';

const NOW = Date.parse('2026-01-14T12:00:00Z');

describe('the next tick', () => {
  it.each([
    ['0 2 * * *', 'UTC', '2026-01-14T12:00:00Z', '2026-01-15T02:00:00Z'],
    ['0 2 * * *', 'Europe/Berlin', '2026-01-14T12:00:00Z', '2026-01-15T01:00:00Z'],
    ['0 2 * * *', 'Europe/Berlin', '2026-07-14T12:00:00Z', '2026-07-15T00:00:00Z'],
    ['0 2 * * *', 'America/New_York', '2026-01-14T12:00:00Z', '2026-01-15T07:00:00Z'],
    ['*/10 * * * * *', 'UTC', '2026-01-14T12:00:01Z', '2026-01-14T12:00:10Z'],
    ['0 6 * * MON', 'UTC', '2026-01-14T12:00:00Z', '2026-01-19T06:00:00Z'],
    // The hour from two to three is skipped in this night, and occurs once.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:30:00Z'],
    ['30 3 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T02:30:00Z'],
  ])('of %s in %s after %s is %s', (cron, tz, after, expected) => {
    expect(new Date(nextTickAt(cron, tz, Date.parse(after))).toISOString()).toBe(
      expected.replace('Z', '.000Z'),
    );
  });

  it('is always later', () => {
    const at = nextTickAt('0 2 * * *', 'UTC', NOW);
    expect(nextTickAt('0 2 * * *', 'UTC', at)).toBeGreaterThan(at);
  });
});

describe('a cron expression', () => {
  it.each([
    '0 2 * * *',
    '*/5 * * * *',
    '* * * * * *',
    '0 0 1 1 *',
    '0 9-17 * * MON-FRI',
    '@daily',
    '0 2 * MAR *',
  ])('%s is valid', (cron) => expect(findCronProblem(cron, 'Europe/Berlin', NOW)).toBeNull());

  it.each([
    ['', /fields/],
    ['* * * *', /4 fields instead of 5/],
    ['* * * * * * *', /7 fields/],
    ['61 * * * *', /./],
    ['0 25 * * *', /./],
    ['0 2 30 2 *', /./],
    ['nightly', /1 fields/],
    ['@noon', /./],
    ['H 2 * * *', /a different time on every machine/],
    ['0 H(0-5) * * *', /a different time on every machine/],
  ])('"%s" is refused', (cron, reason) => {
    expect(findCronProblem(cron, 'UTC', NOW)).toMatch(reason);
  });
});

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires'])('%s is known', (tz) => {
    expect(isTimeZone(tz)).toBe(true);
  });
  it.each(['', 'Mars/Olympus', '+02:00', 'Berlin'])('"%s" is refused', (tz) => {
    expect(isTimeZone(tz)).toBe(false);
  });
});

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
