/** Shared by client and local service: the five routes, and the headers of answers. */
import type { Identifier } from '../core/identifier.js';
import { attempt } from '../core/lifecycle.js';

/** The `allowNsfw` query parameter: left out, or one of its two values (Endpoints rules 4 to 6). */
export type AllowNsfw = 'unset' | 'true' | 'false';

export const BRANDS_PATH = '/v2/brands/';

/** The path before the routes: people copy the version, or all of `/v2/brands`, with an address. */
export function pathBeforeRoutes(path: string): string {
  return path.replace(/(?<!\/)(?:\/+v2(?:\/+brands)?)?\/*$/i, '');
}

/** The explicit routes. Other kinds of identifier take the auto-detecting one. */
const EXPLICIT_ROUTES = ['domain', 'ticker', 'isin', 'crypto'] as const;

export interface LookupRoute {
  /** null: the auto-detecting route. */
  readonly route: (typeof EXPLICIT_ROUTES)[number] | null;
  readonly value: string;
}

/** The path and query of one lookup. The value is percent-encoded as one path segment. */
export function lookupPath({ kind, value }: Identifier, allowNsfw: AllowNsfw): string {
  const route = EXPLICIT_ROUTES.some((explicit) => explicit === kind) ? `${kind}/` : '';
  const path = BRANDS_PATH + route + encodeURIComponent(value);
  return allowNsfw === 'unset' ? path : `${path}?allowNsfw=${allowNsfw}`;
}

/** Reads a path (without query). null: not one of the five routes, or not decodable. */
export function parseLookupPath(path: string): LookupRoute | null {
  if (!path.startsWith(BRANDS_PATH)) return null;
  const segments = path.slice(BRANDS_PATH.length).split('/');
  const [first = '', second] = segments;
  if (first === '' || second === '' || segments.length > 2) return null;
  const route = second === undefined ? null : EXPLICIT_ROUTES.find((explicit) => explicit === first);
  if (route === undefined) return null;
  const value = attempt(() => decodeURIComponent(second ?? first), null);
  return value === null ? null : { route, value };
}

/** The usage headers of the specification ("Limits"). */
export const QUOTA_HEADER = 'x-api-key-quota';
export const USAGE_HEADER = 'x-api-key-approximate-usage';

/** Digits only, at most 15 of them: an exact number. null for anything else: no idea, not zero. */
export function parseCount(text: string | undefined | null): number | null {
  const trimmed = text?.trim() ?? '';
  return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null;
}

/** What says more is not believed. */
export const RETRY_AFTER_AT_MOST_MS = 900_000;

/** Retry-After (RFC 9110, 10.2.3) in milliseconds from `answeredAt`, capped; null: no idea. */
export function parseRetryAfter(text: string | undefined, answeredAt: number): number | null {
  const trimmed = text?.trim() ?? '';
  const date = parseHttpDate(trimmed);
  const waitMs = /^\d{1,9}$/.test(trimmed)
    ? Number(trimmed) * 1_000
    : date === null
      ? null
      : date - answeredAt;
  return waitMs === null ? null : Math.min(Math.max(0, waitMs), RETRY_AFTER_AT_MOST_MS);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Reads `Sun, 06 Nov 1994 08:49:37 GMT`; null for other forms and days that do not exist. */
export function parseHttpDate(text: string | undefined): number | null {
  if (text === undefined || !HTTP_DATE.test(text)) return null;
  const time = Date.parse(text);
  // Services get the weekday wrong, which changes nothing.
  const isReal = new Date(time).toUTCString().slice(3) === text.slice(3);
  return isReal && time >= 0 ? time : null;
}
