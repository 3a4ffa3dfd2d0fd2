/**
 * The kinds of values that money and limits are set with: exact decimals, rates, statuses, the billing period and
 * the number of errors that is too many. Reading only; what they lead to is judged in `quota/`.
 */
import type { ValueKind } from './value-kind.js';
import { accepted, eachText, oneText, refused } from './value-kind.js';

/** Enough for any budget, and few enough for exact arithmetic in whole billionths. */
const DECIMAL = /^\d{1,12}(\.\d{1,9})?$/;

/**
 * An exact decimal, kept as text so that 0.3 stays 0.3. No sign, exponent or separators. `positive` refuses zero.
 */
export function decimal(example: string, sign: 'positive' | 'not negative'): ValueKind<string> {
  return oneText('AMOUNT', (seen) => {
    const isRight = DECIMAL.test(seen) && (sign === 'not negative' || isPositiveDecimal(seen));
    if (isRight) return accepted(seen);
    const expected = sign === 'positive' ? 'an amount above zero' : 'an amount';
    return refused(expected, `digits, with a point before the fraction, for example ${example}`);
  });
}

/** Whether an exact decimal text is more than zero. */
export function isPositiveDecimal(decimalText: string): boolean {
  return /[1-9]/.test(decimalText);
}

/** Requests per second, up to three decimals; 0 lifts the pace. */
export const ratePerSecond: ValueKind<number> = oneText('N', (seen) => {
  const isRight = /^\d{1,6}(\.\d{1,3})?$/.test(seen);
  return isRight
    ? accepted(Number(seen))
    : refused('a number of requests per second', 'for example 50, or 0 for no pace at all');
});

/** When the quota begins anew: with the month (UTC), never, or on a day of the month. */
export type BillingPeriod = 'month' | 'none' | number;

export const billingPeriod: ValueKind<BillingPeriod> = oneText<BillingPeriod>('month|none|DAY', (seen) => {
  if (seen === 'month' || seen === 'none') return accepted(seen);
  const day = /^\d{1,2}$/.test(seen) ? Number(seen) : 0;
  if (day >= 1 && day <= 28) return accepted(day);
  return refused('a billing period', 'month, none, or the day of the month on which it begins, 1 to 28');
});

/**
 * Three digits, or `5xx` for 500 to 599 and so on. 200 is refused: an answer with a brand is what the quota counts,
 * and taken as free it would be bought without end.
 */
export const statuses: ValueKind<readonly string[]> = eachText('list', 'LIST', (seen) => {
  const status = seen.trim().toLowerCase();
  return /^([1-5]\d\d|[345]xx)$/.test(status) && status !== '200'
    ? accepted(status)
    : refused(
        'a list of statuses',
        'statuses other than 200, separated by commas, for example 204,400,402,5xx',
      );
});

/** How many failed lookups end a run: so many, or such a share of the lookups. */
export type ErrorLimit =
  | { readonly type: 'count'; readonly count: number }
  | { readonly type: 'percent'; readonly percent: number };

export const errorLimit: ValueKind<ErrorLimit> = oneText<ErrorLimit>('N|N%', (seen) => {
  const percent = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(seen);
  if (percent !== null && Number(percent[1]) <= 100) {
    return accepted({ type: 'percent', percent: Number(percent[1]) });
  }
  if (/^\d{1,12}$/.test(seen)) return accepted({ type: 'count', count: Number(seen) });
  return refused('a number of errors', 'a whole number or a share from 0% to 100%, for example 100 or 5%');
});
