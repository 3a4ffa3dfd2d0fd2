/**
 * Faults around a service, to test clients against. In this order:
 *
 * wait -> outage, drop, throughput 429, 500, 503: the service is not asked, nothing is billed
 * -> the service answers: usage header late or hidden, body damaged or cut short, connection reset (billed)
 * -> error dialect
 */
import type { Clock } from '../core/clock.js';
import { QUOTA_HEADER, USAGE_HEADER } from '../lookup/response-headers.js';
import { bearerToken } from './accounts.js';
import type { Faults } from './fault-settings.js';
import { type Chance, createChance } from './generate-keys.js';
import type { Service, ServiceRequest, ServiceResponse } from './service-request.js';

/** Closing it closes the service within. */
export function withFaults(service: Service, faults: Faults, clock: Clock): Service {
  const isTooMany = createRollingSecond(faults.perSecond);
  const lagged = new Map<string, LaggedUsage>();
  const startedAt = clock.now();
  let arrived = 0;

  /** A free HEAD tells what the usage was before the first request of a caller. */
  const laggedUsageOf = async (authorization: string): Promise<LaggedUsage> => {
    const known = lagged.get(authorization);
    if (known !== undefined) return known;
    const before = await service.handle({ method: 'HEAD', path: '/v2/brands/x', authorization });
    const usage =
      lagged.get(authorization) ??
      createLaggedUsage(faults.usageLagMs, Number(before.headers[USAGE_HEADER] ?? 0));
    lagged.set(authorization, usage);
    return usage;
  };

  const withoutAsking = (rolls: Rolls): ServiceResponse | null => {
    const now = clock.now();
    const sinceStart = now - startedAt - faults.outageFromMs;
    if (sinceStart >= 0 && sinceStart < faults.outageForMs) return faultAnswer(503, now);
    if (rolls.drop < faults.drop) return { ...faultAnswer(503, now), cut: 'before-headers' };
    if (isTooMany(now)) {
      const after = faults.retryAfterSeconds;
      return faultAnswer(429, now, after > 0 ? { 'retry-after': String(after) } : {});
    }
    if (rolls.error < faults.error500) return faultAnswer(500, now);
    return rolls.error < faults.error500 + faults.error503 ? faultAnswer(503, now) : null;
  };

  const ask = async (request: ServiceRequest, rolls: Rolls): Promise<ServiceResponse> => {
    const late =
      faults.usageLagMs > 0 && request.authorization !== undefined
        ? await laggedUsageOf(request.authorization)
        : null;
    let response = await service.handle(request);
    const usage = response.headers[USAGE_HEADER];
    if (late !== null && usage !== undefined)
      response = withUsage(response, late.show(clock.now(), Number(usage)));
    if (faults.hidesUsage) response = withoutUsage(response);
    if (rolls.reset < faults.reset) return { ...response, cut: 'before-headers' };
    if (response.status !== 200 || request.method === 'HEAD') return response;
    if (rolls.body < faults.truncate) return truncated(response, rolls.where);
    return rolls.body < faults.truncate + faults.damage ? damaged(response, rolls.where) : response;
  };

  return {
    async handle(request) {
      const rolls = rollFor(createChance(faults.seed, arrived++));
      const waitMs = faults.latencyMs + rolls.jitter * faults.jitterMs;
      if (waitMs > 0) await clock.sleep(waitMs);
      const refusal = withoutAsking(rolls);
      const response = refusal ?? (await ask(request, rolls));
      if (faults.dialect === 'spec') return response;
      const isCrawlQueued = rolls.where < faults.crawlQueued;
      return coded(response, request, { isThroughput: refusal !== null, isCrawlQueued });
    },
    close: () => service.close(),
  };
}

/** Everything that chance decides about one request, drawn when it arrives. */
interface Rolls {
  readonly jitter: number;
  readonly drop: number;
  readonly error: number;
  readonly reset: number;
  readonly body: number;
  readonly where: number;
}

function rollFor(chance: Chance): Rolls {
  return {
    jitter: chance.fraction(),
    drop: chance.fraction(),
    error: chance.fraction(),
    reset: chance.fraction(),
    body: chance.fraction(),
    where: chance.fraction(),
  };
}

/** Whether a request is one more than `limit` in the second that ends with it; refused ones do not count. */
function createRollingSecond(limit: number): (nowMs: number) => boolean {
  const accepted: number[] = [];
  let next = 0;
  return (nowMs) => {
    if (limit === 0) return false;
    const oldest = accepted[next];
    if (oldest !== undefined && nowMs - oldest < 1000) return true;
    accepted[next] = nowMs;
    next = (next + 1) % limit;
    return false;
  };
}

interface LaggedUsage {
  /** Takes the usage of this moment and returns the one of `lagMs` before it, or the oldest known. */
  show(nowMs: number, usage: number): number;
}

/** Readings closer together than this share of the lag are remembered as one. */
const GRAIN = 1 / 200;

/** `firstUsage`: what the header showed before the first request. */
function createLaggedUsage(lagMs: number, firstUsage: number): LaggedUsage {
  let shown = firstUsage;
  const coming: { readonly atMs: number; usage: number }[] = [];
  return {
    show(nowMs, usage) {
      const last = coming.at(-1);
      if (last !== undefined && nowMs - last.atMs < lagMs * GRAIN) last.usage = usage;
      else coming.push({ atMs: nowMs, usage });
      for (let first = coming[0]; first !== undefined && first.atMs <= nowMs - lagMs; first = coming[0]) {
        shown = first.usage;
        coming.shift();
      }
      return shown;
    },
  };
}

/** An error made by a fault, without usage headers, as the specification shows errors. */
function faultAnswer(
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
function truncated(response: ServiceResponse, roll: number): ServiceResponse {
  const bytes = Math.floor(response.body.length * roll);
  return { ...response, body: response.body.subarray(0, bytes), cut: 'in-body' };
}

/**
 * A body that is not JSON although nothing in the transport says so. In one half of the cases its end is missing, in the
 * other a byte within is replaced by one that JSON allows nowhere.
 */
function damaged(response: ServiceResponse, roll: number): ServiceResponse {
  const { body } = response;
  if (body.length < 2) return response;
  const at = Math.min(body.length - 1, 1 + Math.floor(body.length * ((roll * 2) % 1)));
  if (roll < 0.5) return withBody(response, body.subarray(0, at));
  const changed = Buffer.from(body);
  changed[at] = 0;
  return withBody(response, changed);
}

function withoutUsage(response: ServiceResponse): ServiceResponse {
  const { [QUOTA_HEADER]: _quota, [USAGE_HEADER]: _usage, ...headers } = response.headers;
  return { ...response, headers };
}

function withUsage(response: ServiceResponse, usage: number): ServiceResponse {
  return { ...response, headers: { ...response.headers, [USAGE_HEADER]: String(usage) } };
}

/**
 * The error as services in the wild word it (live-service.md): a stable code in `x-bf-error`, the same in the body
 * beside a message; 402 without any credential and 403 for an unknown token. A throughput 429 has no code.
 */
function coded(
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
