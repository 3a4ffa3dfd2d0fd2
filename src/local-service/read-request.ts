/**
 * What a request asks for, judged from its method and path alone: one of the five routes with its value and
 * `allowNsfw`, or the status that refuses it. Credentials, quota and the catalogue are not this file's.
 */

import type { Identifier } from '../core/identifier.js';
import { type AllowNsfw, BRANDS_PATH, type LookupRoute, parseLookupPath } from '../lookup/routes.js';
import type { ServiceRequest } from './handle.js';

export type Asked =
  | { readonly type: 'lookup'; readonly route: LookupRoute; readonly allowNsfw: AllowNsfw }
  /** `isOutside`: not under `/v2/brands/`, or not a method of the service: answered without credentials. */
  | { readonly type: 'refused'; readonly status: 400 | 404 | 405; readonly isOutside: boolean };

/**
 * Decided where the specification is silent: outside `/v2/brands/` and under it but none of the five routes is 404,
 * another method than GET and HEAD is 405, an `allowNsfw` other than one `true` or `false` and a path with a
 * broken percent escape are 400. Other query parameters are ignored.
 */
export function readRequest(request: Pick<ServiceRequest, 'method' | 'path'>): Asked {
  const mark = request.path.indexOf('?');
  const path = mark < 0 ? request.path : request.path.slice(0, mark);
  if (!path.startsWith(BRANDS_PATH)) return { type: 'refused', status: 404, isOutside: true };
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return { type: 'refused', status: 405, isOutside: true };
  }
  const route = parseLookupPath(path);
  if (route === null) return { type: 'refused', status: isDecodable(path) ? 404 : 400, isOutside: false };
  const allowNsfw = mark < 0 ? 'unset' : readAllowNsfw(request.path.slice(mark + 1));
  if (allowNsfw === null) return { type: 'refused', status: 400, isOutside: false };
  return { type: 'lookup', route, allowNsfw };
}

/** null: not a value that the parameter may have. */
function readAllowNsfw(query: string): AllowNsfw | null {
  const values = new URLSearchParams(query).getAll('allowNsfw');
  const [value] = values;
  if (value === undefined) return 'unset';
  return values.length === 1 && (value === 'true' || value === 'false') ? value : null;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The identifier as the caller asked for it: on the generic route `id` where the prefix says so, else `auto`. */
export function askedIdentifier(route: LookupRoute): Identifier {
  const kind = route.route ?? (route.value.startsWith('id_') ? 'id' : 'auto');
  return { kind, value: route.value };
}
