/** Identifiers: their kinds, their text form, and the check of ISINs. */
import type { RowReason } from './row-reason.js';

/** The kinds of identifier; `auto` goes by shape, and leaves unclear values to the service. */
export const IDENTIFIER_KINDS = ['domain', 'ticker', 'isin', 'crypto', 'id', 'auto'] as const;
export type IdentifierKind = (typeof IDENTIFIER_KINDS)[number];

/** Plurals of the kinds, for people. */
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

/** What the cells of a row hold, found without any lookup. */
export type Identified =
  | {
      readonly type: 'identifier';
      readonly identifier: Identifier;
      /** Set if the cell holds several; this is the first. */
      readonly hasSeveral?: true;
    }
  | Unidentified;

/** `invalid`: cannot be looked up. `skipped`: blank, or would buy a wrong brand (free mail). */
export interface Unidentified {
  readonly type: 'invalid' | 'skipped';
  readonly reason: RowReason;
}

/** Returns an identifier as `kind:value`. Only the value may itself contain `:`. */
export function identifierText(identifier: Identifier): string {
  return `${identifier.kind}:${identifier.value}`;
}

/** Reverses {@link identifierText}; null for any other text. */
export function readIdentifierText(text: string): Identifier | null {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? undefined : IDENTIFIER_KINDS.find((each) => each === text.slice(0, colon));
  return kind === undefined ? null : { kind, value: text.slice(colon + 1) };
}

/** Reverses {@link identifierText}. Throws a plain `Error` for any other text. */
export function parseIdentifierText(text: string): Identifier {
  const identifier = readIdentifierText(text);
  if (identifier === null) throw new Error(`not an identifier text: ${text}`);
  return identifier;
}

// ISIN (ISO 6166). Prefixes need not be countries: XS, XC, XF, QS, EU and AN are real.
const SHAPE = /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/;
const LABEL = /^ISIN(?:[ :.#-]+|(?=[A-Z]{2}[A-Z0-9]{9}[0-9]$))/;
const LETTER_OFFSET = 55;

/** True for an ISIN in upper case with the right check digit. */
export function isIsin(text: string): boolean {
  return SHAPE.test(text) && hasCheckDigit(text);
}

/** Checks the Luhn sum, each letter expanded to two digits (ISO 6166, annex C). */
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

/** Returns upper case without blanks, dashes and a leading `ISIN`; checks nothing. */
function compact(cleaned: string): string {
  return cleaned.toUpperCase().replace(LABEL, '').replace(/[ -]/g, '');
}

/** Returns the ISIN in normal form; null for any other text. `cleaned` comes from `cleanCell`. */
export function readIsin(cleaned: string): string | null {
  if (cleaned.length < 12 || cleaned.length > 32) return null;
  const isin = compact(cleaned);
  return isIsin(isin) ? isin : null;
}

/** True for an ISIN with a wrong check digit: mistyped, not of another kind. */
export function isMistypedIsin(cleaned: string): boolean {
  const isin = compact(cleaned);
  return SHAPE.test(isin) && !hasCheckDigit(isin);
}

export function identifyIsin(cleaned: string): Identified {
  const value = readIsin(cleaned);
  if (value !== null) return { type: 'identifier', identifier: { kind: 'isin', value } };
  return { type: 'invalid', reason: { code: isMistypedIsin(cleaned) ? 'mistyped_isin' : 'not_isin' } };
}
