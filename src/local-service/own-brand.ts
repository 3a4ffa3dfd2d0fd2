/**
 * The service's own brand: which requests ask for it (they are free), and the brand itself where the catalogue does not
 * have one. Real clients test their credentials by asking for it, so it is there whatever its domain is called.
 */
import { createHash } from 'node:crypto';
import type { LookupRoute } from '../lookup/routes.js';
import { type Catalogue, type CatalogueEntry, normalKey } from './catalogue.js';

/**
 * Whether a lookup asks for the service's own brand domain, which is free ("Limits", free requests). A leading `www.`
 * is the same domain, as it is in the catalogue.
 */
export function asksForOwnDomain({ route, value }: LookupRoute, ownDomain: string): boolean {
  if (route !== null && route !== 'domain') return false;
  return value.length <= 257 && bareDomain(value) === bareDomain(ownDomain);
}

/** The catalogue, with a plain brand for the own domain when it knows none. */
export function withOwnBrand(catalogue: Catalogue, ownDomain: string): Catalogue {
  const domain = bareDomain(ownDomain);
  if (domain === '' || catalogue.byDomain(domain) !== undefined) return catalogue;
  const id = `id_${createHash('sha256').update(domain).digest('hex').slice(0, 10)}`;
  const own: CatalogueEntry = { body: Buffer.from(JSON.stringify(ownBrand(domain, id))), adult: 'none' };
  return {
    size: catalogue.size + 1,
    byDomain: (value) => catalogue.byDomain(value) ?? (bareDomain(value) === domain ? own : undefined),
    byTicker: (value) => catalogue.byTicker(value),
    byIsin: (value) => catalogue.byIsin(value),
    byCrypto: (value) => catalogue.byCrypto(value),
    byId: (value) => catalogue.byId(value) ?? (value === id ? own : undefined),
  };
}

function bareDomain(value: string): string {
  const domain = normalKey('domain', value);
  return domain.startsWith('www.') ? domain.slice(4) : domain;
}

/** Every field of the specification, and no more claims than a stand-in can make. */
function ownBrand(domain: string, id: string) {
  const parent = { id: 'ind_technology', slug: 'technology', name: 'Technology', emoji: '🔌' };
  return {
    id,
    name: domain,
    domain,
    claimed: true,
    description: "The local service's own brand: asking for it is free.",
    longDescription: null,
    links: [],
    logos: [],
    colors: [],
    fonts: [],
    images: [],
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
