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
