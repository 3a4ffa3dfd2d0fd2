/** Billing periods: named by their first day, in UTC, by the service's clock. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mayHaveTurned, nextPeriodAt, type PeriodSetting, periodOf } from '../../src/ledger/period.js';

const at = (text: string) => Date.parse(`${text}Z`);

describe('the period of a time', () => {
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
  ])('%s, %s: %s', (moment, setting, period) => {
    expect(periodOf(at(moment), setting)).toBe(period);
  });
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

describe('whether the period may be over', () => {
  test.each<[string | null, PeriodSetting, string, boolean, number?]>([
    ['2030-01-01', 'month', '2030-01-31T23:59:59', false],
    ['2030-01-01', 'month', '2030-02-01T00:14:59', false],
    ['2030-01-01', 'month', '2030-02-01T00:15:00', true],
    ['2030-01-15', 15, '2030-02-15T00:15:00', true],
    // A service whose clock is a day behind is still in the old period for a day.
    ['2030-01-01', 'month', '2030-02-01T23:00:00', false, 86_400_000],
    ['2030-01-01', 'month', '2030-02-02T00:15:00', true, 86_400_000],
    ['none', 'none', '2040-01-01T00:00:00', false],
    [null, 'month', '2040-01-01T00:00:00', false],
  ])('%s, %s, at %s: %s', (period, setting, moment, turned, behindMs = 0) => {
    expect(mayHaveTurned({ period, now: at(moment), behindMs }, setting)).toBe(turned);
  });
});
