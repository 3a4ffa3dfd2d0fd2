/**
 * `{date}` and `{time}` in the names of outputs: of the moment at which the tick was due, in the schedule's time zone, so
 * that a run which is interrupted goes on with the same files. Pure.
 */

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
