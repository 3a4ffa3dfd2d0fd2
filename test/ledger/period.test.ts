/** Billing periods: named by their first day, in UTC, by the service's clock. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { nextPeriodAt, type PeriodSetting, periodNamed, periodOf, turnOf } from '../../src/ledger/period.js';

const at = (text: string) => Date.parse(`${text}Z`);

test.each<[string, PeriodSetting, string]>([
  ['2030-01-15T12:00:00', 'month', '2030-01-01'],
  ['2030-01-01T00:00:00', 'month', '2030-01-01'],
  ['2029-12-31T23:59:59.999', 'month', '2029-12-01'],
  ['2028-02-29T12:00:00', 'month', '2028-02-01'],
  ['2030-01-15T12:00:00', 'none', 'none'],
  ['2030-01-15T00:00:00', 15, '2030-01-15'],
  ['2030-01-14T23:59:59', 15, '2029-12-15'],
  ['2030-03-01T00:00:00', 28, '2030-02-28'],
  ['2030-03-28T00:00:00', 28, '2030-03-28'],
  ['2030-01-01T00:00:00', 2, '2029-12-02'],
  ['2030-05-31T12:00:00', 1, '2030-05-01'],
])('the period of a time: %s, %s: %s', (moment, setting, period) => {
  expect(periodOf(at(moment), setting)).toBe(period);
});

describe('the next period', () => {
  test.each<[string | null, PeriodSetting, string | null]>([
    ['2030-01-01', 'month', '2030-02-01T00:00:00'],
    ['2029-12-01', 'month', '2030-01-01T00:00:00'],
    ['2030-01-28', 28, '2030-02-28T00:00:00'],
    ['2029-12-15', 15, '2030-01-15T00:00:00'],
    ['none', 'month', null],
    ['2030-01-01', 'none', null],
    [null, 'month', null],
  ])('after %s, %s: %s', (period, setting, next) => {
    expect(nextPeriodAt(period, setting)).toBe(next === null ? null : at(next));
  });

  test('begins where this one ends: every moment belongs to exactly one period', () => {
    const setting = fc.oneof(fc.constant('month' as const), fc.integer({ min: 1, max: 28 }));
    const moment = fc.integer({ min: at('2000-01-01T00:00:00'), max: at('2099-12-31T00:00:00') });
    fc.assert(
      fc.property(moment, setting, (time, how) => {
        const period = periodOf(time, how);
        const next = nextPeriodAt(period, how) ?? 0;
        expect(time).toBeGreaterThanOrEqual(at(`${period}T00:00:00`));
        expect(time).toBeLessThan(next);
        expect(periodOf(next, how) > period).toBe(true);
        expect(periodOf(next - 1, how)).toBe(period);
      }),
    );
  });
});

test('a turn says when the period ends, and which one it is by now', () => {
  const now = at('2030-03-02T00:00:00');
  const endsAt = at('2030-02-01T00:00:00');
  expect(turnOf('2030-01-01', 'month', now)).toEqual({ period: '2030-01-01', endsAt, today: '2030-03-01' });
  expect(turnOf(null, 'month', now)).toBeNull();
  expect(turnOf('none', 'none', now)).toBeNull();
});

describe('the period that an answer names', () => {
  test.each<[string, string | null, string | null]>([
    ['is that of its date', '2030-02-01T00:00:01', '2030-02-01'],
    ['is that of its date, though it is a day ahead', '2030-02-01T10:00:00', '2030-02-01'],
    ['is unknown where the date is two days off', '2030-02-03T00:00:00', null],
    ['is unknown where the date is a month behind', '2029-12-31T00:00:00', null],
    ['is that of the clock where it has no date', null, '2030-01-01'],
  ])('%s', (_what, date, named) => {
    const calendar = { now: at('2030-01-31T23:00:00'), behindMs: 0, period: '2030-01-01' };
    expect(periodNamed(date === null ? null : at(date), 'month', calendar, false)).toBe(named);
  });

  test.each([
    ['is that of the service, whose clock is ahead, where an answer has no date', -2, '2030-02-01'],
    ["is that of the store's clock where the service's is far off", 60 * 24, '2030-01-01'],
  ])('%s', (_what, hours, named) => {
    const calendar = { now: at('2030-01-31T23:00:00'), behindMs: hours * 3_600_000, period: '2030-01-01' };
    expect(periodNamed(null, 'month', calendar, false)).toBe(named);
  });

  test("is that of the store's clock if the account has none and the date is far off", () => {
    const calendar = { now: at('2030-01-31T23:00:00'), behindMs: 0, period: null };
    expect(periodNamed(at('2029-11-05T00:00:00'), 'month', calendar, false)).toBe('2030-01-01');
  });

  test('is never the first one of an account where the answer was lost', () => {
    const calendar = { now: at('2030-01-31T23:00:00'), behindMs: 0, period: null };
    expect(periodNamed(null, 'month', calendar, true)).toBeNull();
    expect(periodNamed(null, 'month', calendar, false)).toBe('2030-01-01');
    expect(periodNamed(null, 'month', { ...calendar, period: '2030-01-01' }, true)).toBe('2030-01-01');
  });
});
