/**
 * From a route to the brand it names, and whether the caller may see it: the specification's Endpoints rules 1, 2 and
 * 4 to 6. Pure; metering and answers are not this file's.
 */
import type { AllowNsfw, ExplicitRoute, LookupRoute } from '../lookup/routes.js';
import type { AdultStatus, Catalogue, CatalogueEntry } from './catalogue.js';

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
