/**
 * What the local service knows: the `Catalogue`, its entries, and the normal form of every key. How a file
 * becomes a catalogue is `load-catalogue.ts`'s; who may see which entry (`allowNsfw`) and in which order kinds are
 * tried is the service's.
 */
import { toASCII } from 'tr46';

/**
 * `flagged`: adult, returned unless `allowNsfw` is false. `withheld`: adult, returned only when `allowNsfw` is
 * true (specification, Endpoints rules 4 to 6).
 */
export const ADULT_STATUSES = ['none', 'flagged', 'withheld'] as const;
export type AdultStatus = (typeof ADULT_STATUSES)[number];

export interface CatalogueEntry {
  /** The Brand as JSON bytes, as they stood in the catalogue file: sent as is. */
  readonly body: Buffer;
  readonly adult: AdultStatus;
}

/** Every lookup takes the key as a caller wrote it and answers in constant time. */
export interface Catalogue {
  /** Number of brands. */
  readonly size: number;
  /** Case does not matter; a leading `www.` is ignored unless listed; any other subdomain must be listed itself. */
  byDomain(value: string): CatalogueEntry | undefined;
  /** Stock and ETF tickers alike; case does not matter. */
  byTicker(value: string): CatalogueEntry | undefined;
  byIsin(value: string): CatalogueEntry | undefined;
  byCrypto(value: string): CatalogueEntry | undefined;
  /** Exact: in brand ids case matters. */
  byId(value: string): CatalogueEntry | undefined;
}

/** The kinds of key that a brand is found by. */
export const KEY_KINDS = ['domain', 'ticker', 'isin', 'crypto', 'id'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** The form in which keys are compared: punycode lower-case domain without trailing dot, upper-case symbols, exact id. */
export function normalKey(kind: KeyKind, value: string): string {
  if (kind === 'id') return value;
  if (kind !== 'domain') return value.toUpperCase();
  const lower = value.toLowerCase();
  const bare = lower.endsWith('.') ? lower.slice(0, -1) : lower;
  return isAscii(bare) ? bare : (toASCII(bare) ?? '');
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 127) return false;
  return true;
}
