/**
 * The two usage headers of the specification ("Limits"): names, and a strict reading. What the numbers mean for
 * the budget is judged in `quota/`.
 */

export const QUOTA_HEADER = 'x-api-key-quota';
export const USAGE_HEADER = 'x-api-key-approximate-usage';

/** Digits only, at most 15 of them, so that the number is exact. null for anything else: no idea, not zero. */
export function parseCount(text: string | undefined | null): number | null {
  const trimmed = text?.trim();
  return trimmed !== undefined && /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null;
}
