/**
 * Tickers and crypto symbols. Nothing in a symbol tells whether it is real, or which of the two it is (META, LINK, ETH
 * and DASH are both), so the column's kind decides; refused here is only what can be no symbol at all, since each
 * symbol that is sent costs money.
 */

import type { Identified } from '../core/identifier.js';
import { readIsin } from '../core/isin.js';
import { skipBlank } from './clean-cell.js';

type SymbolKind = 'ticker' | 'crypto';

/** Longer than any symbol of an exchange; longer texts are names. */
const LONGEST_SYMBOL = 32;
/** Real tickers: `BRK.B`, `BF-B`, `M&M`, `0700.HK`, `AGO$F`, `^GSPC`, `BRK/B`, `GC=F`, `NYSE:GE`, `BRK B`. */
const TICKER = /^[A-Z0-9 .^&/$=:+*!_~-]+$/;
/** Names of coins may be in any script; marks are left out because upper case and composed forms of them disagree. */
const CRYPTO = /^[\p{L}\p{N} .^&/$=:+*!_~-]+$/u;
const SEPARATOR = /[,;|\n\r\t]/;
const HAS_LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/** `cleaned` comes from `cleanCell`; the value is upper case, without the `$` that people write before symbols. */
export function identifySymbol(cleaned: string, kind: SymbolKind): Identified {
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
export function withoutCashtag(cleaned: string): string {
  return cleaned.replace(/^[$ ]+/, '');
}

function word(kind: SymbolKind): string {
  return kind === 'ticker' ? 'ticker' : 'crypto symbol';
}

function invalid(reason: string): Identified {
  return { type: 'invalid', reason };
}
