/** Scripted collaborators of asking; every event is appended to one list. */
import type { Client } from '../../src/brand-api/client.js';
import type { Answer, Meaning } from '../../src/brand-api/read-answer.js';
import type { NewOutcome } from '../../src/core/outcome.js';
import type { RunHalt } from '../../src/engine/stores/run-reasons.js';
import type { RunRecord, RunSettings } from '../../src/engine/stores/run-store.js';
import type { Governor } from '../../src/ledger/governor.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import type { Grant } from '../../src/ledger/permit-waiters.js';
import { sayFailure } from '../../src/run/words/say-reason.js';
import { createAddressTrust } from '../../src/worker/address-trust.js';
import { ask } from '../../src/worker/ask.js';
import type { AskContext, Asked } from '../../src/worker/asked.js';
import { Breaker, type Pass } from '../../src/worker/breaker.js';
import { RefusalSeries } from '../../src/worker/refusal-series.js';
import { beginningRun, runSettings } from '../engine/contract/run-settings.js';

export const NOON = Date.UTC(2026, 2, 15, 12);

/** Passed a breaker that was closed. */
export const BEFORE: Pass = { type: 'pass', isProbe: false };

type PassingClock = ReturnType<typeof createPassingClock>;

/** A wait takes no time and passes it; with `isHeld` it lasts until it is aborted. */
export function createPassingClock(options: { isHeld?: boolean } = {}) {
  let now = NOON;
  let wall = 0;
  const slept: number[] = [];
  return {
    now: () => now + wall,
    monotonic: () => now,
    slept: slept as readonly number[],
    pass(ms: number): void {
      now += ms;
    },
    /** Sets the clock by this much. */
    set(ms: number): void {
      wall += ms;
    },
    async sleep(ms: number, signal?: AbortSignal): Promise<void> {
      slept.push(ms);
      signal?.throwIfAborted();
      if (options.isHeld) await untilAborted(signal);
      now += ms;
    },
  };
}

export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal?.aborted) reject(signal.reason);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

export function answerOf(meaning: Meaning, some: Partial<Answer> = {}): Answer {
  const isFree = ['unavailable', 'credentials', 'refused'].includes(meaning.type);
  const cost = meaning.type === 'unusable' ? 'maybe_billed' : isFree ? 'free' : 'billed';
  return { meaning, cost, quota: null, usage: null, date: null, ...some };
}

/** The store's date of whatever is recorded. */
export const RECORDED_AT = 1_900_000_000_000;

export const MATCHED = answerOf({
  type: 'matched',
  body: Buffer.from('{"name":"Acme"}'),
  text: '{"name":"Acme"}',
  brand: { name: 'Acme' },
});
export const NOT_FOUND = answerOf({ type: 'not_found', status: 404, retryLater: false, evidence: 'own' });
export const FAILED = answerOf({ type: 'failed', reason: 'the service answered 410', evidence: 'own' });
export const UNUSABLE = answerOf({
  type: 'unusable',
  reason: 'answer damaged, was billed (not a JSON object)',
});

type Unavailable = Extract<Meaning, { type: 'unavailable' }>;
export const unavailable = (what: Partial<Unavailable> = {}): Answer =>
  answerOf({ type: 'unavailable', reason: 'the service answered 503', retryAfterMs: null, ...what });
export const DOWN = unavailable();

type Code = Extract<Meaning, { type: 'refused' }>['code'];
export const refused = (code: Code, retryAfterMs: number | null = null, some: Partial<Answer> = {}): Answer =>
  answerOf({ type: 'refused', code, retryAfterMs }, some);
export const TOO_FAST = refused('throughput');
export const SPENT_QUOTA = refused('quota');

export type Asking = ReturnType<typeof createAsking>;

export interface AskingOptions {
  /** One per request; the last one is repeated. A function receives the request's abort signal. */
  readonly answers: readonly (Answer | ((signal: AbortSignal | undefined) => Promise<Answer>))[];
  /** Instead of permits. The last is repeated. */
  readonly grants?: readonly (Grant | ((signal: AbortSignal) => Promise<Grant>))[];
  readonly record?: (outcome: NewOutcome) => Promise<void>;
  readonly clock?: PassingClock;
  readonly state?: LedgerState | null;
  /** By run. */
  readonly halts?: Readonly<Record<string, RunHalt>>;
}

export const GRANTED = { type: 'granted', permit: '' } as const;

/** The events that begin with this word. */
export const eventsOf = ({ log }: Pick<Asking, 'log'>, word: string): string[] =>
  log.filter((line) => line.startsWith(word));

/** Eight bad answers in a row. */
export function openBreaker({ context }: Asking): void {
  for (let times = 0; times < 8; times += 1) context.breaker.note(BEFORE, false, NOON);
}

export function createAsking(options: AskingOptions) {
  /** Events in order. */
  const log: string[] = [];
  const recorded: NewOutcome[] = [];
  /** Of runs, as the engine has them. The test sets them; null if they cannot be read. */
  const records: Record<string, RunRecord | null> = {};
  const clock = options.clock ?? createPassingClock();
  const stop = new AbortController();
  const abort = new AbortController();
  let asked = 0;
  let taken = 0;
  const client: Client = {
    async lookup(identifier, { signal }) {
      log.push(`ask ${identifier.value}`);
      const scripted = options.answers[Math.min(asked, options.answers.length - 1)];
      asked += 1;
      if (scripted === undefined) throw new Error('no answer is scripted');
      const answer = typeof scripted === 'function' ? await scripted(signal) : scripted;
      log.push(`answer ${answer.meaning.type}`);
      return answer;
    },
  };
  const governor: Governor = {
    state: options.state ?? null,
    async take(_run, _key, signal) {
      signal.throwIfAborted();
      const scripted = options.grants?.[Math.min(taken, options.grants.length - 1)] ?? GRANTED;
      taken += 1;
      log.push(`take p${taken}`);
      const grant = typeof scripted === 'function' ? await scripted(signal) : scripted;
      return grant.type === 'granted' ? { type: 'granted', permit: `p${taken}` } : grant;
    },
    takeLook: async () => null,
    calendar: () => ({ now: clock.now(), behindMs: 0, period: null }),
    async record(outcome, spent) {
      log.push('record');
      await options.record?.(outcome);
      if (spent) {
        const { permit, as, observation } = spent;
        log.push(`settle ${permit} ${as}${observation.isConfirmed ? ' confirmed' : ''} with its answer`);
      }
      recorded.push(outcome);
      log.push('recorded');
      return RECORDED_AT;
    },
    settle: (permit, as, observed) =>
      log.push(`settle ${permit} ${as}${observed.isConfirmed ? ' confirmed' : ''}`),
    note: () => log.push('note'),
    refuse: (permit, { isQuota, retryAfterMs }) =>
      log.push(`refuse ${permit} ${isQuota ? 'quota' : 'throughput'} ${retryAfterMs}`),
    close: async () => undefined,
    flushed: async () => undefined,
    recorded: async () => undefined,
    left: 0,
  };
  const context: AskContext = {
    client,
    governor,
    breaker: new Breaker(),
    addressTrust: createAddressTrust('http://service.example', {
      async get(run) {
        const record = records[run];
        if (record === null) throw new Error('the engine is away');
        return record ?? null;
      },
    }),
    refusals: new RefusalSeries(),
    clock,
    halts: new Map(Object.entries(options.halts ?? {})),
    keepFailure: async (_run, { reason }) => {
      log.push(`keep failure: ${sayFailure(reason)}`);
    },
    halt: async (run, { why }) => {
      log.push(`halt ${run} ${why}`);
    },
    gauge: { inFlight: 0, sent: 0, cutOff: 0, outage: null, retryAt: 0 },
  };
  const signals: { stop: AbortSignal; abort: AbortSignal } = { stop: stop.signal, abort: abort.signal };
  return { context, clock, log, recorded, records, stop, abort, signals };
}

export function runRecord(settings: Partial<RunSettings> = {}, some: Partial<RunRecord> = {}): RunRecord {
  return beginningRun({ asOf: NOON, settings: runSettings(settings), ...some });
}

export const ACME = { kind: 'domain', value: 'acme.com' } as const;

export function askFor(asking: Asking): Promise<Asked> {
  return ask(asking.context, runRecord(), 'k:u:domain:acme.com', ACME, asking.signals);
}

export async function askOnce(options: AskingOptions): Promise<Asking & { asked: Asked }> {
  const asking = createAsking(options);
  return { ...asking, asked: await askFor(asking) };
}
