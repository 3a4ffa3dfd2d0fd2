/** The brands of the local service, kept as bytes: 100,000 take little more than their JSON. */
import { createHash } from 'node:crypto';
import { toASCII } from 'tr46';
import type { AllowNsfw, LookupRoute } from '../brand-api/protocol.js';

/** `flagged` brands are returned unless `allowNsfw` is false, `withheld` only if it is true. */
export const ADULT_STATUSES = ['none', 'flagged', 'withheld'] as const;
export type AdultStatus = (typeof ADULT_STATUSES)[number];

export interface CatalogueEntry {
  /** The Brand as JSON, byte for byte as in the catalogue file. */
  readonly body: Buffer;
  readonly adult: AdultStatus;
}

export const KEY_KINDS = ['domain', 'ticker', 'isin', 'crypto', 'id'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** `body` is copied on the way in, so it may be a view of a read buffer. */
export interface IndexedBrand extends CatalogueEntry {
  readonly keys: Readonly<Record<KeyKind, readonly string[]>>;
  /** Its line in the file, to name the owner of a key that two brands have. */
  readonly line: number;
}

/** Returns a key to compare: lower-case punycode without final dot, upper-case symbols. */
export function normalKey(kind: KeyKind, value: string): string {
  if (kind === 'id') return value;
  if (kind !== 'domain') return value.toUpperCase();
  const domain = value.toLowerCase().replace(/\.$/, '');
  return /\P{ASCII}/u.test(domain) ? (toASCII(domain) ?? '') : domain;
}

type OwnedEntry = CatalogueEntry & Pick<IndexedBrand, 'line'>;

export class Catalogue {
  readonly #entries = new Map<string, OwnedEntry>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Finds a key in any spelling; ignores a leading `www.` that is not listed. */
  find(kind: KeyKind, value: string): CatalogueEntry | undefined {
    const key = normalKey(kind, value);
    const entry = this.#entries.get(`${kind} ${key}`);
    if (entry !== undefined || kind !== 'domain' || !key.startsWith('www.')) return entry;
    return this.#entries.get(`${kind} ${key.slice(4)}`);
  }

  /** Adds a brand, or returns the first of its keys that another brand has. */
  add({ body, adult, keys, line }: IndexedBrand) {
    const all = KEY_KINDS.flatMap((kind) =>
      keys[kind].map((value) => ({ kind, value, name: `${kind} ${normalKey(kind, value)}` })),
    );
    for (const { kind, value, name } of all) {
      const owner = this.#entries.get(name);
      if (owner !== undefined) return { kind, value, ownerLine: owner.line };
    }
    const entry = { body: Buffer.from(body), adult, line };
    for (const { name } of all) this.#entries.set(name, entry);
    this.#size += 1;
    return null;
  }
}

/** Brand ids go first, since nothing else has their form; then Endpoints rule 1. */
const DETECTED: readonly KeyKind[] = ['id', 'domain', 'ticker', 'isin', 'crypto'];

/** Returns the brand of the first kind that knows the value, or undefined if it is withheld. */
export function findBrand(catalogue: Catalogue, { route, value }: LookupRoute, allowNsfw: AllowNsfw) {
  for (const kind of route === null ? DETECTED : [route]) {
    const entry = catalogue.find(kind, value);
    if (entry !== undefined) return isShown(entry.adult, allowNsfw) ? entry : undefined;
  }
  return undefined;
}

/** True if Endpoints rules 4 (not set), 5 (true) and 6 (false) allow it. */
function isShown(adult: AdultStatus, allowNsfw: AllowNsfw): boolean {
  if (adult === 'none' || allowNsfw === 'true') return true;
  return allowNsfw === 'unset' && adult === 'flagged';
}

/** True if a lookup asks for the own domain, with or without `www.`, which is free ("Limits"). */
export function asksForOwnDomain({ route, value }: LookupRoute, ownDomain: string): boolean {
  if (route !== null && route !== 'domain') return false;
  return value.length <= 257 && bareDomain(value) === bareDomain(ownDomain);
}

/** Adds a plain brand for the own domain if it has none: clients test credentials with it. */
export function addOwnBrand(catalogue: Catalogue, ownDomain: string): void {
  const domain = bareDomain(ownDomain);
  if (domain === '' || catalogue.find('domain', domain) !== undefined) return;
  const id = `id_${createHash('sha256').update(domain).digest('hex').slice(0, 10)}`;
  const body = Buffer.from(JSON.stringify(ownBrand(domain, id)));
  const keys = { domain: [domain], ticker: [], isin: [], crypto: [], id: [id] };
  catalogue.add({ body, adult: 'none', keys, line: 0 });
}

function bareDomain(value: string): string {
  return normalKey('domain', value).replace(/^www\./, '');
}

/** Returns a brand with every field of the specification, and no invented facts. */
function ownBrand(domain: string, id: string) {
  const parent = { id: 'ind_technology', slug: 'technology', name: 'Technology', emoji: '🔌' };
  return {
    id,
    name: domain,
    domain,
    claimed: true,
    description: "The local service's own brand: asking for it is free.",
    longDescription: null,
    ...{ links: [], logos: [], colors: [], fonts: [], images: [] },
    qualityScore: 0.9,
    company: {
      employees: 11,
      financialIdentifiers: { isin: [], ticker: [] },
      foundedYear: 2020,
      industries: [
        { id: 'ind_internet', score: 0.9, slug: 'internet', name: 'Internet', emoji: '🌐', parent: [parent] },
      ],
      kind: 'PRIVATELY_HELD',
      location: { city: '', country: '', countryCode: '', region: '', state: '', subregion: '' },
    },
    isNsfw: false,
    urn: `urn:brand:${id}`,
  };
}
