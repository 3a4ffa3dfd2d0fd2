/**
 * Money as the texts that people write: how many requests a budget pays for, and what requests cost. The arithmetic is
 * `decimal.ts`'s.
 */
import { type Decimal, decimalText, multiply, parseDecimal, wholeTimes } from './decimal.js';

/** Plain digits: neither an exponent nor more places than anybody's price has. */
const AMOUNT = /^\d{1,15}(?:\.\d{1,12})?$/;

function amountOf(text: string): Decimal {
  const amount = AMOUNT.test(text.trim()) ? parseDecimal(text) : null;
  if (amount === null) throw new RangeError(`not a plain decimal amount: ${text}`);
  return amount;
}

/** How many whole requests of `price` each the budget pays for. A price of 0 buys any number: 9e15. Throws RangeError on text that is no amount. */
export function requestsFor(budget: string, price: string): number {
  const have = amountOf(budget);
  const each = amountOf(price);
  return each.units === 0n ? Number.MAX_SAFE_INTEGER : wholeTimes(have, each);
}

/** What so many requests cost, as exact text without superfluous zeros: 3 x 0.1 is `0.3`. */
export function costOf(requests: number, price: string): string {
  return decimalText(multiply(amountOf(price), requests));
}
