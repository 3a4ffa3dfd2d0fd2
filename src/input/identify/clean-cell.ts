/** Removes what people cannot see in a cell, and recognises texts that mean "nothing here". */
import type { Identified, IdentifierKind, Unidentified } from '../../core/identifier.js';
import type { RowReason } from '../../core/row-reason.js';

/** Printable ASCII that no rule below changes, as in nearly every cell. */
const PLAIN = /^[!#-&(-_a-~]+$/;
/** Soft hyphen, zero-width space, direction marks, word joiner and its kin, byte-order mark. */
const INVISIBLE = /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;
/** Persian and Indic names need these two, so they are removed from ASCII texts only. */
const JOINERS = /[\u200c\u200d]/g;
const ODD_BLANKS = /[\p{Zs}]+/gu;
/** Quoted text, also as a formula of spreadsheets: `="007"`. */
const QUOTED = /^=?(["'`])(.*)\1$/s;

/** Returns the visible text in plain forms, with line breaks and tabs, which separate values. */
export function cleanCell(text: string): string {
  if (PLAIN.test(text)) return text;
  const joined = text.replace(INVISIBLE, '').normalize('NFKC').replace(ODD_BLANKS, ' ').trim();
  const parted = joined.replace(JOINERS, '').replace(ODD_BLANKS, ' ').trim();
  const plain = /^\p{ASCII}*$/u.test(parted) ? parted : joined;
  // Spreadsheets mark a cell as text with one apostrophe in front.
  return (QUOTED.exec(plain)?.[2] ?? plain.replace(/^'/, '')).trim();
}

/** Written for "nothing" in every kind of column; compared in lower case. */
const PLACEHOLDERS = new Set(
  (
    '-|--|---|–|—|_|?|/|n/a|n.a.|n.a|n/a.|n / a|n/v|k.a.|k. a.|#n/a|#n/v|#nv|#ref!|#name?|#value!|#wert!|' +
    '#bezug!|#null!|#div/0!|(null)|(none)|(blank)|(empty)|<null>|\\n|[]|{}|not available|not applicable|' +
    'no website'
  ).split('|'),
);
const LONGEST_PLACEHOLDER = 14;

/** Written for "nothing", and real symbols too (National Bank of Canada trades as NA). */
const PLACEHOLDERS_OR_SYMBOLS = new Set('na null none nil nan tbd tba unknown undefined'.split(' '));

export const BLANK: Unidentified = { type: 'skipped', reason: { code: 'blank' } };
const PLACEHOLDER: Unidentified = { type: 'skipped', reason: { code: 'placeholder' } };

/**
 * Returns the skip for a cleaned cell without content, or null. In a column of tickers or coins,
 * `NA`, `NULL` and the like in capitals are symbols.
 */
export function skipBlank(cleaned: string, kind: IdentifierKind): Unidentified | null {
  if (cleaned === '') return BLANK;
  if (cleaned.length > LONGEST_PLACEHOLDER) return null;
  const lower = cleaned.toLowerCase();
  if (PLACEHOLDERS.has(lower)) return PLACEHOLDER;
  if (!PLACEHOLDERS_OR_SYMBOLS.has(lower)) return null;
  const isSymbol = (kind === 'ticker' || kind === 'crypto') && cleaned === cleaned.toUpperCase();
  return isSymbol ? null : PLACEHOLDER;
}

/** True for a blank cell; false for one whose content is skipped. */
export function isBlank(identified: Identified): boolean {
  return identified === BLANK || identified === PLACEHOLDER;
}

export function asIdentifier(kind: IdentifierKind, value: string): Identified {
  return { type: 'identifier', identifier: { kind, value } };
}

export function invalid(reason: RowReason): Unidentified {
  return { type: 'invalid', reason };
}
