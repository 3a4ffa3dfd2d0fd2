/**
 * From a route to its brand, and whether the caller may see it: rules 1, 2 and 4 to 6 of the
 * specification's "Endpoints". The service's own brand is always there and free to ask for, because
 * real clients test their credentials with it.
 */

import { createHash } from 'node:crypto';
import type { AllowNsfw, ExplicitRoute, LookupRoute } from '../lookup/routes.js';
import { type AdultStatus, type Catalogue, type CatalogueEntry, normalKey } from './catalogue.js';

const FIND: Record<ExplicitRoute, (catalogue: Catalogue, value: string) => CatalogueEntry | undefined> = {
  domain: (catalogue, value) => catalogue.byDomain(value),
  ticker: (catalogue, value) => catalogue.byTicker(value),
  isin: (catalogue, value) => catalogue.byIsin(value),
  crypto: (catalogue, value) => catalogue.byCrypto(value),
};

/**
 * The brand of a route; undefined when there is none that may be shown. On the auto-detecting route the first kind
 * that is known wins, also when its brand is withheld: a withheld domain is never answered with a coin of that name.
 */
export function findBrand(
  catalogue: Catalogue,
  { route, value }: LookupRoute,
  allowNsfw: AllowNsfw,
): CatalogueEntry | undefined {
  const entry = route === null ? detect(catalogue, value) : FIND[route](catalogue, value);
  return entry !== undefined && isShown(entry.adult, allowNsfw) ? entry : undefined;
}

/** A brand id goes first, since nothing else has its form; then Endpoints rule 1: domain, ticker, ISIN, crypto symbol. */
function detect(catalogue: Catalogue, value: string): CatalogueEntry | undefined {
  return (
    catalogue.byId(value) ??
    catalogue.byDomain(value) ??
    catalogue.byTicker(value) ??
    catalogue.byIsin(value) ??
    catalogue.byCrypto(value)
  );
}

/** Endpoints rules 4 (not set), 5 (true) and 6 (false). */
function isShown(adult: AdultStatus, allowNsfw: AllowNsfw): boolean {
  if (adult === 'none' || allowNsfw === 'true') return true;
  return allowNsfw === 'unset' && adult === 'flagged';
}

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
