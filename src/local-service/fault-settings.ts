/**
 * The table of faults that the local service can have, and how `KEY=VALUE` texts set them. What each
 * does to an answer is `faults.ts`'s.
 */
import { NeverStartError } from '../core/errors.js';

export interface Faults {
  /** Equal seeds draw equal faults for requests that arrive in the same order. */
  readonly seed: number;
  /** Every answer waits so long, and up to `jitterMs` longer. */
  readonly latencyMs: number;
  readonly jitterMs: number;
  /** Shares, 0 to 1, of requests answered with 500 and 503; not billed. */
  readonly error500: number;
  readonly error503: number;
  /** Every answer is 503 in this window, counted from the service's start; not billed. */
  readonly outageFromMs: number;
  readonly outageForMs: number;
  /** Share of connections closed before the request is looked at; not billed. */
  readonly drop: number;
  /** Share of connections closed instead of the answer; billed. */
  readonly reset: number;
  /** Share of answers that break off in the body; billed. */
  readonly truncate: number;
  /** Share of answers that arrive whole but are not JSON; billed. */
  readonly damage: number;
  /** So many requests in any rolling second, then 429; not billed. 0: no such limit. */
  readonly perSecond: number;
  /** Seconds in the `Retry-After` header of such a 429; 0: no header. */
  readonly retryAfterSeconds: number;
  /** The usage header shows what was true so long ago. */
  readonly usageLagMs: number;
  /** Neither of the usage headers is sent. */
  readonly hidesUsage: boolean;
  /** `spec`: error bodies are `{}`. `coded`: header `x-bf-error` and a message, 402 and 403 beside 401. */
  readonly dialect: 'spec' | 'coded';
  /** `coded` only: share of 404 that say that the brand is being fetched (`crawl_queued`). */
  readonly crawlQueued: number;
}

export const NO_FAULTS: Faults = {
  seed: 1,
  latencyMs: 0,
  jitterMs: 0,
  error500: 0,
  error503: 0,
  outageFromMs: 0,
  outageForMs: 0,
  drop: 0,
  reset: 0,
  truncate: 0,
  damage: 0,
  perSecond: 0,
  retryAfterSeconds: 0,
  usageLagMs: 0,
  hidesUsage: false,
  dialect: 'spec',
  crawlQueued: 0,
};

/** Reads one value into its part of the settings; null: not a value of this key. */
type Reader = (text: string) => Partial<Faults> | null;

const share = (name: keyof Faults) => one(name, (text) => readShare(text));
const duration = (name: keyof Faults) => one(name, (text) => readDurationMs(text));
const count = (name: keyof Faults) => one(name, (text) => (/^\d{1,9}$/.test(text) ? Number(text) : null));

/** Every key with the form of its value, for help texts. */
export const FAULT_KEYS: Readonly<Record<string, { readonly form: string; readonly read: Reader }>> = {
  seed: { form: 'N', read: count('seed') },
  latency: { form: '100ms', read: duration('latencyMs') },
  jitter: { form: '50ms', read: duration('jitterMs') },
  500: { form: '0.1 or 10%', read: share('error500') },
  503: { form: '0.1 or 10%', read: share('error503') },
  'outage-from': { form: '10s', read: duration('outageFromMs') },
  'outage-for': { form: '5m', read: duration('outageForMs') },
  drop: { form: '0.1 or 10%', read: share('drop') },
  reset: { form: '0.1 or 10%', read: share('reset') },
  truncate: { form: '0.1 or 10%', read: share('truncate') },
  damage: { form: '0.1 or 10%', read: share('damage') },
  'per-second': { form: 'N', read: count('perSecond') },
  'retry-after': { form: 'SECONDS', read: count('retryAfterSeconds') },
  'usage-lag': { form: '2s', read: duration('usageLagMs') },
  'usage-headers': { form: 'on or off', read: readUsageHeaders },
  dialect: { form: 'spec or coded', read: readDialect },
  'crawl-queued': { form: '0.1 or 10%', read: share('crawlQueued') },
};

/**
 * Reads `KEY=VALUE` texts; a later one wins. Throws `NeverStartError` listing every text that is not one of the
 * table's.
 */
export function parseFaults(texts: readonly string[]): Faults {
  let faults = NO_FAULTS;
  const problems: string[] = [];
  for (const text of texts) {
    const mark = text.indexOf('=');
    const key = mark < 0 ? text : text.slice(0, mark);
    const known = Object.hasOwn(FAULT_KEYS, key) ? FAULT_KEYS[key] : undefined;
    const part = mark < 0 ? null : known?.read(text.slice(mark + 1));
    if (part) faults = { ...faults, ...part };
    else problems.push(known ? `${text} (${key}=${known.form})` : `${text} (no such fault)`);
  }
  if (problems.length === 0) return faults;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'not a fault',
    subject: problems.join(', '),
    todo: `use KEY=VALUE with one of ${Object.keys(FAULT_KEYS).join(', ')}`,
  });
}

function one(name: keyof Faults, read: (text: string) => number | null): Reader {
  return (text) => {
    const value = read(text);
    return value === null ? null : { [name]: value };
  };
}

function readShare(text: string): number | null {
  const match = /^(\d{1,3}(?:\.\d{1,9})?)(%?)$/.exec(text);
  if (match === null) return null;
  const value = match[2] === '%' ? Number(match[1]) / 100 : Number(match[1]);
  return value <= 1 ? value : null;
}

function readDurationMs(text: string): number | null {
  const match = /^(\d{1,9})(ms|s|m)?$/.exec(text);
  if (match === null) return null;
  const unitMs = match[2] === 'm' ? 60_000 : match[2] === 's' ? 1_000 : 1;
  return Number(match[1]) * unitMs;
}

function readUsageHeaders(text: string): Partial<Faults> | null {
  return text === 'on' || text === 'off' ? { hidesUsage: text === 'off' } : null;
}

function readDialect(text: string): Partial<Faults> | null {
  return text === 'spec' || text === 'coded' ? { dialect: text } : null;
}
