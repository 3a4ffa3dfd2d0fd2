/**
 * Money in exact decimal arithmetic: 0.3 / 0.1 is 3. Amounts travel as the text the user wrote.
 */

interface Decimal {
  /** value = digits / 10^scale */
  readonly digits: bigint;
  readonly scale: number;
}

function parseDecimal(text: string): Decimal {
  const match = /^(\d{1,15})(?:\.(\d{1,12}))?$/.exec(text.trim());
  if (!match) throw new RangeError(`not a plain decimal amount: ${text}`);
  const fraction = match[2] ?? '';
  return { digits: BigInt((match[1] ?? '') + fraction), scale: fraction.length };
}

/** How many whole requests of `price` each the budget pays for. A price of 0 buys any number: 9e15. Throws RangeError on text that is no amount. */
export function requestsFor(budget: string, price: string): number {
  const have = parseDecimal(budget);
  const each = parseDecimal(price);
  if (each.digits === 0n) return Number.MAX_SAFE_INTEGER;
  const scale = Math.max(have.scale, each.scale);
  const scaled = (amount: Decimal) => amount.digits * 10n ** BigInt(scale - amount.scale);
  const count = scaled(have) / scaled(each);
  return count > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(count);
}

/** What so many requests cost, as exact text without superfluous zeros: 3 x 0.1 is `0.3`. */
export function costOf(requests: number, price: string): string {
  const each = parseDecimal(price);
  const total = (each.digits * BigInt(requests)).toString().padStart(each.scale + 1, '0');
  const whole = total.slice(0, total.length - each.scale);
  const fraction = total.slice(total.length - each.scale).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
