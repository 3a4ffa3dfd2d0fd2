/** Where an account will be at its period's end, at its rate so far. */
import { DAY_MS } from '../core/clock.js';
import type { LedgerState } from './ledger.js';
import { nextPeriodAt, periodStart } from './period.js';
import { spentOf } from './policy.js';

export type Projection = Readonly<NonNullable<ReturnType<typeof projectPeriodEnd>>>;

/**
 * Projects the whole period so far in a straight line. Null without a period that ends, before a
 * day of it or of use, and once it is over and was not seen to turn. `limit`: null while unknown.
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
  // The hour of the first use is not known: it may have been the last one of its day.
  const firstUse = days.find((each) => each.used > 0);
  const usedSince = firstUse === undefined ? startedAt : periodStart(firstUse.day) + DAY_MS;
  const isEarly = goneMs < DAY_MS || now - usedSince < DAY_MS;
  if (isEarly || now >= endsAt || used.total === 0) return null;
  const growth = (endsAt - startedAt) / goneMs;
  const projected = spendingOf(Math.ceil(used.byUs * growth), Math.ceil(used.byOthers * growth));
  const reachedAt = limit === null ? endsAt : Math.max(now, startedAt + (goneMs * limit) / used.total);
  return {
    /** First day of the period that comes next, `YYYY-MM-DD`, UTC. */
    endsOn: dayOf(endsAt),
    /** With fractions. */
    daysGone: goneMs / DAY_MS,
    daysLeft: (endsAt - now) / DAY_MS,
    used,
    /** At the end of the period, rounded up. */
    projected,
    /** Day on which `limit` is reached at this rate; null when it is not, or is not known. */
    limitReachedOn: reachedAt < endsAt ? dayOf(reachedAt) : null,
  };
}

function spendingOf(byUs: number, byOthers: number) {
  return { byUs, byOthers, total: byUs + byOthers };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
