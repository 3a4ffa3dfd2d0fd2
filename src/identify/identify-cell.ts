/**
 * Cell -> identifier, by the kind of its column, and row -> identifiers. Cells of kind `auto` get
 * their own kind when that is certain locally; the rest stays `auto` and the service decides, since
 * more than half of all exchange suffixes are top-level domains too (`SAP.DE`, `BHP.AX`).
 */
import type { Identified, Identifier, IdentifierKind } from '../core/identifier.js';
import { identifyIsin, isMistypedIsin, readIsin } from '../core/isin.js';
import { cleanCell, isBlank, skipBlank } from './clean-cell.js';
import type { ColumnChoice } from './find-column.js';
import { identifyDomain, mentionsDomain } from './identify-domain.js';

/**
 * Never throws, whatever the text. Values are in normal form: identifying one again with the same
 * kind gives the same identifier. Reasons are plain words for the user and never quote the cell, so
 * nothing private leaks into reports; `auto` answers the kind that is certain locally, else kind
 * `auto`.
 */
export function identifyCell(text: string, kind: IdentifierKind): Identified {
  const cleaned = cleanCell(text);
  return skipBlank(cleaned, kind) ?? identifyCleaned(cleaned, kind);
}

function identifyCleaned(cleaned: string, kind: IdentifierKind): Identified {
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

/** A web address, an e-mail address, or a host that says `www`. */
const CERTAIN_DOMAIN = /@|:\/\/|^www\.|^\/\/|^mailto:/i;
/**
 * Longer top-level domains (`.com`, `.shop`) are no exchange suffix, unless in capitals
 * (`BHP.ASX`).
 */
export const LONGEST_EXCHANGE_SUFFIX = 2;
const WRITTEN_LIKE_TICKER = /^[A-Z0-9.-]+$/;

/** `cell` comes from `cleanCell`. Nothing with an `@` in it ever leaves as `auto`. */
function identifyAuto(cell: string): Identified {
  const cleaned = withoutCashtag(cell);
  const blank = skipBlank(cleaned, 'auto');
  if (blank !== null) return blank;
  if (isCertainBrandId(cleaned)) return identifyBrandId(cleaned);
  if (readIsin(cleaned) !== null || isMistypedIsin(cleaned)) return identifyIsin(cleaned);
  const asDomain = identifyDomain(cleaned);
  if (CERTAIN_DOMAIN.test(cleaned)) return asDomain;
  if (asDomain.type === 'identifier') return openDomain(cleaned, asDomain.identifier.value);
  if (isPossibleBrandId(cleaned)) return auto(cleaned);
  if (mentionsDomain(cleaned)) return asDomain;
  const asSymbol = identifySymbol(cleaned, 'crypto');
  if (asSymbol.type === 'identifier') return auto(asSymbol.identifier.value);
  return { type: 'invalid', reason: 'not a domain, ticker, ISIN, crypto symbol or brand id' };
}

/**
 * A bare host is a domain when its suffix is too long for an exchange's. Else it stays open: in
 * capitals as it stands, for it may be a ticker, otherwise as the registrable domain, so that two
 * spellings are one identifier.
 */
function openDomain(cleaned: string, domain: string): Identified {
  const topLevel = domain.slice(domain.lastIndexOf('.') + 1);
  if (topLevel.length > LONGEST_EXCHANGE_SUFFIX)
    return { type: 'identifier', identifier: { kind: 'domain', value: domain } };
  return auto(WRITTEN_LIKE_TICKER.test(cleaned) ? cleaned.replace(/^\.+|\.+$/g, '') : domain);
}

function auto(value: string): Identified {
  return { type: 'identifier', identifier: { kind: 'auto', value } };
}

type SymbolKind = 'ticker' | 'crypto';

/** Longer than any symbol of an exchange; longer texts are names. */
const LONGEST_SYMBOL = 32;
/**
 * Real tickers: `BRK.B`, `BF-B`, `M&M`, `0700.HK`, `AGO$F`, `^GSPC`, `BRK/B`, `GC=F`, `NYSE:GE`,
 * `BRK B`.
 */
const TICKER = /^[A-Z0-9 .^&/$=:+*!_~-]+$/;
/**
 * Names of coins may be in any script; marks are left out because upper case and composed forms of
 * them disagree.
 */
const CRYPTO = /^[\p{L}\p{N} .^&/$=:+*!_~-]+$/u;
const SEPARATOR = /[,;|\n\r\t]/;
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * `cleaned` comes from `cleanCell`; the value is upper case, without the `$` that people write
 * before symbols.
 */
function identifySymbol(cleaned: string, kind: SymbolKind): Identified {
  if (cleaned.includes('@')) return invalid(`an e-mail address, not a ${word(kind)}`);
  if (cleaned.includes('://')) return invalid(`a web address, not a ${word(kind)}`);
  if (SEPARATOR.test(cleaned)) return invalid(`several values in one cell, not one ${word(kind)}`);
  const value = withoutCashtag(cleaned).toUpperCase();
  if (value.length > LONGEST_SYMBOL)
    return invalid(`longer than ${LONGEST_SYMBOL} characters, not a ${word(kind)}`);
  if (!HAS_LETTER_OR_DIGIT.test(value) || !(kind === 'ticker' ? TICKER : CRYPTO).test(value)) {
    return invalid(`not a ${word(kind)}`);
  }
  // Such a segment would be another path for whoever decodes it on the way.
  if (value.split('/').some((part) => part === '.' || part === '..')) return invalid(`not a ${word(kind)}`);
  const blank = skipBlank(value, kind);
  if (blank !== null) return blank;
  if (readIsin(value) !== null) return invalid(`an ISIN, not a ${word(kind)}`);
  return { type: 'identifier', identifier: { kind, value } };
}

/** People write `$AAPL`; no symbol of an exchange begins with the sign. */
function withoutCashtag(cleaned: string): string {
  return cleaned.replace(/^[$ ]+/, '');
}

function word(kind: SymbolKind): string {
  return kind === 'ticker' ? 'ticker' : 'crypto symbol';
}

function invalid(reason: string): Identified {
  return { type: 'invalid', reason };
}

/**
 * Specification, "Endpoints": the prefix `id_` followed by characters. The longest accepted here is
 * 64.
 */
const CERTAIN = /^id_[A-Za-z0-9_-]{1,61}$/;
/** Seen in answers of a live service. */
const IN_THE_WILD = /^id[A-Za-z0-9_-]{8}$/;

/** A brand id whatever the column says. */
export function isCertainBrandId(cleaned: string): boolean {
  return CERTAIN.test(cleaned);
}

/** A brand id if the column holds brand ids. */
export function isPossibleBrandId(cleaned: string): boolean {
  return CERTAIN.test(cleaned) || IN_THE_WILD.test(cleaned);
}

function identifyBrandId(cleaned: string): Identified {
  if (isPossibleBrandId(cleaned)) return { type: 'identifier', identifier: { kind: 'id', value: cleaned } };
  return {
    type: 'invalid',
    reason: 'not a brand id (id_ and more, or id and eight characters; case matters)',
  };
}

interface IdentifiedRow {
  /**
   * Every identifier of the row in column order, equal ones once. Without `--waterfall` the first
   * counts alone.
   */
  readonly identifiers: readonly Identifier[];
  /**
   * What the row comes to when there is no identifier: the first invalid cell, else the most
   * telling skip.
   */
  readonly otherwise: Identified;
}

/** Cells beyond the end of a short row count as blank. */
export function identifyRow(cells: readonly string[], choices: readonly ColumnChoice[]): IdentifiedRow {
  const identifiers: Identifier[] = [];
  let otherwise: Identified | null = null;
  for (const { column, kind } of choices) {
    const identified = identifyCell(cells[column] ?? '', kind);
    if (identified.type === 'identifier') {
      const { identifier } = identified;
      if (!identifiers.some((known) => known.kind === identifier.kind && known.value === identifier.value)) {
        identifiers.push(identifier);
      }
    } else if (isMoreTelling(identified, otherwise)) {
      otherwise = identified;
    }
  }
  return { identifiers, otherwise: otherwise ?? identifyCell('', 'auto') };
}

/**
 * An invalid cell over a skipped one, a skip with a cause over a blank; the first of equals stays.
 */
function isMoreTelling(found: Identified, known: Identified | null): boolean {
  if (known === null) return true;
  if (known.type === 'invalid') return false;
  return found.type === 'invalid' || (isBlank(known) && !isBlank(found));
}
