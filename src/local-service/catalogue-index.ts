/**
 * The catalogue in memory: one hash table per kind of key, and the brands' bytes side by side in large blocks, so
 * that 100,000 brands cost little more than their JSON. Reading and judging lines is `catalogue-line.ts`'s.
 */
import {
  type AdultStatus,
  type Catalogue,
  type CatalogueEntry,
  KEY_KINDS,
  type KeyKind,
  normalKey,
} from './catalogue.js';

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
