/**
 * The brands that the local service knows: one hash table per kind of key, and the brands' bytes side
 * by side in large blocks, so that 100,000 brands cost little more than their JSON.
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

/** Brands share blocks of this size: one allocation for some 500 brands of 2 kB instead of one each. */
const BLOCK_BYTES = 1024 * 1024;

export interface IndexedBrand {
  /** Copied on the way in, so a view of a read buffer will do. */
  readonly body: Buffer;
  readonly adult: AdultStatus;
  readonly keys: Readonly<Record<KeyKind, readonly string[]>>;
  /** Where it was read, for naming the owner of a key that is claimed twice. */
  readonly line: number;
}

/** A key that another brand owns already. */
interface KeyConflict {
  readonly kind: KeyKind;
  readonly value: string;
  /** The line of the owner. */
  readonly ownerLine: number;
}

export interface CatalogueIndex {
  readonly catalogue: Catalogue;
  /** Adds one brand. On a conflict it is left out, whole, and the first conflict is returned. */
  add(brand: IndexedBrand): KeyConflict | null;
}

interface OwnedEntry extends CatalogueEntry {
  readonly line: number;
}

export function createCatalogueIndex(): CatalogueIndex {
  const tables: Record<KeyKind, Map<string, OwnedEntry>> = {
    domain: new Map(),
    ticker: new Map(),
    isin: new Map(),
    crypto: new Map(),
    id: new Map(),
  };
  const keep = createByteStore();
  let size = 0;
  const find = (kind: KeyKind, value: string) => tables[kind].get(normalKey(kind, value));

  const findConflict = (brand: IndexedBrand): KeyConflict | null => {
    for (const kind of KEY_KINDS) {
      for (const value of brand.keys[kind]) {
        const owner = find(kind, value);
        if (owner) return { kind, value, ownerLine: owner.line };
      }
    }
    return null;
  };

  return {
    catalogue: {
      get size() {
        return size;
      },
      byDomain(value) {
        const domain = normalKey('domain', value);
        const entry = tables.domain.get(domain);
        return entry ?? (domain.startsWith('www.') ? tables.domain.get(domain.slice(4)) : undefined);
      },
      byTicker: (value) => find('ticker', value),
      byIsin: (value) => find('isin', value),
      byCrypto: (value) => find('crypto', value),
      byId: (value) => find('id', value),
    },
    add(brand) {
      const conflict = findConflict(brand);
      if (conflict) return conflict;
      const entry: OwnedEntry = { body: keep(brand.body), adult: brand.adult, line: brand.line };
      for (const kind of KEY_KINDS) {
        for (const value of brand.keys[kind]) tables[kind].set(normalKey(kind, value), entry);
      }
      size += 1;
      return null;
    },
  };
}

function createByteStore(): (bytes: Buffer) => Buffer {
  let block = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (used + bytes.length > block.length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, bytes.length));
      used = 0;
    }
    const kept = block.subarray(used, used + bytes.length);
    bytes.copy(kept);
    used += bytes.length;
    return kept;
  };
}
