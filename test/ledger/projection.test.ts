import { describe, expect, it } from 'vitest';
import { projectPeriodEnd } from '../../src/ledger/projection.js';
import { ledgerState } from '../run/ledger-state.js';

const at = (text: string) => Date.parse(`${text}Z`);

const daysOf = (...uses: number[]) =>
  uses.map((used, nth) => ({ day: `2026-06-${String(9 + nth).padStart(2, '0')}`, used }));

describe('the end of the period', () => {
  it.each([
    // A third of June is over.
    ['2026-06-01', '2026-06-11T00:00', [70, 10, 20], ['2026-07-01', 10, 20], [240, 60, 300]],
    ['2026-06-01', '2026-06-02T00:00', [1, 0, 0], ['2026-07-01', 1, 29], [30, 0, 30]],
    // A period from the 15th has the days of its own months, and February has its 28.
    ['2026-02-15', '2026-03-01T00:00', [140, 0, 0], ['2026-03-15', 14, 14], [280, 0, 280]],
    ['2026-12-01', '2026-12-16T12:00', [10, 0, 5], ['2027-01-01', 15.5, 15.5], [20, 10, 30]],
    // Rounded up to whole requests.
    ['2026-06-01', '2026-06-08T00:00', [1, 0, 1], ['2026-07-01', 7, 23], [5, 5, 10]],
  ] as const)(
    'of %s seen on %s with %j used',
    (period, now, [sent, held, others], [endsOn, daysGone, daysLeft], [byUs, byOthers, total]) => {
      const state = ledgerState({ period, now: at(now), sent, held, others });
      expect(projectPeriodEnd(state, null)).toEqual({
        endsOn,
        daysGone,
        daysLeft,
        used: { byUs: sent + held, byOthers: others, total: sent + held + others },
        projected: { byUs, byOthers, total },
        limitReachedOn: null,
      });
    },
  );

  it.each([
    ['no period is known', { period: null }],
    ['the quota never renews', { period: 'none' }],
    ['less than a day is over', { now: at('2026-06-01T23:59') }],
    ['it is over and has not been seen to turn', { now: at('2026-07-01T00:00') }],
    ['nothing was used', { sent: 0 }],
    ['our clock is behind it', { now: at('2026-05-30T00:00') }],
    ['it was first used today', { days: [{ day: '2026-06-11', used: 100 }] }],
    ['it was first used less than a day ago', { now: at('2026-06-11T23:59'), days: daysOf(0, 60, 100) }],
  ])('is not projected when %s', (_, change) => {
    const state = ledgerState({ period: '2026-06-01', now: at('2026-06-11T00:00'), sent: 100, ...change });
    expect(projectPeriodEnd(state, 500)).toBeNull();
  });

  it('is projected after a day of use', () => {
    const days = [{ day: '2026-06-09', used: 60 }];
    const state = ledgerState({ period: '2026-06-01', now: at('2026-06-11T00:00'), sent: 100, days });
    expect(projectPeriodEnd(state, 500)?.projected.total).toBe(300);
  });

  it.each([
    [150, '2026-06-16'],
    [299, '2026-06-30'],
    [300, null],
    [1_000, null],
    [null, null],
    // Reached already.
    [100, '2026-06-11'],
    [40, '2026-06-11'],
    [0, '2026-06-11'],
  ])('a limit of %s is reached on %s', (limit, day) => {
    const state = ledgerState({ period: '2026-06-01', now: at('2026-06-11T00:00'), sent: 60, others: 40 });
    expect(projectPeriodEnd(state, limit)?.limitReachedOn).toBe(day);
  });
});
