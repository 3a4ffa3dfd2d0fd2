/**
 * The five routes of the specification as one table, shared by the client, which builds paths, and
 * the local service, which reads them.
 */
import type { Identifier, IdentifierKind } from '../core/identifier.js';

/**
 * The `allowNsfw` query parameter: left out, or one of its two values (specification, Endpoints
 * rules 4 to 6).
 */
export type AllowNsfw = 'unset' | 'true' | 'false';

export const BRANDS_PATH = '/v2/brands/';

/**
 * What stands before the routes in the path of a service's address, without a slash at its end.
 * People copy the version with the address, or all of `/v2/brands`.
 */
export function pathBeforeRoutes(path: string): string {
  return path.replace(/(?:\/+v2(?:\/+brands)?)?\/*$/i, '');
}

/** The explicit routes; the segment after `/v2/brands/`. */
const EXPLICIT_ROUTES = ['domain', 'ticker', 'isin', 'crypto'] as const;
export type ExplicitRoute = (typeof EXPLICIT_ROUTES)[number];

/**
 * The route of each kind: explicit where the specification has one, else the auto-detecting route.
 */
const ROUTE_OF_KIND: Record<IdentifierKind, ExplicitRoute | null> = {
  domain: 'domain',
  ticker: 'ticker',
  isin: 'isin',
  crypto: 'crypto',
  id: null,
  auto: null,
};

/** The path and query of one lookup. The value is percent-encoded as one path segment. */
export function lookupPath(identifier: Identifier, allowNsfw: AllowNsfw): string {
  const route = ROUTE_OF_KIND[identifier.kind];
  const segment = encodeURIComponent(identifier.value);
  const path = route === null ? `${BRANDS_PATH}${segment}` : `${BRANDS_PATH}${route}/${segment}`;
  return allowNsfw === 'unset' ? path : `${path}?allowNsfw=${allowNsfw}`;
}

export interface LookupRoute {
  /** null: the auto-detecting route. */
  readonly route: ExplicitRoute | null;
  readonly value: string;
}

/** Reads a path (without query). null: not one of the five routes, or not decodable. */
export function parseLookupPath(path: string): LookupRoute | null {
  if (!path.startsWith(BRANDS_PATH)) return null;
  const segments = path.slice(BRANDS_PATH.length).split('/');
  const [first, second] = segments;
  if (first === undefined || first === '' || segments.length > 2) return null;
  const explicit = second === undefined ? null : EXPLICIT_ROUTES.find((route) => route === first);
  if (explicit === undefined || second === '') return null;
  try {
    return { route: explicit, value: decodeURIComponent(second ?? first) };
  } catch {
    return null;
  }
}
