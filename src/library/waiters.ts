/** The callers that wait for lookups. Equal identifiers share one, whatever their signals. */
import type { Brand } from '../brand-api/brand.js';
import { BrandEnrichError, isOfStop } from '../core/errors.js';
import type { AnswerSource, OutcomeKey, StopCode } from '../core/outcome.js';
import { RETRY_LATER_REASON } from '../engine/stores/outcome-store.js';
import type { FetchedAnswer, WorkerListener } from '../worker/asked.js';
import type { RowError } from './enricher.js';

/** The result of one identifier. */
export interface Found {
  readonly status: 'matched' | 'not_found' | 'failed' | 'deferred';
  readonly brand: Brand | null;
  readonly source: AnswerSource | null;
  /** Milliseconds on the store's clock. */
  readonly fetchedAt: number | null;
  readonly error: RowError | null;
  /** See `Enriched`. */
  readonly billed: number;
  readonly stopped?: StopCode | null;
}

interface Caller {
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
}

/** The callers of one identifier. */
class Waiter {
  billed = 0;
  isOver = false;
  readonly #callers = new Set<Caller>();
  readonly #unwanted = new AbortController();

  constructor(
    readonly text: string,
    readonly key: OutcomeKey,
    private readonly onOver: () => void,
  ) {}

  /** Aborted when no caller waits any more, so that no further request is sent. */
  get unwanted(): AbortSignal {
    return this.#unwanted.signal;
  }

  /** Adds a caller; `leave` ends the wait of this caller alone. */
  join() {
    let caller: Caller | undefined;
    const found = new Promise<Found>((resolve, reject) => {
      caller = { resolve, reject };
      this.#callers.add(caller);
    });
    const leave = (reason: unknown) => {
      if (caller === undefined || !this.#callers.delete(caller)) return;
      caller.reject(reason);
      if (this.#callers.size === 0) this.#end(true);
    };
    return { found, leave };
  }

  /** Gives callers the result, and only the first one the number billed: their sum is right. */
  settle(found: Omit<Found, 'billed'>): void {
    let { billed } = this;
    for (const { resolve } of this.#callers) {
      resolve({ ...found, billed });
      billed = 0;
    }
    this.#end(false);
  }

  fail(error: unknown): void {
    for (const { reject } of this.#callers) reject(forProgram(error));
    this.#end(true);
  }

  #end(isUnwanted: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#callers.clear();
    this.onOver();
    if (isUnwanted) this.#unwanted.abort();
  }
}

export type { Waiter };

/** Returns the result of an answer. */
export function foundOf(
  { status, retryLater, profile, fetchedAt }: Omit<FetchedAnswer, 'key'>,
  source: AnswerSource,
): Omit<Found, 'billed'> {
  const error = retryLater ? ({ code: 'retry_later', message: RETRY_LATER_REASON } as const) : null;
  return { status, brand: profile?.brand ?? null, source, fetchedAt, error };
}

/** Creates the list of identifiers that callers wait for. A worker reports to `listener`. */
export function createWaiters() {
  const waiting = new Map<OutcomeKey, Waiter>();
  const listener: WorkerListener = {
    onChunk: () => undefined,
    onBilled(key) {
      const waiter = waiting.get(key);
      if (waiter !== undefined) waiter.billed += 1;
    },
    onAnswer: (answer) => waiting.get(answer.key)?.settle(foundOf(answer, 'api')),
  };
  return {
    listener,
    find: (key: OutcomeKey): Waiter | undefined => waiting.get(key),
    add(text: string, key: OutcomeKey): Waiter {
      const waiter = new Waiter(text, key, () => waiting.delete(key));
      waiting.set(key, waiter);
      return waiter;
    },
    failAll(error: unknown): void {
      for (const waiter of [...waiting.values()]) waiter.fail(error);
    },
  };
}

export type Waiters = ReturnType<typeof createWaiters>;

/** Returns the reason of a stop that caused the error; else names settings in it as options. */
export function forProgram(error: unknown, stop?: AbortSignal): unknown {
  if (stop && isOfStop(error, stop)) return stop.reason;
  return error instanceof BrandEnrichError ? Object.assign(error, error.inWords('keys')) : error;
}
