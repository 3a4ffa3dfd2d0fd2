/** Exact decimal numbers for money: 0.3 divided by 0.1 is 3, not 2. Nothing is ever rounded. */

/** `units / 10 ** scale`, never negative. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

/** Most digits after the point, so that a short text cannot make a huge number. */
const MAX_SCALE = 30;

/** Reads `12`, `0.1` or `1e-7`; null when negative, finer than 30 places, or of another form. */
export function parseDecimal(value: string | number): Decimal | null {
  const match = /^(\d{1,30})(?:\.(\d{1,30}))?(?:e([+-]?\d{1,2}))?$/i.exec(String(value).trim());
  if (match === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  if (scale > MAX_SCALE || scale < -MAX_SCALE) return null;
  const units = BigInt(whole + fraction);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** Returns how often `price` fits into `budget`. Throws `RangeError` for a price of zero. */
export function wholeTimes(budget: Decimal, price: Decimal): number {
  const times = (budget.units * 10n ** BigInt(price.scale)) / (price.units * 10n ** BigInt(budget.scale));
  return times > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(times);
}

export function multiply(price: Decimal, count: number): Decimal {
  return { units: price.units * BigInt(count), scale: price.scale };
}

/** Returns plain digits without an exponent or trailing zeros: `0.3`, `12`. */
export function decimalText(value: Decimal): string {
  const digits = value.units.toString().padStart(value.scale + 1, '0');
  const point = digits.length - value.scale;
  const fraction = digits.slice(point).replace(/(?<!0)0+$/, '');
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`;
}

/** Plain digits: no exponent, and no more places than a price can have. */
const AMOUNT = /^\d{1,15}(?:\.\d{1,12})?$/;

function amountOf(text: string): Decimal {
  const amount = AMOUNT.test(text.trim()) ? parseDecimal(text) : null;
  if (amount === null) throw new RangeError(`not a plain decimal amount: ${text}`);
  return amount;
}

/** Returns how many requests `budget` pays for. `RangeError` unless both are plain digits. */
export function requestsFor(budget: string, price: string): number {
  const have = amountOf(budget);
  const each = amountOf(price);
  return each.units === 0n ? Number.MAX_SAFE_INTEGER : wholeTimes(have, each);
}

/** Returns the cost of `requests`, exact and without trailing zeros: 3 x 0.1 is `0.3`. */
export function costOf(requests: number, price: string): string {
  return decimalText(multiply(amountOf(price), requests));
}
