/** Projects an account to the end of its period, at its rate so far. */
import { DAY_MS } from '../core/clock.js';
import type { LedgerState } from './ledger.js';
import { nextPeriodAt, periodStart } from './period.js';
import { spentOf } from './policy.js';

export type Projection = Readonly<NonNullable<ReturnType<typeof projectPeriodEnd>>>;

/**
 * Extends the use so far in a straight line to the end of the period. Returns null without use,
 * on the first day of the period or of use, and if the period never ends or its end has passed.
 */
export function projectPeriodEnd(
  state: Pick<LedgerState, 'now' | 'period' | 'sent' | 'held' | 'probes' | 'others' | 'days'>,
  limit: number | null,
) {
  const { now, period, days } = state;
  const endsAt = nextPeriodAt(period, 'month');
  if (period === null || endsAt === null) return null;
  const startedAt = periodStart(period);
  const goneMs = now - startedAt;
  const used = spendingOf(spentOf(state) - state.others, state.others);
  // The hour of the first use is unknown: it may have been the last of its day.
  const firstUse = days.find((each) => each.used > 0);
  const usedSince = firstUse === undefined ? startedAt : periodStart(firstUse.day) + DAY_MS;
  const isEarly = goneMs < DAY_MS || now - usedSince < DAY_MS;
  if (isEarly || now >= endsAt || used.total === 0) return null;
  const growth = (endsAt - startedAt) / goneMs;
  const projected = spendingOf(Math.ceil(used.byUs * growth), Math.ceil(used.byOthers * growth));
  const reachedAt = limit === null ? endsAt : Math.max(now, startedAt + (goneMs * limit) / used.total);
  return {
    /** First day of the next period, `YYYY-MM-DD`, UTC. */
    endsOn: dayOf(endsAt),
    /** With fractions. */
    daysGone: goneMs / DAY_MS,
    daysLeft: (endsAt - now) / DAY_MS,
    used,
    /** At the end of the period, rounded up. */
    projected,
    /** Day on which this rate reaches `limit`; null if it does not, or the limit is unknown. */
    limitReachedOn: reachedAt < endsAt ? dayOf(reachedAt) : null,
  };
}

function spendingOf(byUs: number, byOthers: number) {
  return { byUs, byOthers, total: byUs + byOthers };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
