/**
 * The times of schedules: cron expressions in a time zone, read by the library that BullMQ uses,
 * and `{date}` and `{time}` in the names of outputs.
 */
import { CronExpressionParser } from 'cron-parser';
import { errorText } from '../../core/errors.js';

/**
 * When the first tick after `after` is due; both in milliseconds since 1970. Throws for an
 * expression that is wrong or never due.
 */
export function nextTickAt(cron: string, tz: string, after: number): number {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(after) })
    .next()
    .getTime();
}

/** What the text should be instead of this time zone; null when it is one. */
export function findTimeZoneProblem(tz: string): string | null {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    // Offsets such as +02:00 are zones for Intl and none for the library.
    return /^[A-Za-z]/.test(tz) ? null : 'a time zone of the IANA database';
  } catch {
    return 'a time zone of the IANA database';
  }
}

/**
 * Why an expression is refused, as a part of a sentence; null when it is right and has a next tick.
 * `now` in milliseconds.
 */
export function findCronProblem(cron: string, tz: string, now: number): string | null {
  const text = cron.trim();
  const fields = text.split(/\s+/);
  if (!text.startsWith('@') && fields.length !== 5 && fields.length !== 6) {
    return `${fields.length} fields instead of 5 (minute, hour, day of the month, month, day of the week), or 6 with seconds first`;
  }
  // The library replaces it by a random value at each reading.
  if (fields.some((field) => /(^|,)H/i.test(field))) return 'H, which means another time on every machine';
  try {
    nextTickAt(text, tz, now);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

const STAMPS = ['date', 'time'] as const;

/**
 * `{date}` becomes `2026-01-14`, `{time}` `020000`: the moment when the tick was due, so that a run
 * which was interrupted continues with the same files. `at` in milliseconds since 1970.
 */
export function stampPath(path: string, at: number, tz: string): string {
  const parts = new Map(
    new Intl.DateTimeFormat('en-US', {
      timeZone: tz,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? '';
  return path
    .replaceAll('{date}', `${of('year')}-${of('month')}-${of('day')}`)
    .replaceAll('{time}', `${of('hour')}${of('minute')}${of('second')}`);
}

/** Words in braces that are not stamps. */
export function unknownStamps(path: string): string[] {
  return [...path.matchAll(/\{([A-Za-z]+)\}/g)]
    .map(([, word]) => word ?? '')
    .filter((word) => !STAMPS.some((stamp) => stamp === word));
}
