/** Requests, responses and routes of the local service, without sockets. */
import { type AllowNsfw, BRANDS_PATH, type LookupRoute, parseLookupPath } from '../brand-api/protocol.js';
import type { Send } from '../brand-api/send.js';
import type { Identifier } from '../core/identifier.js';
import { attempt } from '../core/lifecycle.js';

export interface ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
}

export type HeaderFields = Readonly<Record<string, string>>;

export interface ServiceResponse {
  readonly status: number;
  /** Names in lower case; always `content-type`, `content-length` and `date`. */
  readonly headers: HeaderFields;
  /** Empty for HEAD, whose `content-length` is that of GET. */
  readonly body: Buffer;
  /** Set by faults: the answer does not arrive at all, or breaks off in its body. */
  readonly cut?: 'before-headers' | 'in-body';
}

const EMPTY_OBJECT: Buffer = Buffer.from('{}');

/** Returns an answer in JSON; errors are `{}`, as in the specification. */
export function jsonAnswer(
  status: number,
  nowMs: number,
  headers: HeaderFields = {},
  body = EMPTY_OBJECT,
): ServiceResponse {
  const date = new Date(nowMs).toUTCString();
  const length = String(body.length);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': length, date, ...headers },
    body,
  };
}

export interface Service {
  /** Answers every request; never rejects because of one. */
  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse>;
  /** Resolves when all counts are on disk. Safe to call twice. */
  close(): Promise<void>;
}

/** Returns a `Send` to a service in this process, without a socket, for `--sample`. */
export function sendTo(service: Service): Send {
  return async ({ path, authorization }) => {
    const { status, headers, body } = await service.handle({ method: 'GET', path, authorization });
    return { type: 'answer', status, headers, body, incomplete: null };
  };
}

export type Asked =
  | { readonly type: 'lookup'; readonly route: LookupRoute; readonly allowNsfw: AllowNsfw }
  /** `isOutside`: path or method are not the service's, and need no credentials. */
  | { readonly type: 'refused'; readonly status: 400 | 404 | 405; readonly isOutside: boolean };

/**
 * Reads a request. Where the specification is silent: 404 outside the routes, 405 for other
 * methods, 400 for a broken escape or an `allowNsfw` other than one `true` or `false`.
 */
export function readRequest(request: Pick<ServiceRequest, 'method' | 'path'>): Asked {
  const refused = (status: 400 | 404 | 405, isOutside = false) => {
    return { type: 'refused', status, isOutside } as const;
  };
  const [path = '', ...query] = request.path.split('?');
  if (!path.startsWith(BRANDS_PATH)) return refused(404, true);
  if (request.method !== 'GET' && request.method !== 'HEAD') return refused(405, true);
  const route = parseLookupPath(path);
  if (route === null) return refused(attempt(() => decodeURIComponent(path), null) === null ? 400 : 404);
  const allowNsfw = readAllowNsfw(query.join('?'));
  return allowNsfw === null ? refused(400) : { type: 'lookup', route, allowNsfw };
}

/** Returns null for a value that the parameter cannot have. */
function readAllowNsfw(query: string): AllowNsfw | null {
  const values = new URLSearchParams(query).getAll('allowNsfw');
  const [value] = values;
  if (value === undefined) return 'unset';
  return values.length === 1 && (value === 'true' || value === 'false') ? value : null;
}

/** Returns the requested identifier; on the generic route `id` by its prefix, else `auto`. */
export function askedIdentifier({ route, value }: LookupRoute): Identifier {
  return { kind: route ?? (value.startsWith('id_') ? 'id' : 'auto'), value };
}
