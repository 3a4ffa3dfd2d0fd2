/** What client and local service share: the five routes, headers of answers, and what sends. */
import type { Identifier } from '../core/identifier.js';
import { attempt } from '../core/lifecycle.js';

/** The query parameter `allowNsfw`, or its absence (Endpoints rules 4 to 6). */
export type AllowNsfw = 'unset' | 'true' | 'false';

/**
 * Sends requests: undici's `Agent`, `ProxyAgent` or `MockAgent`, version 7 or later. It must send
 * each request once, and call `onRequestStart` before: no ledger knows what else may be billed.
 */
export interface RequestDispatcher {
  dispatch(options: object, handler: object): boolean;
}

export const BRANDS_PATH = '/v2/brands/';

/** Returns the path before the routes: people copy an address with `/v2` or `/v2/brands`. */
export function pathBeforeRoutes(path: string): string {
  return path.replace(/(?<!\/)(?:\/+v2(?:\/+brands)?)?\/*$/i, '');
}

/** Kinds with a route of their own; the auto-detecting route takes the others. */
const EXPLICIT_ROUTES = ['domain', 'ticker', 'isin', 'crypto'] as const;

export interface LookupRoute {
  /** null for the auto-detecting route. */
  readonly route: (typeof EXPLICIT_ROUTES)[number] | null;
  readonly value: string;
}

/** Returns path and query of a lookup, with the value percent-encoded as one path segment. */
export function lookupPath({ kind, value }: Identifier, allowNsfw: AllowNsfw): string {
  const route = EXPLICIT_ROUTES.some((explicit) => explicit === kind) ? `${kind}/` : '';
  const path = BRANDS_PATH + route + encodeURIComponent(value);
  return allowNsfw === 'unset' ? path : `${path}?allowNsfw=${allowNsfw}`;
}

/** Reads a path without query; null for any other route, and if it cannot be decoded. */
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

/** Reads a number of at most 15 digits, which is exact; null, not 0, for any other text. */
export function parseCount(text: string | undefined | null): number | null {
  const trimmed = text?.trim() ?? '';
  return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null;
}

/** Longest wait that is believed. */
export const RETRY_AFTER_AT_MOST_MS = 900_000;

/** Reads Retry-After (RFC 9110, 10.2.3) as capped milliseconds from `answeredAt`; else null. */
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
  // Services get the weekday wrong; the date counts.
  const isReal = new Date(time).toUTCString().slice(3) === text.slice(3);
  return isReal && time >= 0 ? time : null;
}
