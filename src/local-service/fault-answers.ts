/**
 * What a faulty answer looks like: pure changes of one response, and the error dialects. When a fault strikes is
 * `faults.ts`'s.
 */

import { QUOTA_HEADER, USAGE_HEADER } from '../lookup/response-headers.js';
import { bearerToken } from './credentials.js';
import type { ServiceRequest, ServiceResponse } from './handle.js';

/** An error made by a fault, without usage headers, as the specification shows errors. */
export function faultAnswer(
  status: number,
  nowMs: number,
  headers: Readonly<Record<string, string>> = {},
): ServiceResponse {
  return withBody(
    {
      status,
      headers: { 'content-type': 'application/json', date: new Date(nowMs).toUTCString(), ...headers },
      body: Buffer.alloc(0),
    },
    Buffer.from('{}'),
  );
}

/** Another body, and the length that goes with it. */
function withBody(response: ServiceResponse, body: Buffer): ServiceResponse {
  return { ...response, headers: { ...response.headers, 'content-length': String(body.length) }, body };
}

/** The connection breaks off somewhere in the body; `roll` (0 to 1) says where. */
export function truncated(response: ServiceResponse, roll: number): ServiceResponse {
  const bytes = Math.floor(response.body.length * roll);
  return { ...response, body: response.body.subarray(0, bytes), cut: 'in-body' };
}

/**
 * A body that is not JSON although nothing in the transport says so. In one half of the cases its end is missing, in the
 * other a byte within is replaced by one that JSON allows nowhere.
 */
export function damaged(response: ServiceResponse, roll: number): ServiceResponse {
  const { body } = response;
  if (body.length < 2) return response;
  const at = Math.min(body.length - 1, 1 + Math.floor(body.length * ((roll * 2) % 1)));
  if (roll < 0.5) return withBody(response, body.subarray(0, at));
  const changed = Buffer.from(body);
  changed[at] = 0;
  return withBody(response, changed);
}

export function withoutUsage(response: ServiceResponse): ServiceResponse {
  const { [QUOTA_HEADER]: _quota, [USAGE_HEADER]: _usage, ...headers } = response.headers;
  return { ...response, headers };
}

export function withUsage(response: ServiceResponse, usage: number): ServiceResponse {
  return { ...response, headers: { ...response.headers, [USAGE_HEADER]: String(usage) } };
}

/**
 * The error as services in the wild word it (live-service.md): a stable code in `x-bf-error`, the same in the body
 * beside a message; 402 without any credential and 403 for an unknown token. A throughput 429 has no code.
 */
export function coded(
  response: ServiceResponse,
  request: ServiceRequest,
  hints: { readonly isThroughput: boolean; readonly isCrawlQueued: boolean },
): ServiceResponse {
  if (response.status < 400 || response.cut !== undefined) return response;
  const status = response.status === 401 ? refusalOf(request.authorization) : response.status;
  const { code, message } = describe(status, hints);
  const isQuota = code === 'quota_exceeded';
  const body = Buffer.from(
    JSON.stringify({
      message,
      ...(code !== null && { error: code }),
      ...(isQuota && {
        quota: Number(response.headers[QUOTA_HEADER] ?? 0),
        used: Number(response.headers[USAGE_HEADER] ?? 0),
      }),
    }),
  );
  const headers = code === null ? response.headers : { ...response.headers, 'x-bf-error': code };
  const answer = withBody({ ...response, status, headers }, body);
  return request.method === 'HEAD' ? { ...answer, body: Buffer.alloc(0) } : answer;
}

function refusalOf(authorization: string | undefined): 401 | 402 | 403 {
  if (authorization === undefined) return 402;
  return bearerToken(authorization) === null ? 401 : 403;
}

function describe(
  status: number,
  hints: { readonly isThroughput: boolean; readonly isCrawlQueued: boolean },
): { code: string | null; message: string } {
  switch (status) {
    case 400:
      return { code: 'bad_request', message: 'Bad request' };
    case 401:
      return { code: 'malformed_authorization', message: 'Malformed Authorization header' };
    case 402:
      return { code: 'missing_credentials', message: 'No credentials given' };
    case 403:
      return { code: 'invalid_api_key', message: 'Unknown or revoked API key' };
    case 404:
      return hints.isCrawlQueued
        ? { code: 'crawl_queued', message: 'Brand is being fetched, try again later' }
        : { code: 'not_found', message: 'Brand not found' };
    case 429:
      return hints.isThroughput
        ? { code: null, message: 'Too many requests' }
        : { code: 'quota_exceeded', message: 'API key quota exceeded' };
    default:
      return { code: null, message: status < 500 ? 'Request refused' : 'Internal error' };
  }
}
