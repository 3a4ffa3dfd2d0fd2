/**
 * ISIN: two letters, nine alphanumerics, a check digit (ISO 6166). Prefixes are never compared with
 * a list of countries: XS, XC, XF, QS, EU and AN are all real.
 */
import type { Identified } from './identifier.js';

const SHAPE = /^[A-Z]{2}[A-Z0-9]{9}[0-9]$/;
const LABEL = /^ISIN(?:[ :.#-]+|(?=[A-Z]{2}[A-Z0-9]{9}[0-9]$))/;
const CODE_OF_ZERO = 48;
const CODE_OF_NINE = 57;
/** A is 10, B is 11 and so on to Z, 35. */
const LETTER_OFFSET = 55;

/**
 * The check digit, 0 to 9, of the first eleven characters (two letters, then nine of `0-9A-Z`; not
 * checked): Luhn over the digits, letters expanded to two (ISO 6166, annex C).
 */
function isinCheckDigit(first11: string): number {
  let sum = 0;
  let isDoubled = true;
  const add = (digit: number) => {
    const weighed = isDoubled ? digit * 2 : digit;
    sum += weighed > 9 ? weighed - 9 : weighed;
    isDoubled = !isDoubled;
  };
  for (let index = first11.length - 1; index >= 0; index -= 1) {
    const code = first11.charCodeAt(index);
    if (code <= CODE_OF_NINE) {
      add(code - CODE_OF_ZERO);
    } else {
      const expanded = code - LETTER_OFFSET;
      add(expanded % 10);
      add(Math.floor(expanded / 10));
    }
  }
  return (10 - (sum % 10)) % 10;
}

/** Whether the text is an ISIN in upper case with the right check digit. */
export function isIsin(text: string): boolean {
  return SHAPE.test(text) && isinCheckDigit(text.slice(0, 11)) === Number(text[11]);
}

/** Upper case without blanks, dashes and a word `ISIN` in front; not checked. */
function compact(cleaned: string): string {
  return cleaned.toUpperCase().replace(LABEL, '').replace(/[ -]/g, '');
}

/** The ISIN in normal form, null when the text is none. `cleaned` comes from `cleanCell`. */
export function readIsin(cleaned: string): string | null {
  if (cleaned.length < 12 || cleaned.length > 32) return null;
  const isin = compact(cleaned);
  return isIsin(isin) ? isin : null;
}

/**
 * Whether the text has the shape of an ISIN and its check digit is wrong: a typing error, not
 * another kind.
 */
export function isMistypedIsin(cleaned: string): boolean {
  const isin = compact(cleaned);
  return SHAPE.test(isin) && !isIsin(isin);
}

export function identifyIsin(cleaned: string): Identified {
  const value = readIsin(cleaned);
  if (value !== null) return { type: 'identifier', identifier: { kind: 'isin', value } };
  const reason = isMistypedIsin(cleaned)
    ? 'the check digit of the ISIN is wrong'
    : 'not an ISIN (two letters, nine letters or digits, a check digit)';
  return { type: 'invalid', reason };
}
