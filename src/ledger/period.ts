/**
 * Billing periods, taken from the service's own clock and never from a worker's. A period is named
 * by its first day, `YYYY-MM-DD`, UTC, so that names sort as time does; `none` means that the quota
 * never renews.
 */
import type { LedgerState, Turn } from './ledger.js';
import { RULES } from './rules.js';

/** `month`: from the first of each month. 1 to 28: from that day. `none`: one endless period. */
export type PeriodSetting = 'month' | 'none' | number;

/** The answers of a second have the same date. */
let latest: { readonly time: number; readonly setting: PeriodSetting; readonly period: string } | null = null;

/** Returns the name of the period of this moment. */
export function periodOf(time: number, setting: PeriodSetting): string {
  if (setting === 'none') return 'none';
  if (latest?.time === time && latest.setting === setting) return latest.period;
  const day = setting === 'month' ? 1 : setting;
  const date = new Date(time);
  const back = date.getUTCDate() < day ? 1 : 0;
  const start = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - back, day));
  latest = { time, setting, period: start.toISOString().slice(0, 10) };
  return latest.period;
}

/** When a period begins, by its name (not `none`). */
export function periodStart(period: string): number {
  return Date.parse(`${period}T00:00:00Z`);
}

/** Returns when the period after this one begins, or null. */
export function nextPeriodAt(period: string | null, setting: PeriodSetting): number | null {
  if (period === null || period === 'none' || setting === 'none') return null;
  const start = new Date(periodStart(period));
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, start.getUTCDate());
}

/** Returns null where no period ends. `now`: the store's clock. */
export function turnOf(period: string | null, setting: PeriodSetting, now: number): Turn | null {
  const endsAt = nextPeriodAt(period, setting);
  return period === null || endsAt === null ? null : { period, endsAt, today: periodOf(now, setting) };
}

/**
 * Returns the period of an answer's `Date`; without one, that of the service's clock as the last
 * answer showed it. A date far from the store's clock names none (null), unless the account has no
 * period yet: then it is that of the store's clock.
 */
export function periodNamed(
  date: number | null,
  setting: PeriodSetting,
  { now, behindMs, period }: Pick<LedgerState, 'now' | 'behindMs' | 'period'>,
): string | null {
  const isNear = (time: number) => Math.abs(now - time) <= RULES.dateAgreesMs;
  if (date !== null && !isNear(date) && period !== null) return null;
  const time = date ?? now - behindMs;
  return periodOf(isNear(time) ? time : now, setting);
}

/** Returns the time by the service's clock. */
export function serviceTime({ now, behindMs }: Pick<LedgerState, 'now' | 'behindMs'>): number {
  return now - behindMs;
}

/** True if this moment may be in a period, clock drift allowed; also if unknown or endless. */
export function mayBeCurrent(period: string | null, now: number): boolean {
  const next = nextPeriodAt(period, 'month');
  if (period === null || next === null) return true;
  return periodStart(period) - RULES.turnMarginMs <= now && now < next + RULES.turnMarginMs;
}
