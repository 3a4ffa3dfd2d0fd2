/** Makes identifiers of cells and rows, by the kinds of the chosen columns. */
import {
  type Identified,
  type Identifier,
  type IdentifierKind,
  identifyIsin,
  isMistypedIsin,
  readIsin,
  type Unidentified,
} from '../../core/identifier.js';
import { asIdentifier, BLANK, cleanCell, invalid, isBlank, skipBlank } from './clean-cell.js';
import type { ColumnChoice } from './find-column.js';
import { identifyDomain, mentionsDomain } from './identify-domain.js';
import { coinOfMarket, readBloomberg } from './known-symbols.js';

/** Kinds whose values can be checked; nearly any text may be of another kind. */
export const CHECKED_KINDS: ReadonlySet<IdentifierKind> = new Set(['domain', 'isin', 'id'] as const);

/** Returns an identifier in normal form, or a reason, which never quotes the private cell. */
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
      return identifyAuto(cleaned);
  }
}

/** A web or e-mail address, or a host that says `www`; `WWW` alone is a symbol: `WWW.L`. */
const CERTAIN_DOMAIN = /@|:\/\/|^www\.(?![a-z]{1,2}$)|^\/\/|^mailto:/i;
/** Longer suffixes (`.com`, `.shop`) are not those of exchanges. */
const LONGEST_EXCHANGE_SUFFIX = 2;
/** One suffix, or a share class before it (`RCI.B.TO`); a longer host is a domain: `ACME.CO.UK`. */
const WRITTEN_LIKE_TICKER = /^[A-Z0-9-]+(?:\.[A-Z])?\.[A-Z0-9-]+$/;

/**
 * A symbol by its shape, with an exchange of one or two letters after a dot (`VOD.L`, `0700.HK`;
 * help.yahoo.com/kb/SLN2310.html), or a share class of one letter (`BF-B`): two would fit `EN-US`.
 * Digits alone are a number.
 */
const CERTAIN_SYMBOL = /^(?:[A-Z0-9]{1,6}\.[A-Z]{1,2}|(?=\d*[A-Z])[A-Z0-9]{1,6}(?:-[A-Z])?)$/;

/** Letters after a blank are words: `Acme No AG 0049` would fit an ISIN otherwise. */
const HAS_WORD = /^[A-Z]{3,}(?=[ -])|[ -][A-Z]+(?=[ -]|$)/i;

function isWrittenAsIsin(text: string): boolean {
  if (readIsin(text) === null && !isMistypedIsin(text)) return false;
  return !HAS_WORD.test(text.replace(/^ISIN[ :.#-]*/i, ''));
}

/** Identifies a cell by its shape. Never returns kind `auto` for free text or a text with `@`. */
function identifyAuto(cleaned: string): Identified {
  const text = withoutCashtag(cleaned);
  const blank = skipBlank(text, 'auto');
  if (blank !== null) return blank;
  if (isCertainBrandId(text)) return identifyBrandId(text);
  if (isWrittenAsIsin(text)) return identifyIsin(text);
  const asDomain = identifyDomain(text);
  if (CERTAIN_DOMAIN.test(text)) return asDomain;
  if (asDomain.type === 'identifier') return openDomain(text, asDomain);
  // A `$` before a digit is an amount (`$5M`).
  if (CERTAIN_SYMBOL.test(text) && (text === cleaned || /^[A-Z]/.test(text))) {
    return asIdentifier('auto', text);
  }
  if (mentionsDomain(text)) return asDomain;
  if (/^\d+$/.test(text)) return invalid({ code: 'open_number' });
  if (isPossibleBrandId(text)) return invalid({ code: 'open_id' });
  const capitals = text.toUpperCase();
  const isLowerCase = text !== capitals && CERTAIN_SYMBOL.test(capitals);
  return invalid({ code: isLowerCase ? 'open_lower_case' : 'not_recognised' });
}

/** Returns kind `auto` for a bare host that may be a ticker with its exchange (`SAP.DE`). */
function openDomain(cleaned: string, read: Identified & { type: 'identifier' }): Identified {
  const domain = read.identifier.value;
  if (domain.length - domain.lastIndexOf('.') - 1 > LONGEST_EXCHANGE_SUFFIX) return read;
  const symbol = cleaned.replace(/^\.+|(?<!\.)\.+$/g, '');
  return WRITTEN_LIKE_TICKER.test(symbol) ? asIdentifier('auto', symbol) : read;
}

/** Longer than any symbol of an exchange; longer texts are names. */
const LONGEST_SYMBOL = 32;
/** Real ones: `BRK.B`, `BF-B`, `M&M`, `AGO$F`, `^GSPC`, `BRK/B`, `GC=F`, `NYSE:GE`. */
const TICKER = /^[A-Z0-9.^&/$=:+*!_~-]+$/;
/** A ticker in capitals with a share class or an exchange; other words with blanks are text. */
const TICKER_OF_TWO = /^[A-Z0-9.&/-]{1,10} [A-Z]{1,2}(?: E(?:quity|QUITY))?$/;
/** Coins in any script, but without marks, whose upper case and composed forms disagree. */
const CRYPTO = /^[\p{L}\p{N} .^&/$=:+*!_~-]+$/u;
/** A boolean of JSON, or a path segment (`..`) that a proxy would resolve. */
const NEVER_SYMBOL = /^(?:true|false)$|(?:^|\/)\.\.?(?:\/|$)/;
const SEPARATOR = /[,;|\n\r\t]/;
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** Returns the symbol in upper case, without the `$` that people write before it. */
function identifySymbol(cleaned: string, kind: 'ticker' | 'crypto'): Identified {
  if (cleaned.includes('@')) return invalid({ code: 'email_as_symbol', kind });
  if (cleaned.includes('://')) return invalid({ code: 'url_as_symbol', kind });
  if (SEPARATOR.test(cleaned)) return invalid({ code: 'several_symbols', kind });
  // Some letters have two lower-case forms: `ẞ` and `ß` are `SS`.
  const written = withoutCashtag(cleaned);
  const symbol = written.toLowerCase().toUpperCase().normalize('NFC');
  const value = (kind === 'ticker' ? readBloomberg(written) : null) ?? symbol;
  if (value.length > LONGEST_SYMBOL) return invalid({ code: 'long_symbol', kind, most: LONGEST_SYMBOL });
  const isTicker = TICKER.test(value) || TICKER_OF_TWO.test(written);
  const isSymbol = HAS_LETTER_OR_DIGIT.test(value) && (kind === 'ticker' ? isTicker : CRYPTO.test(value));
  if (!isSymbol || NEVER_SYMBOL.test(written)) return invalid({ code: 'not_symbol', kind });
  const blank = skipBlank(value, kind);
  if (blank !== null) return blank;
  return readIsin(value) === null ? asIdentifier(kind, value) : invalid({ code: 'isin_as_symbol', kind });
}

/** Removes the `$` of `$AAPL`: no symbol of an exchange begins with it. */
function withoutCashtag(cleaned: string): string {
  return cleaned.replace(/^[$ ]+/, '');
}

/** True for a brand id with the prefix of the specification, which counts in any column. */
export function isCertainBrandId(cleaned: string): boolean {
  return /^id_[A-Za-z0-9_-]{1,61}$/.test(cleaned);
}

/** True for the brand ids of a live service too, which count in a column of brand ids. */
export function isPossibleBrandId(cleaned: string): boolean {
  return isCertainBrandId(cleaned) || /^id[A-Za-z0-9_-]{8}$/.test(cleaned);
}

function identifyBrandId(cleaned: string): Identified {
  return isPossibleBrandId(cleaned) ? asIdentifier('id', cleaned) : invalid({ code: 'not_id' });
}

interface IdentifiedRow {
  /** In column order, without duplicates. Without `--waterfall` only the first counts. */
  readonly identifiers: readonly Identifier[];
  /** Counts without an identifier: the first invalid cell, else the most telling skip. */
  readonly otherwise: Unidentified;
  /** The text of that cell. */
  readonly cell: string;
  /** True if a used cell has several identifiers. */
  readonly hasSeveral: boolean;
}

/** Identifies a row. Missing cells of a short row count as blank. */
export function identifyRow(cells: readonly string[], choices: readonly ColumnChoice[]): IdentifiedRow {
  const identifiers: Identifier[] = [];
  let otherwise: Unidentified | null = null;
  let cell = '';
  let hasSeveral = false;
  for (const { column, kind, areMarkets } of choices) {
    const written = cells[column] ?? '';
    const text = (areMarkets ? coinOfMarket(cleanCell(written).toUpperCase()) : null) ?? written;
    const identified = identifyCell(text, kind);
    if (identified.type === 'identifier') {
      const { identifier } = identified;
      if (identified.hasSeveral) hasSeveral = true;
      if (!identifiers.some((known) => known.kind === identifier.kind && known.value === identifier.value)) {
        identifiers.push(identifier);
      }
    } else if (isMoreTelling(identified, otherwise)) {
      otherwise = identified;
      cell = text;
    }
  }
  return { identifiers, otherwise: otherwise ?? BLANK, cell, hasSeveral };
}

/** Prefers invalid cells to skips, and skips with a cause to blanks; keeps the first of equals. */
function isMoreTelling(next: Unidentified, current: Unidentified | null): boolean {
  if (current === null) return true;
  if (current.type === 'invalid') return false;
  return next.type === 'invalid' || (isBlank(current) && !isBlank(next));
}
