/** Months of the UTC calendar as text, `YYYY-MM`: the periods in which usage is counted and billed. */

/** The UTC month of a moment. */
export function monthOf(nowMs: number): string {
  return new Date(nowMs).toISOString().slice(0, 7);
}

/** First moment of the month after the one that `nowMs` lies in. */
export function nextMonthStart(nowMs: number): number {
  const date = new Date(nowMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}
