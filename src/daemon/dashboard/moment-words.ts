/**
 * Moments and spans as people say them, short enough for a glance. English; UTC unless a zone is named. Times are
 * milliseconds.
 */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Keeps a number and its unit on one line. */
const UNBROKEN = '\u00a0';

/** `5 s`, `3 min`, `2 h`, `4 days`: the largest unit alone, rounded down; they stay on one line. */
export function spanText(ms: number): string {
  const span = Math.max(0, ms);
  if (span < MINUTE) return `${Math.floor(span / SECOND)}${UNBROKEN}s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)}${UNBROKEN}min`;
  if (span < 2 * DAY) return `${Math.floor(span / HOUR)}${UNBROKEN}h`;
  return `${Math.floor(span / DAY)}${UNBROKEN}days`;
}

/** `just now`, `3 min ago`. */
export function agoText(at: number, now: number): string {
  return now - at < 10 * SECOND ? 'just now' : `${spanText(now - at)} ago`;
}

const DAY_FORMAT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `1 Dec`, of a day written as `2026-12-01`; the text itself when it is none. */
export function dayText(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? day : DAY_FORMAT.format(at);
}

const CLOCK_FORMAT = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium', timeZone: 'UTC' });

/** `14:05:09 UTC`. */
export function clockText(at: number): string {
  return `${CLOCK_FORMAT.format(at)} UTC`;
}

/** `Sat 21 Nov, 02:00`, in a zone of the IANA database; in UTC, and said so, where the zone is not known here. */
export function weekdayText(at: number, zone: string): string {
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      timeZone,
    }).format(at);
  try {
    return format(zone);
  } catch {
    return `${format('UTC')} UTC`;
  }
}
