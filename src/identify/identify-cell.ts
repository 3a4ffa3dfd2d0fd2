/**
 * Cell -> identifier, by the kind of its column, and row -> identifiers. Cells of kind `auto` get
 * their own kind when that is certain locally; the rest stays `auto` and the service decides, since
 * more than half of all exchange suffixes are top-level domains too (`SAP.DE`, `BHP.AX`).
 */
import type { Identified, Identifier, IdentifierKind } from '../core/identifier.js';
import { identifyIsin, isMistypedIsin, readIsin } from '../core/isin.js';
import { asIdentifier, cleanCell, invalid, isBlank, skipBlank } from './clean-cell.js';
import type { ColumnChoice } from './find-column.js';
import { identifyDomain, mentionsDomain } from './identify-domain.js';

/** Their values can be checked; nearly any text may be one of the other kinds. */
export const CHECKED_KINDS: ReadonlySet<IdentifierKind> = new Set(['domain', 'isin', 'id'] as const);

/**
 * Never throws. Values are in normal form: identifying one again with the same kind gives the same
 * identifier. Reasons never quote the cell, so nothing private leaks into reports.
 */
export function identifyCell(text: string, kind: IdentifierKind): Identified {
  const cleaned = cleanCell(text);
  const blank = skipBlank(cleaned, kind);
  if (blank !== null) return blank;
  switch (kind) {
    case 'domain':
      return identifyDomain(cleaned);
    case 'isin':
      return identifyIsin(cleaned);
    case 'ticker':
    case 'crypto':
      return identifySymbol(cleaned, kind);
    case 'id':
      return identifyBrandId(cleaned);
    case 'auto':
      return identifyAuto(withoutCashtag(cleaned));
  }
}

/** A web address, an e-mail address, or a host that says `www`. */
const CERTAIN_DOMAIN = /@|:\/\/|^www\.|^\/\/|^mailto:/i;
/** Longer suffixes (`.com`, `.shop`) are no exchange's, unless in capitals (`BHP.ASX`). */
const LONGEST_EXCHANGE_SUFFIX = 2;
const WRITTEN_LIKE_TICKER = /^[A-Z0-9.-]+$/;

/** Nothing with an `@` in it ever leaves as `auto`. */
function identifyAuto(cleaned: string): Identified {
  const blank = skipBlank(cleaned, 'auto');
  if (blank !== null) return blank;
  if (isCertainBrandId(cleaned)) return identifyBrandId(cleaned);
  if (readIsin(cleaned) !== null || isMistypedIsin(cleaned)) return identifyIsin(cleaned);
  const asDomain = identifyDomain(cleaned);
  if (CERTAIN_DOMAIN.test(cleaned)) return asDomain;
  if (asDomain.type === 'identifier') return openDomain(cleaned, asDomain);
  if (isPossibleBrandId(cleaned)) return asIdentifier('auto', cleaned);
  if (mentionsDomain(cleaned)) return asDomain;
  const asSymbol = identifySymbol(cleaned, 'crypto');
  if (asSymbol.type === 'identifier') return asIdentifier('auto', asSymbol.identifier.value);
  return invalid('not a domain, ticker, ISIN, crypto symbol or brand id');
}

/**
 * A bare host is a domain when its suffix is too long for an exchange's. Else it stays open: in
 * capitals as it stands, for it may be a ticker, otherwise as the registrable domain, so that two
 * spellings are one identifier.
 */
function openDomain(cleaned: string, read: Identified & { type: 'identifier' }): Identified {
  const domain = read.identifier.value;
  if (domain.length - domain.lastIndexOf('.') - 1 > LONGEST_EXCHANGE_SUFFIX) return read;
  return asIdentifier('auto', WRITTEN_LIKE_TICKER.test(cleaned) ? cleaned.replace(/^\.+|\.+$/g, '') : domain);
}

/** Longer than any symbol of an exchange; longer texts are names. */
const LONGEST_SYMBOL = 32;
/** Real ones: `BRK.B`, `BF-B`, `M&M`, `AGO$F`, `^GSPC`, `BRK/B`, `GC=F`, `NYSE:GE`, `BRK B`. */
const TICKER = /^[A-Z0-9 .^&/$=:+*!_~-]+$/;
/** Coins in any script; without marks, whose upper case and composed forms disagree. */
const CRYPTO = /^[\p{L}\p{N} .^&/$=:+*!_~-]+$/u;
const SEPARATOR = /[,;|\n\r\t]/;
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** The value is upper case, without the `$` that people write before symbols. */
function identifySymbol(cleaned: string, kind: 'ticker' | 'crypto'): Identified {
  const word = kind === 'ticker' ? 'ticker' : 'crypto symbol';
  if (cleaned.includes('@')) return invalid(`an e-mail address, not a ${word}`);
  if (cleaned.includes('://')) return invalid(`a web address, not a ${word}`);
  if (SEPARATOR.test(cleaned)) return invalid(`several values in one cell, not one ${word}`);
  // Some letters have two lower-case forms: `ẞ` and `ß` are `SS`.
  const value = withoutCashtag(cleaned).toLowerCase().toUpperCase().normalize('NFC');
  if (value.length > LONGEST_SYMBOL) {
    return invalid(`longer than ${LONGEST_SYMBOL} characters, not a ${word}`);
  }
  const isSymbol = HAS_LETTER_OR_DIGIT.test(value) && (kind === 'ticker' ? TICKER : CRYPTO).test(value);
  // A proxy that decodes such a segment would see another path.
  if (!isSymbol || /(?:^|\/)\.\.?(?:\/|$)/.test(value)) return invalid(`not a ${word}`);
  const blank = skipBlank(value, kind);
  if (blank !== null) return blank;
  return readIsin(value) === null ? asIdentifier(kind, value) : invalid(`an ISIN, not a ${word}`);
}

/** People write `$AAPL`; no symbol of an exchange begins with the sign. */
function withoutCashtag(cleaned: string): string {
  return cleaned.replace(/^[$ ]+/, '');
}

/** A brand id in any column: with the prefix of the specification. */
export function isCertainBrandId(cleaned: string): boolean {
  return /^id_[A-Za-z0-9_-]{1,61}$/.test(cleaned);
}

/** A brand id if the column holds brand ids, as a live service answers them. */
export function isPossibleBrandId(cleaned: string): boolean {
  return isCertainBrandId(cleaned) || /^id[A-Za-z0-9_-]{8}$/.test(cleaned);
}

function identifyBrandId(cleaned: string): Identified {
  return isPossibleBrandId(cleaned)
    ? asIdentifier('id', cleaned)
    : invalid('not a brand id (id_ and more, or id and eight characters; case matters)');
}

interface IdentifiedRow {
  /** In column order, equal ones once. Without `--waterfall` the first counts alone. */
  readonly identifiers: readonly Identifier[];
  /** Where there is none: the first invalid cell, else the most telling skip; and its text. */
  readonly otherwise: Identified;
  readonly cell: string;
}

/** Cells beyond the end of a short row count as blank. */
export function identifyRow(cells: readonly string[], choices: readonly ColumnChoice[]): IdentifiedRow {
  const identifiers: Identifier[] = [];
  let otherwise: Identified | null = null;
  let cell = '';
  for (const { column, kind } of choices) {
    const text = cells[column] ?? '';
    const identified = identifyCell(text, kind);
    if (identified.type === 'identifier') {
      const { identifier } = identified;
      if (!identifiers.some((known) => known.kind === identifier.kind && known.value === identifier.value)) {
        identifiers.push(identifier);
      }
    } else if (isMoreTelling(identified, otherwise)) {
      otherwise = identified;
      cell = text;
    }
  }
  return { identifiers, otherwise: otherwise ?? identifyCell('', 'auto'), cell };
}

/** An invalid cell over a skip, a skip with a cause over a blank; the first of equals stays. */
function isMoreTelling(found: Identified, known: Identified | null): boolean {
  if (known === null) return true;
  if (known.type === 'invalid') return false;
  return found.type === 'invalid' || (isBlank(known) && !isBlank(found));
}
