/**
 * Cron expressions in a time zone: whether one is right, and when its next tick is. Read by the same library as BullMQ's, so
 * that what is accepted here is what comes about there.
 */
import { CronExpressionParser } from 'cron-parser';
import { errorText } from '../../core/errors.js';

/** When the first tick after `after` is due; both in milliseconds since 1970. Throws for an expression that is wrong or never comes. */
export function nextTickAt(cron: string, tz: string, after: number): number {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(after) })
    .next()
    .getTime();
}

/** Why there is no such time zone, as what it should be; null when there is one. */
export function findTimeZoneProblem(tz: string): string | null {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    // Offsets such as +02:00 are zones for Intl and none for the library.
    return /^[A-Za-z]/.test(tz) ? null : 'a time zone of the IANA database';
  } catch {
    return 'a time zone of the IANA database';
  }
}

/** Why an expression is refused, as a part of a sentence; null when it is right and comes about. `now` in milliseconds. */
export function findCronProblem(cron: string, tz: string, now: number): string | null {
  const text = cron.trim();
  const fields = text.split(/\s+/);
  if (!text.startsWith('@') && fields.length !== 5 && fields.length !== 6) {
    return `${fields.length} fields instead of 5 (minute, hour, day of the month, month, day of the week), or 6 with seconds first`;
  }
  // The library puts something else in its place each time that it reads it.
  if (fields.some((field) => /(^|,)H/i.test(field))) return 'H, which means another time on every machine';
  try {
    nextTickAt(text, tz, now);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

const STAMPS = ['date', 'time'] as const;

/** `{date}` becomes `2026-01-14`, `{time}` `020000`. `at` in milliseconds since 1970. */
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

/** What stands in braces like a stamp and is none. */
export function unknownStamps(path: string): string[] {
  return [...path.matchAll(/\{([A-Za-z]+)\}/g)]
    .map(([, word]) => word ?? '')
    .filter((word) => !STAMPS.some((stamp) => stamp === word));
}
