/** Interprets answers: a result of `send` becomes a meaning, a cost and usage headers. */
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
 * What a refusal shows of who sent it. Any web server says "not found" of a path it does not know.
 *
 *   own      a usage header or an error code: the service itself
 *   object   a JSON object and no more, or a 204: perhaps the service
 *   none     nothing of either, or a redirect: the service has none
 */
type Evidence = 'own' | 'object' | 'none';

export type Meaning =
  /** `body`: the JSON as it came; `text` and `brand`: the same decoded and parsed, once for all. */
  | { readonly type: 'matched'; readonly body: Buffer; readonly text: string; readonly brand: Brand }
  | {
      readonly type: 'not_found';
      readonly status: 204 | 404;
      readonly retryLater: boolean;
      readonly evidence: Evidence;
    }
  /** Never worth another request. `isNoBrand`: a 200 whose object is not that of a brand. */
  | {
      readonly type: 'failed';
      readonly reason: string;
      readonly evidence: Evidence;
      readonly isNoBrand?: true;
    }
  /** Perhaps billed, and unusable: one more request at most. `evidence`: not the service's. */
  | { readonly type: 'unusable'; readonly reason: string; readonly evidence?: 'none' }
  /** Not billed, may pass: 5xx, or nothing left this machine (`unsent` says why). */
  | {
      readonly type: 'unavailable';
      readonly reason: string;
      readonly retryAfterMs: number | null;
      readonly unsent?: FaultKind;
    }
  | { readonly type: 'credentials'; readonly status: number; readonly reason: string }
  /** 429. `code` is what the service itself called it; null: it did not say. */
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
  /** The usage headers; null where absent or not a plain number. */
  readonly quota: number | null;
  readonly usage: number | null;
  /** The service's own clock, milliseconds; null without a usable `Date`. */
  readonly date: number | null;
}

/** Statuses that are never billed, independent of `--free-statuses`. */
const ALWAYS_FREE = new Set([401, 403, 429]);

/** Whether the quota counts it. `freeStatuses`: statuses, `5xx` for a hundred of them. */
export function isBilledStatus(status: number, freeStatuses: readonly string[]): boolean {
  if (ALWAYS_FREE.has(status)) return false;
  return !freeStatuses.includes(String(status)) && !freeStatuses.includes(`${Math.floor(status / 100)}xx`);
}

type Answered = SendResult & { type: 'answer' };

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

/** Where a redirect leads, without route and query, which may hold anything; null: nowhere. */
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
    // An empty body, or one that begins like a brand, may be incomplete.
    const isNotTheService =
      /^\s*[^\s{]/.test(body.toString('utf8', 0, 256)) && readError(result).evidence === 'none';
    return { ...unusable('not a JSON object'), ...(isNotTheService ? { evidence: 'none' } : {}) };
  }
  const lack = whyNoBrand(brand);
  if (lack === null) return { type: 'matched', body, text, brand };
  // The service meant to say this: a second request would be answered and billed alike.
  const reason = `the answer is not a brand, was billed (${lack})`;
  return { type: 'failed', reason, evidence: hasUsage(headers) ? 'own' : 'object', isNoBrand: true };
}

/** Reads what an answer says beside its status, by `x-bf-error` or `error` in the body; and who. */
function readError({ headers, body, incomplete }: Answered) {
  const object = body.length > 65_536 ? null : parseObject(withoutBom(body).toString('utf8'));
  const named = headers['x-bf-error'] ?? object?.error;
  const isCode = typeof named === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(named);
  const { quota, used } = object ?? {};
  const isOwn = hasUsage(headers) || isCode;
  // An incomplete body does not show it.
  const isObject = incomplete !== null || object !== null;
  const evidence: Evidence = isOwn ? 'own' : isObject ? 'object' : 'none';
  return {
    code: isCode ? named.toLowerCase() : null,
    evidence,
    // Seen beside, or instead of, a code: `{"message":"...","quota":250,"used":251}`.
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

/** The object of a JSON text; null when it is not an object. */
export function parseObject(text: string): Brand | null {
  const parsed: unknown = attempt(() => JSON.parse(text), null);
  return typeof parsed === 'object' && !Array.isArray(parsed) ? (parsed as Brand | null) : null;
}

/** RFC 8259, 8.1: a byte order mark may be ignored. Stored, it would break what follows. */
function withoutBom(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}
