/** ISIN (ISO 6166). Prefixes need not be countries: XS, XC, XF, QS, EU and AN are real. */
import type { Identified } from './identifier.js';

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
