/**
 * Billing periods, by the service's clock and never by a worker's. A period's name is its first UTC
 * day, `YYYY-MM-DD`, so that names sort by time; `none` is a quota that never renews.
 */
import type { LedgerState, Turn } from './ledger.js';
import { RULES } from './rules.js';

/** `month`: from the first of each month. 1 to 28: from that day. `none`: one endless period. */
export type PeriodSetting = 'month' | 'none' | number;

/** Answers of one second share their date. */
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

/** Returns when a period begins; not for `none`. */
export function periodStart(period: string): number {
  return Date.parse(`${period}T00:00:00Z`);
}

/** Returns when the period after this one begins, or null. */
export function nextPeriodAt(period: string | null, setting: PeriodSetting): number | null {
  if (period === null || period === 'none' || setting === 'none') return null;
  const start = new Date(periodStart(period));
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, start.getUTCDate());
}

/** Returns the period and its end, or null if it never ends. `now` is the store's clock. */
export function turnOf(period: string | null, setting: PeriodSetting, now: number): Turn | null {
  const endsAt = nextPeriodAt(period, setting);
  return period === null || endsAt === null ? null : { period, endsAt, today: periodOf(now, setting) };
}

/**
 * Returns the period of an answer's `Date`, or without one that of the service's clock as last
 * seen. A date far from the store's clock names no period (null), unless the account has none yet:
 * then the store's clock names it. A lost answer never names the first one: what the service's
 * clock says is not known before it answers.
 */
export function periodNamed(
  date: number | null,
  setting: PeriodSetting,
  { now, behindMs, period }: Pick<LedgerState, 'now' | 'behindMs' | 'period'>,
  isLost: boolean,
): string | null {
  if (isLost && date === null && period === null) return null;
  const isNear = (time: number) => Math.abs(now - time) <= RULES.dateAgreesMs;
  if (date !== null && !isNear(date) && period !== null) return null;
  const time = date ?? now - behindMs;
  return periodOf(isNear(time) ? time : now, setting);
}

/** Returns the time by the service's clock. */
export function serviceTime({ now, behindMs }: Pick<LedgerState, 'now' | 'behindMs'>): number {
  return now - behindMs;
}

/** True if the period may contain this moment, allowing clock drift; also if unknown or endless. */
export function mayBeCurrent(period: string | null, now: number): boolean {
  const next = nextPeriodAt(period, 'month');
  if (period === null || next === null) return true;
  return periodStart(period) - RULES.turnMarginMs <= now && now < next + RULES.turnMarginMs;
}
