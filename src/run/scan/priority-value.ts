/**
 * What one cell of the `--priority` column says. Pure. Strict, because a wrong order spends money on the wrong rows:
 *
 *   number   a plain one: `1200`, `-3.5`, `1e6`
 *   word     anything else that does not begin with a digit, and ISO dates, whose text order is their time order
 *   none     blank
 *   unclear  begins with a digit or a currency and a digit, and is neither: `1,200` (1.2 in half of the world), `$900`,
 *            `11-50`, `31.12.2026`. As text they would be in an order that nobody means.
 */

export type PriorityValue =
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'none' }
  | { readonly type: 'unclear' };

const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
/** ISO 8601: a day, or a day and a time; also a month. */
const ISO_DATE = /^\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?$/;
const BEGINS_WITH_NUMBER = /^([^\p{L}\d]*|[A-Za-z]{3}\s?)\d/u;

/** Words are compared without case: they come back in lower case and in normal form. */
export function priorityValueOf(cell: string): PriorityValue {
  const text = cell.trim();
  if (text === '') return { type: 'none' };
  if (PLAIN_NUMBER.test(text)) {
    const number = Number(text);
    return Number.isFinite(number) ? { type: 'number', number } : { type: 'unclear' };
  }
  if (BEGINS_WITH_NUMBER.test(text) && !ISO_DATE.test(text)) return { type: 'unclear' };
  return { type: 'word', word: text.normalize('NFKC').toLowerCase() };
}
