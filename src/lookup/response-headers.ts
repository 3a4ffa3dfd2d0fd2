/**
 * Response headers, read strictly: the two usage headers of the specification ("Limits") and
 * Retry-After (RFC 9110, section 10.2.3).
 */

export const QUOTA_HEADER = 'x-api-key-quota';
export const USAGE_HEADER = 'x-api-key-approximate-usage';

/**
 * Digits only, at most 15 of them, so that the number is exact. null for anything else: no idea,
 * not zero.
 */
export function parseCount(text: string | undefined | null): number | null {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null;
}

/** What says more is not believed. */
export const RETRY_AFTER_AT_MOST_MS = 900_000;

/**
 * A wait in milliseconds, at most `capMs`; null: no idea. A date is measured from the answer's own
 * `Date` when it has one.
 */
export function parseRetryAfter(
  text: string | undefined,
  answeredAt: number,
  capMs = RETRY_AFTER_AT_MOST_MS,
): number | null {
  const trimmed = text?.trim();
  if (trimmed === undefined || trimmed === '') return null;
  if (/^\d{1,9}$/.test(trimmed)) return Math.min(Number(trimmed) * 1_000, capMs);
  const date = parseHttpDate(trimmed);
  return date === null ? null : Math.min(Math.max(0, date - answeredAt), capMs);
}

/**
 * An HTTP date in its preferred form, `Sun, 06 Nov 1994 08:49:37 GMT`, in milliseconds; null for
 * anything else.
 */
export function parseHttpDate(text: string | undefined): number | null {
  if (text === undefined || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text))
    return null;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : time;
}
