/** Interprets the results of `send`: meaning, cost and usage headers. */
import { isUtf8 } from 'node:buffer';
import { attempt } from '../core/lifecycle.js';
import type { FaultKind } from '../core/system-error.js';
import { type Brand, whyNoBrand } from './brand.js';
import {
  BRANDS_PATH,
  parseCount,
  parseHttpDate,
  parseRetryAfter,
  QUOTA_HEADER,
  USAGE_HEADER,
} from './protocol.js';
import type { SendResult } from './send.js';

/**
 * What an answer shows of its sender: any web server answers "not found" to an unknown path.
 *
 *   own      the service: the answer has a usage header or an error code
 *   object   perhaps the service: the answer is a JSON object or a 204
 *   none     not the service: the answer has none of these, or redirects
 */
type Evidence = 'own' | 'object' | 'none';

export type Meaning =
  /** `body`: the JSON as it came; `text` and `brand` save others from parsing it again. */
  | { readonly type: 'matched'; readonly body: Buffer; readonly text: string; readonly brand: Brand }
  | {
      readonly type: 'not_found';
      readonly status: 204 | 404;
      readonly retryLater: boolean;
      readonly evidence: Evidence;
    }
  /** Another request would not help. `isNoBrand`: a 200 whose object is not a brand. */
  | {
      readonly type: 'failed';
      readonly reason: string;
      readonly evidence: Evidence;
      readonly isNoBrand?: true;
    }
  /** Unusable, perhaps billed: one more request may help. `evidence`: another server sent it. */
  | { readonly type: 'unusable'; readonly reason: string; readonly evidence?: 'none' }
  /** A fault that may pass, not billed: 5xx, or nothing was sent (`unsent` says why). */
  | {
      readonly type: 'unavailable';
      readonly reason: string;
      readonly retryAfterMs: number | null;
      readonly unsent?: FaultKind;
    }
  | { readonly type: 'credentials'; readonly status: number; readonly reason: string }
  /** 429. `code` is null if the service gave no reason. */
  | {
      readonly type: 'refused';
      readonly code: 'quota' | 'throughput' | null;
      readonly retryAfterMs: number | null;
    };

export type Means<Type extends Meaning['type']> = Extract<Meaning, { type: Type }>;

export interface Answer {
  readonly meaning: Meaning;
  /** `maybe_billed`: billed or perhaps billed, without a usable answer. */
  readonly cost: 'billed' | 'free' | 'maybe_billed';
  /** From the usage headers; null if absent or not a plain number. */
  readonly quota: number | null;
  readonly usage: number | null;
  /** The service's own clock in milliseconds; null without a usable `Date`. */
  readonly date: number | null;
}

/** Never billed, whatever `--free-statuses` lists. */
const ALWAYS_FREE = new Set([401, 403, 429]);

/** True if the quota counts the status. `freeStatuses` lists statuses and groups such as `5xx`. */
export function isBilledStatus(status: number, freeStatuses: readonly string[]): boolean {
  if (ALWAYS_FREE.has(status)) return false;
  return !freeStatuses.includes(String(status)) && !freeStatuses.includes(`${Math.floor(status / 100)}xx`);
}

type Answered = SendResult & { type: 'answer' };

/** Returns what a result means, what it costs, and its usage headers. `now`: for `Retry-After`. */
export function readAnswer(result: SendResult, freeStatuses: readonly string[], now: number): Answer {
  if (result.type === 'no_answer') return { ...readSilence(result), quota: null, usage: null, date: null };
  const { status, headers } = result;
  const meaning = meaningOf(result, now);
  const isBilled = isBilledStatus(status, freeStatuses);
  return {
    meaning:
      meaning.type === 'unusable' && !isBilled
        ? { type: 'failed', reason: meaning.reason, evidence: meaning.evidence ?? readError(result).evidence }
        : meaning,
    cost: !isBilled ? 'free' : meaning.type === 'unusable' ? 'maybe_billed' : 'billed',
    quota: parseCount(headers[QUOTA_HEADER]),
    usage: parseCount(headers[USAGE_HEADER]),
    date: parseHttpDate(headers.date),
  };
}

function readSilence(result: SendResult & { type: 'no_answer' }): Pick<Answer, 'meaning' | 'cost'> {
  const { wasSent, reason, fault = 'passing' } = result;
  if (wasSent) {
    const evidence = fault === 'no_http' ? ({ evidence: 'none' } as const) : {};
    return {
      meaning: { type: 'unusable', reason: `no answer, may have been billed (${reason})`, ...evidence },
      cost: 'maybe_billed',
    };
  }
  return { meaning: { type: 'unavailable', reason, retryAfterMs: null, unsent: fault }, cost: 'free' };
}

const REFUSALS: Readonly<Record<number, string>> = {
  401: 'the token is malformed or unknown',
  402: 'the service received no token, or the plan has no credit',
  403: 'the token is unknown, revoked, or without credit',
};

function meaningOf(result: Answered, now: number): Meaning {
  const { status, headers } = result;
  if (status === 200) return readBrand(result);
  const refusal = REFUSALS[status];
  if (refusal !== undefined) return { type: 'credentials', status, reason: refusal };
  const { code, evidence, isUsedUp } = readError(result);
  if (status === 204)
    return { type: 'not_found', status, retryLater: false, evidence: hasUsage(headers) ? 'own' : 'object' };
  if (status === 404) return { type: 'not_found', status, retryLater: code === 'crawl_queued', evidence };
  const retryAfterMs = parseRetryAfter(headers['retry-after'], parseHttpDate(headers.date) ?? now);
  if (status === 429) {
    return { type: 'refused', code: refusalCode(code) ?? (isUsedUp ? 'quota' : null), retryAfterMs };
  }
  if (status >= 500) return { type: 'unavailable', reason: `the service answered ${status}`, retryAfterMs };
  const isRedirect = status >= 300 && status < 400;
  const target = isRedirect ? redirectTarget(headers.location) : null;
  const words =
    target !== null
      ? `a redirect to ${target}, not followed`
      : status < 400
        ? 'a redirect or empty answer, not followed'
        : 'request rejected';
  return {
    type: 'failed',
    reason: `the service answered ${status}${code === null ? '' : ` ${code}`} (${words})`,
    evidence: target !== null && evidence === 'object' ? 'none' : evidence,
  };
}

/** Returns where a redirect leads, or null. Omits route and query, which may be private. */
function redirectTarget(location: string | undefined): string | null {
  const [target, base] = [location?.trim() ?? '', 'http://same.invalid'];
  if (target === '' || !URL.canParse(target, base)) return null;
  const { origin, pathname } = new URL(target, base);
  const [path = ''] = pathname.split(BRANDS_PATH, 1);
  const host = origin === base ? '' : origin === 'null' ? 'another scheme' : origin;
  return `${host}${path}`.slice(0, 200) || BRANDS_PATH;
}

function readBrand(result: Answered): Meaning {
  const { incomplete, headers } = result;
  const unusable = (what: string) =>
    ({ type: 'unusable', reason: `answer damaged, was billed (${what})` }) as const;
  if (incomplete !== null) return unusable(incomplete === 'too_large' ? 'too large' : 'cut off');
  if (!isUtf8(result.body)) return unusable('not UTF-8');
  const body = withoutBom(result.body);
  const text = body.toString('utf8');
  const brand = parseObject(text);
  if (brand === null) {
    // An empty body, or one that begins with `{`, may be a cut answer of the service.
    const isNotTheService =
      /^\s*[^\s{]/.test(body.toString('utf8', 0, 256)) && readError(result).evidence === 'none';
    return { ...unusable('not a JSON object'), ...(isNotTheService ? { evidence: 'none' } : {}) };
  }
  const lack = whyNoBrand(brand);
  if (lack === null) return { type: 'matched', body, text, brand };
  // The service would send the same answer again, and bill it again.
  const reason = `the answer is not a brand, was billed (${lack})`;
  return { type: 'failed', reason, evidence: hasUsage(headers) ? 'own' : 'object', isNoBrand: true };
}

/** Reads error code and sender from `x-bf-error` or the body's `error`. */
function readError({ headers, body, incomplete }: Answered) {
  const object = body.length > 65_536 ? null : parseObject(withoutBom(body).toString('utf8'));
  const errorCode = headers['x-bf-error'] ?? object?.error;
  const isCode = typeof errorCode === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(errorCode);
  const { quota, used } = object ?? {};
  const isOwn = hasUsage(headers) || isCode;
  // An incomplete body may be an object.
  const isObject = incomplete !== null || object !== null;
  const evidence: Evidence = isOwn ? 'own' : isObject ? 'object' : 'none';
  return {
    code: isCode ? errorCode.toLowerCase() : null,
    evidence,
    // Some services send this with or without a code: `{"message":"...","quota":250,"used":251}`.
    isUsedUp: typeof quota === 'number' && typeof used === 'number' && used >= quota,
  };
}

function hasUsage(headers: Answered['headers']): boolean {
  return [QUOTA_HEADER, USAGE_HEADER].some((name) => parseCount(headers[name]) !== null);
}

function refusalCode(code: string | null): 'quota' | 'throughput' | null {
  if (code === null) return null;
  if (/quota|credit|limit_exceeded_month/.test(code)) return 'quota';
  return /throttl|rate|throughput|too_many/.test(code) ? 'throughput' : null;
}

/** Parses a JSON object; null for any other text. */
export function parseObject(text: string): (Brand & Readonly<Record<string, unknown>>) | null {
  const parsed: unknown = attempt(() => JSON.parse(text), null);
  return typeof parsed === 'object' && !Array.isArray(parsed) ? (parsed as Brand | null) : null;
}

/** Removes a byte order mark, which JSON may have (RFC 8259, 8.1) and stored answers must not. */
function withoutBom(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}
