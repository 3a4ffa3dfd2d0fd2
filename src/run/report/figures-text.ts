/**
 * Numbers, shares and moments as people read them. English and UTC everywhere, so that the page says the same on every
 * machine.
 */

/**
 * The share in whole percent. What is neither nothing nor everything never reads `0 %` or `100 %`. Empty when there is no
 * whole.
 */
export function shareText(part: number, whole: number): string {
  if (whole <= 0) return '';
  const percent = (part / whole) * 100;
  if (part > 0 && percent < 1) return '< 1 %';
  if (part < whole && percent > 99) return '> 99 %';
  return `${Math.round(percent)} %`;
}

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** `15 Mar 2026, 12:00 UTC`; the text itself when it is not a moment. */
export function momentText(iso: string): string {
  const at = Date.parse(iso);
  return Number.isNaN(at) ? iso : `${MOMENT.format(at)} UTC`;
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** With three decimals, so that scores under each other compare: `0.960`. */
export function scoreText(score: number): string {
  return score.toFixed(3);
}
