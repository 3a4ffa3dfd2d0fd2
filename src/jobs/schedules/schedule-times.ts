/** The times of schedules, and in the names of outputs. Moments are milliseconds since 1970. */
import { CronExpressionParser } from 'cron-parser';
import { errorText } from '../../core/errors.js';

/** When the first tick after `after` is due. Throws for what is not an expression, or never due. */
export function nextTickAt(cron: string, tz: string, after: number): number {
  return CronExpressionParser.parse(cron, { tz, currentDate: new Date(after) })
    .next()
    .getTime();
}

/** Whether it names a time zone of the IANA database. */
export function isTimeZone(tz: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: tz });
    // Offsets such as +02:00 are zones for Intl and none for the library.
    return /^[A-Za-z]/.test(tz);
  } catch {
    return false;
  }
}

/** Why an expression is refused, as a part of a sentence; null: it is right and has a next tick. */
export function findCronProblem(cron: string, tz: string, now: number): string | null {
  const text = cron.trim();
  const fields = text.split(/\s+/);
  if (!text.startsWith('@') && fields.length !== 5 && fields.length !== 6)
    return (
      `${fields.length} fields instead of 5 (minute, hour, day of the month, month, day of the ` +
      'week), or 6 with seconds first'
    );
  // The library replaces it by a random value at each reading.
  if (fields.some((field) => /(^|,)H/i.test(field))) return 'H, which is a different time on every machine';
  try {
    nextTickAt(text, tz, now);
    return null;
  } catch (error) {
    return errorText(error);
  }
}

/** `2026-01-14 02:00:00` in a time zone. */
export function localTime(at: number, tz: string): string {
  return new Date(at).toLocaleString('sv-SE', { timeZone: tz });
}

/** `{date}` becomes `2026-01-14`, `{time}` `020000`, in a time zone. */
export function stampPath(path: string, at: number, tz: string): string {
  const [date = '', time = ''] = localTime(at, tz).split(' ');
  return path.replaceAll('{date}', date).replaceAll('{time}', time.replaceAll(':', ''));
}

/** Words in braces that are not stamps. */
export function unknownStamps(path: string): string[] {
  const words = [...path.matchAll(/\{([A-Za-z]+)\}/g)].map(([, word = '']) => word);
  return words.filter((word) => word !== 'date' && word !== 'time');
}
