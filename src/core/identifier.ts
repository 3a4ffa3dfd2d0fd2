/** Identifiers: their kinds and texts, and the check of ISINs. */
import type { RowReason } from './row-reason.js';

/** The kinds of identifier. `auto`: each value by its shape, and the service where that is open. */
export const IDENTIFIER_KINDS = ['domain', 'ticker', 'isin', 'crypto', 'id', 'auto'] as const;
export type IdentifierKind = (typeof IDENTIFIER_KINDS)[number];

/** Values of each kind, for people. */
export const KIND_WORDS: Readonly<Record<IdentifierKind, string>> = {
  domain: 'domains',
  ticker: 'tickers',
  isin: 'ISINs',
  crypto: 'crypto symbols',
  id: 'brand ids',
  auto: 'identifiers',
};

/** A normalised, typed key. Two rows with an equal identifier are paid for once. */
export interface Identifier {
  readonly kind: IdentifierKind;
  /** Normal form: punycode registrable domain, upper-case ISIN, ticker and symbol, brand id. */
  readonly value: string;
}

/** The result of reading the cells of one row, before any lookup. */
export type Identified =
  | {
      readonly type: 'identifier';
      readonly identifier: Identifier;
      /** The cell holds more than one; this is the first. */
      readonly hasSeveral?: true;
    }
  | Unidentified;

/** `invalid`: never looked up. `skipped`: blank, or the wrong brand would be bought (free mail). */
export interface Unidentified {
  readonly type: 'invalid' | 'skipped';
  readonly reason: RowReason;
}

/** The text form of an identifier, `kind:value`. Only the value may itself contain `:`. */
export function identifierText(identifier: Identifier): string {
  return `${identifier.kind}:${identifier.value}`;
}

/** Reverses {@link identifierText}; null: it is not such a text. */
export function readIdentifierText(text: string): Identifier | null {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? undefined : IDENTIFIER_KINDS.find((each) => each === text.slice(0, colon));
  return kind === undefined ? null : { kind, value: text.slice(colon + 1) };
}

/** The same for a text of ours. Throws a plain `Error` on any other. */
export function parseIdentifierText(text: string): Identifier {
  const identifier = readIdentifierText(text);
  if (identifier === null) throw new Error(`not an identifier text: ${text}`);
  return identifier;
}

// ISIN (ISO 6166). Prefixes need not be countries: XS, XC, XF, QS, EU and AN are real.
const SHAPE = /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/;
const LABEL = /^ISIN(?:[ :.#-]+|(?=[A-Z]{2}[A-Z0-9]{9}[0-9]$))/;
const LETTER_OFFSET = 55;

/** Whether the text is an ISIN in upper case with the right check digit. */
export function isIsin(text: string): boolean {
  return SHAPE.test(text) && hasCheckDigit(text);
}

/** Luhn over the digits, letters expanded to two (ISO 6166, annex C). */
function hasCheckDigit(isin: string): boolean {
  const digits = isin.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - LETTER_OFFSET));
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const weight = (digits.length - at) % 2 === 0 ? 2 : 1;
    const weighed = Number(digits[at]) * weight;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}

/** Upper case without blanks, dashes and a word `ISIN` in front; not checked. */
function compact(cleaned: string): string {
  return cleaned.toUpperCase().replace(LABEL, '').replace(/[ -]/g, '');
}

/** The ISIN in normal form, null when the text is not one. `cleaned` comes from `cleanCell`. */
export function readIsin(cleaned: string): string | null {
  if (cleaned.length < 12 || cleaned.length > 32) return null;
  const isin = compact(cleaned);
  return isIsin(isin) ? isin : null;
}

/** Whether it has the shape of an ISIN but a wrong check digit: mistyped, not another kind. */
export function isMistypedIsin(cleaned: string): boolean {
  const isin = compact(cleaned);
  return SHAPE.test(isin) && !hasCheckDigit(isin);
}

export function identifyIsin(cleaned: string): Identified {
  const value = readIsin(cleaned);
  if (value !== null) return { type: 'identifier', identifier: { kind: 'isin', value } };
  return { type: 'invalid', reason: { code: isMistypedIsin(cleaned) ? 'mistyped_isin' : 'not_isin' } };
}
