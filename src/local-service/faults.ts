/**
 * Adds faults to a service, in this order: wait; outage, drop, 429, 500, 503 (not billed); usage
 * header late or hidden, body damaged or cut, connection reset (billed); error dialect.
 */
import { QUOTA_HEADER, USAGE_HEADER } from '../brand-api/protocol.js';
import type { Clock } from '../core/clock.js';
import { ConfigError, usageProblem } from '../core/errors.js';
import { bearerToken } from './accounts.js';
import { jsonAnswer, type Service, type ServiceRequest, type ServiceResponse } from './service-request.js';

const SHARE = { form: '0.1 or 10%', read: readShare, none: 0 };
const duration = (form: string) => ({ form, read: readDurationMs, none: 0 });
const count = (form: string, none: number) => ({ form, read: readCount, none });
const choice = <const T extends string>(none: T, other: T) => ({
  form: `${none} or ${other}`,
  read: (text: string) => [none, other].find((value) => value === text) ?? null,
  none,
});

/** The keys of `--fault`: form of the value, reader (null for another form), value if not set. */
export const FAULTS = {
  /** Equal seeds draw equal faults for requests that arrive in the same order. */
  seed: count('N', 1),
  /** The delay of every answer; `jitter` is the longest random addition. */
  latency: duration('100ms'),
  jitter: duration('50ms'),
  /** Answers with these statuses; not billed. */
  500: SHARE,
  503: SHARE,
  /** Every answer is 503 in this window, counted from the service's start; not billed. */
  'outage-from': duration('10s'),
  'outage-for': duration('5m'),
  /** Connections closed before the request is read; not billed. */
  drop: SHARE,
  /** Connections closed instead of the answer; billed. */
  reset: SHARE,
  /** Answers that break off in the body; billed. */
  truncate: SHARE,
  /** Answers that arrive whole but are not JSON; billed. */
  damage: SHARE,
  /** Most requests in any rolling second; then 429, not billed. 0 for no limit. */
  'per-second': count('N', 0),
  'retry-after': count('SECONDS', 0),
  /** The usage header shows the usage of this long ago. */
  'usage-lag': duration('2s'),
  'usage-headers': choice('on', 'off'),
  /** `spec`: error bodies are `{}`. `coded`: `x-bf-error` and a message, 402 and 403 beside 401. */
  dialect: choice('spec', 'coded'),
  /** With `coded`: 404 for brands that are being fetched (`crawl_queued`). */
  'crawl-queued': SHARE,
};

export type Faults = {
  readonly [Key in keyof typeof FAULTS]: NonNullable<ReturnType<(typeof FAULTS)[Key]['read']>>;
};

/** Reads `KEY=VALUE` texts; the last of a key wins. Throws `ConfigError` with all wrong ones. */
export function parseFaults(texts: readonly string[]): Faults {
  const values = new Map<string, unknown>(Object.entries(FAULTS).map(([key, { none }]) => [key, none]));
  const problems: string[] = [];
  for (const text of texts) {
    const [key = '', ...rest] = text.split('=');
    const fault = Object.hasOwn(FAULTS, key) ? FAULTS[key as keyof typeof FAULTS] : undefined;
    const value = fault?.read(rest.join('=')) ?? null;
    if (value !== null) values.set(key, value);
    else problems.push(fault ? `${text} (${key}=${fault.form})` : `${text} (no such fault)`);
  }
  if (problems.length === 0) return Object.fromEntries(values) as Faults;
  const todo = `use KEY=VALUE with one of ${Object.keys(FAULTS).join(', ')}`;
  throw new ConfigError(usageProblem('not a fault', problems.join(', '), todo));
}

function readShare(text: string): number | null {
  const [, number, percent] = /^(\d{1,3}(?:\.\d{1,9})?)(%?)$/.exec(text) ?? [];
  const value = Number(number) / (percent === '%' ? 100 : 1);
  return value <= 1 ? value : null;
}

function readDurationMs(text: string): number | null {
  const [, number, unit] = /^(\d{1,9})(ms|s|m)?$/.exec(text) ?? [];
  if (number === undefined) return null;
  return Number(number) * (unit === 'm' ? 60_000 : unit === 's' ? 1_000 : 1);
}

function readCount(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Returns repeatable random numbers for a request (mulberry32, Tommy Ettinger, public domain). */
export function createChance(seed: number, index: number): () => number {
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** Random numbers of a request, in the order of drawing. */
const ROLLS = ['jitter', 'drop', 'error', 'reset', 'body', 'where'] as const;
type Rolls = Readonly<Record<(typeof ROLLS)[number], number>>;

/** Returns the service with faults. Closing it closes the service. */
export function withFaults(service: Service, faults: Faults, clock: Clock): Service {
  const isTooMany = createRollingSecond(faults['per-second']);
  const lagged = new Map<string, Promise<LaggedUsage>>();
  const startedAt = clock.now();
  let arrived = 0;

  const draw = (): Rolls => {
    const chance = createChance(faults.seed, arrived++);
    return Object.fromEntries(ROLLS.map((name) => [name, chance()])) as Rolls;
  };

  /** A free HEAD shows the usage before the caller's first request. */
  const openLaggedUsage = async (authorization: string): Promise<LaggedUsage> => {
    const before = await service.handle({ method: 'HEAD', path: '/v2/brands/x', authorization });
    return createLaggedUsage(faults['usage-lag'], Number(before.headers[USAGE_HEADER] ?? 0));
  };
  const laggedUsageOf = (authorization: string): Promise<LaggedUsage> => {
    const usage = lagged.get(authorization) ?? openLaggedUsage(authorization);
    lagged.set(authorization, usage);
    return usage;
  };

  const withoutAsking = (rolls: Rolls): ServiceResponse | null => {
    const now = clock.now();
    const sinceStart = now - startedAt - faults['outage-from'];
    if (sinceStart >= 0 && sinceStart < faults['outage-for']) return jsonAnswer(503, now);
    if (rolls.drop < faults.drop) return { ...jsonAnswer(503, now), cut: 'before-headers' };
    if (isTooMany(now)) {
      const after = faults['retry-after'];
      return jsonAnswer(429, now, after > 0 ? { 'retry-after': String(after) } : {});
    }
    if (rolls.error < faults[500]) return jsonAnswer(500, now);
    return rolls.error < faults[500] + faults[503] ? jsonAnswer(503, now) : null;
  };

  const ask = async (request: ServiceRequest, rolls: Rolls): Promise<ServiceResponse> => {
    const lateUsage =
      faults['usage-lag'] > 0 && request.authorization !== undefined
        ? await laggedUsageOf(request.authorization)
        : null;
    const answer = await service.handle(request);
    const { [QUOTA_HEADER]: quota, [USAGE_HEADER]: usage, ...others } = answer.headers;
    let response = answer;
    if (faults['usage-headers'] === 'off') response = { ...answer, headers: others };
    else if (lateUsage !== null && usage !== undefined) {
      const shown = String(lateUsage(clock.now(), Number(usage)));
      response = { ...answer, headers: { ...answer.headers, [USAGE_HEADER]: shown } };
    }
    if (rolls.reset < faults.reset) return { ...response, cut: 'before-headers' };
    if (response.status !== 200 || request.method === 'HEAD') return response;
    if (rolls.body < faults.truncate) {
      const body = response.body.subarray(0, Math.floor(response.body.length * rolls.where));
      return { ...response, body, cut: 'in-body' };
    }
    return rolls.body < faults.truncate + faults.damage ? damaged(response, rolls.where) : response;
  };

  return {
    async handle(request) {
      const rolls = draw();
      const waitMs = faults.latency + rolls.jitter * faults.jitter;
      if (waitMs > 0) await clock.sleep(waitMs);
      const refusal = withoutAsking(rolls);
      const response = refusal ?? (await ask(request, rolls));
      if (faults.dialect === 'spec') return response;
      const isQueued = rolls.where < faults['crawl-queued'];
      const special = { 404: isQueued && 'crawl', 429: refusal !== null && 'throughput' } as const;
      return coded(response, request, special);
    },
    close: () => service.close(),
  };
}

/** Judges if a request exceeds the limit of its last second, without counting refused ones. */
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

/** Takes the current usage, returns that of the lag before, or the oldest known. */
type LaggedUsage = (nowMs: number, usage: number) => number;

/** Readings closer together than this share of the lag count as one. */
const GRAIN = 1 / 200;

/** `firstUsage` is the usage before the first request. */
function createLaggedUsage(lagMs: number, firstUsage: number): LaggedUsage {
  let shown = firstUsage;
  const coming: { readonly atMs: number; usage: number }[] = [];
  return (nowMs, usage) => {
    const last = coming.at(-1);
    if (last !== undefined && nowMs - last.atMs < lagMs * GRAIN) last.usage = usage;
    else coming.push({ atMs: nowMs, usage });
    for (let first = coming[0]; first !== undefined && first.atMs <= nowMs - lagMs; first = coming[0]) {
      shown = first.usage;
      coming.shift();
    }
    return shown;
  };
}

function withBody(response: ServiceResponse, body: Buffer): ServiceResponse {
  return { ...response, headers: { ...response.headers, 'content-length': String(body.length) }, body };
}

/** Damages a body unseen by the transport: cuts its end, or sets a byte that JSON never has. */
function damaged(response: ServiceResponse, roll: number): ServiceResponse {
  const { body } = response;
  if (body.length < 2) return response;
  const at = Math.min(body.length - 1, 1 + Math.floor(body.length * ((roll * 2) % 1)));
  if (roll < 0.5) return withBody(response, body.subarray(0, at));
  const changed = Buffer.from(body);
  changed[at] = 0;
  return withBody(response, changed);
}

/** Errors as in the wild: a stable code, or null for an error without one, and a message. */
const WORDS: Readonly<Record<string, readonly [code: string | null, message: string]>> = {
  400: ['bad_request', 'Bad request'],
  401: ['malformed_authorization', 'Malformed Authorization header'],
  402: ['missing_credentials', 'No credentials given'],
  403: ['invalid_api_key', 'Unknown or revoked API key'],
  404: ['not_found', 'Brand not found'],
  429: ['quota_exceeded', 'API key quota exceeded'],
  crawl: ['crawl_queued', 'Brand is being fetched, try again later'],
  throughput: [null, 'Too many requests'],
};

/** Writes an error in the dialect `coded`; `special` replaces a status by a key of `WORDS`. */
function coded(
  response: ServiceResponse,
  { method, authorization }: ServiceRequest,
  special: Readonly<Record<number, string | false>>,
): ServiceResponse {
  if (response.status < 400 || response.cut !== undefined) return response;
  const denial = authorization === undefined ? 402 : bearerToken(authorization) === null ? 401 : 403;
  const status = response.status === 401 ? denial : response.status;
  const [code, message] = WORDS[special[status] || status] ?? [
    null,
    status < 500 ? 'Request refused' : 'Internal error',
  ];
  const numbers = {
    quota: Number(response.headers[QUOTA_HEADER] ?? 0),
    used: Number(response.headers[USAGE_HEADER] ?? 0),
  };
  const body = { message, ...(code && { error: code }), ...(code === 'quota_exceeded' && numbers) };
  const headers = code === null ? response.headers : { ...response.headers, 'x-bf-error': code };
  const answer = withBody({ ...response, status, headers }, Buffer.from(JSON.stringify(body)));
  return method === 'HEAD' ? { ...answer, body: Buffer.alloc(0) } : answer;
}
