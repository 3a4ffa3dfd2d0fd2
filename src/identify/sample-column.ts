/**
 * What a sample of one column's values looks like, as counts. Nothing is judged here: `judge-columns.ts` weighs the
 * counts with the column's name.
 */

import { readIsin } from '../core/isin.js';
import { isCertainBrandId, isPossibleBrandId } from './brand-id.js';
import { cleanCell, skipBlank } from './clean-cell.js';
import { identifyDomain } from './identify-domain.js';

/** Enough for a choice; more would only cost time. */
const MOST_ROWS = 1000;
/** `SAP.DE`, `7203.T`: a ticker with its exchange or a domain in capitals. */
const TICKER_OR_DOMAIN = /^[A-Z0-9]{1,6}\.[A-Z]{1,2}$/;
/**
 * Tickers and symbols as files hold them: no sentence. With its exchange one may be long (`BSANTANDER.SN`, `OTCMKTS:NSRGY`), and a
 * share class may stand behind a blank (`BRK B`). In lower case only very short ones, since longer ones are names (`bitcoin`).
 */
const SYMBOL_LIKE =
  /^[$^]?[A-Z0-9][A-Z0-9.^&/$=:+*!_~-]{0,23}$|^[A-Z0-9]{1,6} [A-Z0-9]{1,2}$|^[$]?[a-z0-9]{1,5}$/;

/** How many sampled values ... */
export interface ColumnSample {
  readonly rows: number;
  /** ... are neither blank nor a placeholder. */
  readonly filled: number;
  /** ... are domains or web addresses and nothing else. */
  readonly domains: number;
  /** ... are domains by their letters and tickers by their looks. */
  readonly tickerOrDomains: number;
  /** ... are e-mail addresses. */
  readonly emails: number;
  readonly isins: number;
  readonly certainIds: number;
  readonly possibleIds: number;
  /** ... look like tickers or crypto symbols, as many short words do. An ISIN is none. */
  readonly symbols: number;
  /** Many different addresses, all at one domain: pages of one site, such as profiles. */
  readonly isOneSite: boolean;
}

/** Whether a cleaned cell is written as tickers and crypto symbols are. */
export function isSymbolLike(cleaned: string): boolean {
  return SYMBOL_LIKE.test(cleaned);
}

/** Whether a cell of one of the first rows holds something, whatever it is. */
export function isFilled(cell: string): boolean {
  return skipBlank(cleanCell(cell), 'domain') === null;
}

/** The rows that a choice of columns looks at. */
export function sampledRows<T>(rows: readonly T[]): readonly T[] {
  return rows.slice(0, MOST_ROWS);
}

export function sampleColumn(rows: readonly (readonly string[])[], column: number): ColumnSample {
  const counts = {
    filled: 0,
    domains: 0,
    tickerOrDomains: 0,
    emails: 0,
    isins: 0,
    certainIds: 0,
    possibleIds: 0,
    symbols: 0,
  };
  const texts = new Set<string>();
  const sites = new Set<string>();
  const sampled = Math.min(rows.length, MOST_ROWS);
  for (let index = 0; index < sampled; index += 1) {
    const cleaned = cleanCell(rows[index]?.[column] ?? '');
    if (skipBlank(cleaned, 'domain') !== null) continue;
    counts.filled += 1;
    if (readIsin(cleaned) !== null) counts.isins += 1;
    else if (isSymbolLike(cleaned)) counts.symbols += 1;
    if (isCertainBrandId(cleaned)) counts.certainIds += 1;
    if (isPossibleBrandId(cleaned)) counts.possibleIds += 1;
    if (!cleaned.includes('.')) continue;
    const domain = identifyDomain(cleaned);
    if (domain.type === 'invalid') continue;
    texts.add(cleaned);
    sites.add(domain.type === 'identifier' ? domain.identifier.value : '');
    if (cleaned.includes('@') && !cleaned.includes('/')) counts.emails += 1;
    else if (TICKER_OR_DOMAIN.test(cleaned)) counts.tickerOrDomains += 1;
    else counts.domains += 1;
  }
  return { rows: sampled, ...counts, isOneSite: texts.size >= 5 && sites.size === 1 && counts.emails === 0 };
}
