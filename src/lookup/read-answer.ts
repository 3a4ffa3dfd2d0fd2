/**
 * What an answer means. Pure: a result of `send` goes in, one of a dozen meanings comes out, with
 * what it cost and what the usage headers said. The worker decides what to do about it (repeat,
 * wait, halt), the ledger what the numbers mean for the budget.
 *
 * An error is named by the `x-bf-error` header, else by `error` in the body, else by the status
 * alone.
 */
import { isUtf8 } from 'node:buffer';
import { type Brand, whyNoBrand } from './brand.js';
import {
  parseCount,
  parseHttpDate,
  parseRetryAfter,
  QUOTA_HEADER,
  USAGE_HEADER,
} from './response-headers.js';
import { BRANDS_PATH } from './routes.js';
import type { SendResult } from './send.js';

/**
 * What a "not found" or a refusal shows of who said it. Any web server answers so to a path that it
 * does not know.
 *
 *   own      a usage header or an error code: the service itself
 *   object   a JSON object and no more, or a 204: perhaps the service
 *   none     nothing of either, or a redirect: the service has none
 */
export type AnswerSign = 'own' | 'object' | 'none';

/** What the answer came to. */
export type Meaning =
  | { readonly type: 'matched'; readonly body: Buffer; readonly brand: Brand }
  | { readonly type: 'not_found'; readonly comeBack: boolean; readonly sign: AnswerSign }
  /** Never worth another request. `isNoBrand`: a 200 whose object is not that of a brand. */
  | {
      readonly type: 'failed';
      readonly reason: string;
      readonly sign: AnswerSign;
      readonly isNoBrand?: true;
    }
  /**
   * Billed or perhaps billed, and of no use: worth one more request at most. `sign`: it came whole,
   * and not from the service.
   */
  | { readonly type: 'wasted'; readonly reason: string; readonly sign?: 'none' }
  /** Not billed, may pass: 5xx, or nothing left this machine (`isUnsent`). */
  | {
      readonly type: 'unavailable';
      readonly reason: string;
      readonly retryAfterMs: number | null;
      readonly isUnsent?: true;
      /** Nothing listens at that port. */
      readonly isRefused?: true;
      /** Nor will it pass with time: the host's name, or its certificate, is wrong. */
      readonly isLasting?: true;
    }
  | { readonly type: 'credentials'; readonly status: number; readonly reason: string }
  /** 429. `code` is what the service itself called it; null: it did not say. */
  | {
      readonly type: 'refused';
      readonly code: 'quota' | 'throughput' | null;
      readonly retryAfterMs: number | null;
    };

export interface Answer {
  readonly meaning: Meaning;
  /** `doubtful`: billed or perhaps billed, without a usable answer. */
  readonly cost: 'billed' | 'free' | 'doubtful';
  /** The usage headers; null where absent or not a plain number. */
  readonly quota: number | null;
  readonly usage: number | null;
  /** The service's own clock, milliseconds; null without a usable `Date`. */
  readonly date: number | null;
}

/**
 * Statuses that are never billed, whatever `--free-statuses` says (specification and live-service
 * notes).
 */
const ALWAYS_FREE = new Set([401, 403, 429]);

/**
 * Whether the quota counts an answer with this status. `freeStatuses` holds statuses, `5xx` for all
 * of a hundred.
 */
export function isBilledStatus(status: number, freeStatuses: readonly string[]): boolean {
  if (ALWAYS_FREE.has(status)) return false;
  return !freeStatuses.includes(String(status)) && !freeStatuses.includes(`${Math.floor(status / 100)}xx`);
}

export function readAnswer(result: SendResult, freeStatuses: readonly string[], now: number): Answer {
  if (result.type === 'no_answer') {
    const nothing = { quota: null, usage: null, date: null };
    return result.wasSent
      ? {
          meaning: {
            type: 'wasted',
            reason: `no answer, may have been billed (${result.reason})`,
            ...(result.fault === 'no_http' ? { sign: 'none' } : {}),
          },
          cost: 'doubtful',
          ...nothing,
        }
      : {
          meaning: {
            type: 'unavailable',
            reason: result.reason,
            retryAfterMs: null,
            isUnsent: true,
            ...(result.fault === 'lasting' ? { isLasting: true } : {}),
            ...(result.fault === 'refused' ? { isRefused: true } : {}),
          },
          cost: 'free',
          ...nothing,
        };
  }
  const { status, headers } = result;
  const meaning = meaningOf(result, now);
  const isBilled = isBilledStatus(status, freeStatuses);
  return {
    meaning:
      meaning.type === 'wasted' && !isBilled
        ? { type: 'failed', reason: meaning.reason, sign: meaning.sign ?? signOf(result) }
        : meaning,
    cost: !isBilled ? 'free' : meaning.type === 'wasted' ? 'doubtful' : 'billed',
    quota: parseCount(headers[QUOTA_HEADER]),
    usage: parseCount(headers[USAGE_HEADER]),
    date: parseHttpDate(headers.date),
  };
}

function meaningOf(result: SendResult & { type: 'answer' }, now: number): Meaning {
  const { status, headers } = result;
  if (status === 200) return readBrand(result);
  if (status === 204)
    return { type: 'not_found', comeBack: false, sign: hasUsage(headers) ? 'own' : 'object' };
  if (status === 404) {
    return {
      type: 'not_found',
      comeBack: errorCode(result) === 'crawl_queued',
      sign: signOf(result),
    };
  }
  if (status === 401 || status === 402 || status === 403) {
    return { type: 'credentials', status, reason: REFUSALS[status] };
  }
  const retryAfterMs = parseRetryAfter(headers['retry-after'], parseHttpDate(headers.date) ?? now);
  if (status === 429) {
    const code = refusalCode(errorCode(result)) ?? (saysUsedUp(result.body) ? 'quota' : null);
    return { type: 'refused', code, retryAfterMs };
  }
  if (status >= 500) return { type: 'unavailable', reason: `the service answered ${status}`, retryAfterMs };
  const code = errorCode(result);
  const target = status >= 300 && status < 400 ? redirectTarget(headers.location) : null;
  const sign = signOf(result);
  return {
    type: 'failed',
    reason: `the service answered ${status}${code === null ? '' : ` ${code}`} (${wordsOf(status, target)})`,
    sign: target !== null && sign === 'object' ? 'none' : sign,
  };
}

function wordsOf(status: number, target: string | null): string {
  if (target !== null) return `a redirect to ${target}, not followed`;
  return status < 400 ? 'a redirect or empty answer, not followed' : 'request rejected';
}

/**
 * Where a redirect leads, as an address of the service: without the route and what is behind it.
 * Never the query, which may hold what is nobody's business. null: nowhere.
 */
function redirectTarget(location: string | undefined): string | null {
  const [target, base] = [location?.trim() ?? '', 'http://same.invalid'];
  if (target === '' || !URL.canParse(target, base)) return null;
  const { origin, pathname } = new URL(target, base);
  const route = pathname.indexOf(BRANDS_PATH);
  const path = route < 0 ? pathname : pathname.slice(0, route);
  const host = origin === base ? '' : origin === 'null' ? 'another scheme' : origin;
  return `${host}${path}`.slice(0, 200) || BRANDS_PATH;
}

const REFUSALS = {
  401: 'the token is malformed or unknown',
  402: 'no credential arrived, or the plan has no credit',
  403: 'the token is unknown, revoked, or without credit',
} as const;

function readBrand(result: SendResult & { type: 'answer' }): Meaning {
  const wasted = (what: string) => ({
    type: 'wasted' as const,
    reason: `answer damaged, was billed (${what})`,
  });
  if (result.damage !== null) return wasted(result.damage === 'too_large' ? 'too large' : 'cut off');
  if (!isUtf8(result.body)) return wasted('not UTF-8');
  const body = withoutBom(result.body);
  const brand = parseJson(body);
  if (typeof brand !== 'object' || brand === null || Array.isArray(brand)) {
    const isForeign = !beginsObject(body) && signOf(result) === 'none';
    return { ...wasted('not a JSON object'), ...(isForeign ? { sign: 'none' } : {}) };
  }
  // The service meant to say this: a second request would be answered and billed alike.
  const lack = whyNoBrand(brand);
  if (lack !== null) {
    return {
      type: 'failed',
      reason: `the answer is no brand, was billed (${lack})`,
      sign: hasUsage(result.headers) ? 'own' : 'object',
      isNoBrand: true,
    };
  }
  return { type: 'matched', body, brand: brand as Brand };
}

/** Of an empty body, and of one that begins like a brand, nobody can tell whether it came whole. */
function beginsObject(body: Buffer): boolean {
  const text = body.toString('utf8', 0, 256).trimStart();
  return text === '' || text.startsWith('{');
}

function signOf(result: SendResult & { type: 'answer' }): AnswerSign {
  if (hasUsage(result.headers) || errorCode(result) !== null) return 'own';
  // Of a body that did not come whole nobody can tell.
  if (result.damage !== null) return 'object';
  return parseSmallObject(result.body) === null ? 'none' : 'object';
}

function hasUsage(headers: (SendResult & { type: 'answer' })['headers']): boolean {
  return [QUOTA_HEADER, USAGE_HEADER].some((name) => parseCount(headers[name]) !== null);
}

/**
 * Stable name of an error, lower case; null when the service gave none. Never more than a plain
 * word.
 */
function errorCode(result: SendResult & { type: 'answer' }): string | null {
  const named = result.headers['x-bf-error'] ?? bodyError(result.body);
  return typeof named === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(named) ? named.toLowerCase() : null;
}

function bodyError(body: Buffer): unknown {
  return parseSmallObject(body)?.error;
}

/**
 * Seen beside, or instead of, a code: `{"message":"API key quota
 * exceeded","quota":250,"used":251}`.
 */
function saysUsedUp(body: Buffer): boolean {
  const { quota, used } = parseSmallObject(body) ?? {};
  return typeof quota === 'number' && typeof used === 'number' && used >= quota;
}

function parseSmallObject(body: Buffer): Record<string, unknown> | null {
  if (body.length === 0 || body.length > 65_536) return null;
  const parsed = parseJson(body);
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  return isObject ? (parsed as Record<string, unknown>) : null;
}

function refusalCode(code: string | null): 'quota' | 'throughput' | null {
  if (code === null) return null;
  if (/quota|credit|limit_exceeded_month/.test(code)) return 'quota';
  return /throttl|rate|throughput|too_many/.test(code) ? 'throughput' : null;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(withoutBom(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * RFC 8259, section 8.1: a byte order mark is not to be sent, and may be ignored. Stored or written
 * it would break what follows.
 */
function withoutBom(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}
