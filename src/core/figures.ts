/** Figures and sentences for people: in English, and in UTC unless a zone is given. */
import { decimalText, parseDecimal } from './decimal.js';
import { attempt } from './lifecycle.js';

/** Keeps a number and its unit on one line. */
const UNBROKEN = '\u00a0';

/** Formats a whole number as `12,345`; `toLocaleString` would take 10 ms at its first use. */
export function countText(count: number | bigint): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Formats a number and its noun as `1 row`, `2 rows`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : many}`;
}

/** Begins a sentence with a capital letter and ends it with a full stop. */
export function sentenceOf(text: string): string {
  const trimmed = text.trim();
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.?!]$/.test(trimmed) ? '' : '.'}`;
}

/** Formats bytes as `12 MB`, `3.4 kB`, `1 byte`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return countOf(bytes, 'byte');
  const [size, unit] = bytes < 1_000_000 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${size < 10 ? size.toFixed(1) : countText(Math.round(size))}${UNBROKEN}${unit}`;
}

/** Formats money as `1,234.50 EUR`, rounded half up; prices and amounts below a cent stay exact. */
export function moneyText(amount: string, currency: string | null, what: 'sum' | 'price' = 'sum'): string {
  const exact = parseDecimal(amount);
  if (exact === null) return amount;
  const { units, scale } = exact;
  const unit = 10n ** BigInt(scale);
  const keepsAll = what === 'price' || (units > 0n && units * 100n < unit);
  const cents = { units: (units * 200n + unit) / (unit * 2n), scale: 2 };
  const [whole = '', fraction = ''] = decimalText(keepsAll ? exact : cents).split('.');
  const shown = `${countText(BigInt(whole))}.${fraction.padEnd(2, '0')}`;
  return currency === null ? shown : `${shown}${UNBROKEN}${currency}`;
}

/** Formats a whole percentage; `0 %` and `100 %` are exact. Empty if `whole` is 0. */
export function shareText(part: number, whole: number): string {
  if (whole <= 0) return '';
  const percent = (part / whole) * 100;
  if (part > 0 && percent < 1) return '< 1 %';
  if (part < whole && percent > 99) return '> 99 %';
  return `${Math.round(percent)} %`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Returns `15 Mar`, `2026` and `12:00:09`, in UTC. `Intl` would load data for 20 ms. */
function partsOf(at: number) {
  const date = new Date(at);
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
  const time = clock.map((part) => String(part).padStart(2, '0')).join(':');
  return { day, year: date.getUTCFullYear(), time };
}

/** Formats a moment as `15 Mar 2026, 12:00 UTC`; returns any other text unchanged. */
export function momentText(iso: string): string {
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return iso;
  const { day, year, time } = partsOf(at);
  return `${day} ${year}, ${time.slice(0, 5)} UTC`;
}

/** Formats a day such as `2026-12-01` as `1 Dec`; returns any other text unchanged. */
export function dayText(day: string): string {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? day : partsOf(at).day;
}

/** Formats a time of day as `14:05:09 UTC`. */
export function clockText(at: number): string {
  return `${partsOf(at).time} UTC`;
}

/** Formats `Sat 21 Nov, 02:00` in an IANA zone; in UTC, and marked so, if the zone is unknown. */
export function weekdayText(at: number, zone: string): string {
  const textIn = (timeZone: string) => new Intl.DateTimeFormat('en-GB', { ...WEEKDAY, timeZone }).format(at);
  return attempt(() => textIn(zone), null) ?? `${textIn('UTC')} UTC`;
}

const WEEKDAY = {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
} as const;

/** Formats seconds as `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${Math.round(Math.max(0, seconds) * 10) / 10} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** Formats a score with three decimals, so that scores in a column line up: `0.960`. */
export function scoreText(score: number): string {
  return score.toFixed(3);
}

/** Formats a span by its largest unit, rounded down: `5 s`, `3 min`, `2 h`, `4 days`. */
export function spanText(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  const span = (size: number, unit: string) => `${Math.floor(seconds / size)}${UNBROKEN}${unit}`;
  if (seconds < 60) return span(1, 's');
  if (seconds < 3_600) return span(60, 'min');
  return seconds < 2 * 86_400 ? span(3_600, 'h') : span(86_400, 'days');
}

/** Formats a past moment as `just now`, `3 min ago`. */
export function agoText(at: number, now: number): string {
  return now - at < 10_000 ? 'just now' : `${spanText(now - at)} ago`;
}
