/**
 * Makes durable what was paid for. An answer to a request with a permit is kept by the exchange
 * that settles it. All others since the last flush travel in one call, and the next flush starts
 * when that is acknowledged.
 *
 * When the store refuses, answers go to the local spool first and are offered again until it takes
 * them; nothing is sent meanwhile (`untilRoom`), so that not much is ever at stake.
 */
import { EventEmitter, once } from 'node:events';
import { rm } from 'node:fs/promises';
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { NewOutcome } from '../core/outcome.js';
import type { PaidAnswer } from '../ledger/outbox.js';
import type { OutcomeStore } from '../stores/outcome-store.js';
import type { LookupFailure, RunStore } from '../stores/run-store.js';
import { spoolAnswers } from './answer-spool.js';

export interface RecorderOptions {
  readonly store: OutcomeStore;
  readonly worker: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Where answers wait when the store refuses. */
  readonly spoolFolder: string;
  /** Answers that may wait for their flush before sending stops: the concurrency. */
  readonly room: number;
}

interface Waiting {
  readonly outcome: NewOutcome;
  /** When it was fetched, monotonic. */
  readonly fetchedAt: number;
  /** An exchange that was to keep it has failed. */
  readonly isLate: boolean;
  readonly resolve: (fetchedAt: number) => void;
  readonly reject: (error: unknown) => void;
}

/** The store did not take an answer before the end: it is on disk, for the next worker. */
export class LeftOnDisk extends Error {}

const FLUSH_AT_MOST = 500;
const RETRY_MS = 1_000;

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder(options: RecorderOptions) {
  const { store, worker, clock, log, spoolFolder, room } = options;
  const waiting: Waiting[] = [];
  const flushes = new EventEmitter().setMaxListeners(0);
  const closing = new AbortController();
  let flushing: Promise<void> | null = null;
  let inFlush = 0;
  let carried = 0;
  let left = 0;

  const underWay = () => waiting.length + inFlush + carried;
  const hasRoom = () => underWay() < room;

  function enter(answer: Waiting): void {
    waiting.push(answer);
    // One turn of the loop collects what arrived together.
    flushing ??= new Promise<void>((done) => setImmediate(done)).then(flushAll);
  }

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, FLUSH_AT_MOST);
      inFlush = batch.length;
      await keep(batch);
      inFlush = 0;
      flushes.emit('flushed');
    }
    flushing = null;
  }

  async function keep(batch: readonly Waiting[]): Promise<void> {
    let spooled: string | null = null;
    for (let isFirst = true; ; isFirst = false) {
      // An answer that the store did not accept at once keeps the date when it was fetched.
      const ageOf = ({ fetchedAt }: Waiting) => Math.max(0, Math.round(clock.monotonic() - fetchedAt));
      const outcomes = batch.map((each) =>
        isFirst && !each.isLate ? each.outcome : { ...each.outcome, ageMs: ageOf(each) },
      );
      try {
        const fetchedAt = await store.record(worker, outcomes);
        for (const [at, each] of batch.entries()) each.resolve(fetchedAt - (outcomes[at]?.ageMs ?? 0));
        // Brought in a second time it changes nothing that was paid for.
        if (spooled !== null)
          await rm(spooled, { force: true }).catch((error) =>
            log.warn({ err: error }, 'a spooled file could not be removed; the next start stores it again'),
          );
        return;
      } catch (error) {
        const answers = outcomes.length;
        log.error({ err: error, answers }, 'the engine does not store answers; no requests until it does');
        spooled ??= await spoolAnswers(spoolFolder, outcomes).catch((failure) => {
          const facts = { err: failure, folder: spoolFolder };
          log.fatal(facts, 'paid answers could be written neither to the engine nor to disk');
          return null;
        });
        if (closing.signal.aborted) {
          const lost =
            spooled === null
              ? new Error(`paid answers are lost: ${errorText(error)}`)
              : new LeftOnDisk(`paid answers are on disk in ${spoolFolder}: ${errorText(error)}`);
          left += batch.length;
          for (const each of batch) each.reject(lost);
          return;
        }
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    }
  }
  return {
    /** Answers that the store did not take before the end: they are in the spool. */
    get left(): number {
      return left;
    },
    /**
     * Resolves when the answer is as durable as the engine promises, with the store's date of it.
     * Rejects only after `close`: with {@link LeftOnDisk} when it is in the spool.
     */
    record(outcome: NewOutcome): Promise<number> {
      return new Promise((resolve, reject) => {
        enter({ outcome, fetchedAt: clock.monotonic(), isLate: false, resolve, reject });
      });
    },
    /** The same for an answer that `carry` hands to the exchange which settles its permit. */
    recordPaid(outcome: NewOutcome, carry: (answer: PaidAnswer) => void): Promise<number> {
      const fetchedAt = clock.monotonic();
      return new Promise((resolve, reject) => {
        const leave = () => {
          carried -= 1;
          flushes.emit('flushed');
        };
        carried += 1;
        carry({
          outcome,
          kept(at) {
            leave();
            resolve(at);
          },
          keepAlone() {
            const kept = new Promise<number>((resolve, reject) =>
              enter({ outcome, fetchedAt, isLate: true, resolve, reject }),
            );
            leave();
            kept.then(resolve, reject);
            return kept.then(
              () => true,
              () => false,
            );
          },
        });
      });
    },
    /** Answers that are not kept yet. */
    get underWay(): number {
      return underWay();
    },
    /** Another answer may be fetched. */
    get hasRoom(): boolean {
      return hasRoom();
    },
    /** Resolves as soon as there is room. Rejects with the signal's reason. */
    async untilRoom(signal: AbortSignal): Promise<void> {
      while (!hasRoom()) {
        await once(flushes, 'flushed', { signal }).catch(() => Promise.reject(signal.reason));
      }
    },
    /**
     * Ends waiting for the store: what it does not take from here on stays in the spool.
     * Resolves when nothing is being written; may be called again.
     */
    async close(): Promise<void> {
      closing.abort(new Error('closing'));
      await flushing;
    },
  };
}

/**
 * Keeps failed lookups for their runs as they come: what was paid for and will not be asked for
 * again is not bought again by the worker that gets the chunk of a killed one. Those that come
 * together travel together; an unavailable engine is waited for.
 */
export function createFailureKeeper(runs: Pick<RunStore, 'fail'>, clock: Clock, log: Log) {
  const closing = new AbortController();
  /** Failures that wait for an earlier call, by run. */
  const waiting = new Map<string, { readonly failures: LookupFailure[]; readonly kept: Promise<void> }>();
  let last: Promise<void> = Promise.resolve();

  async function keepAll(run: string, failures: readonly LookupFailure[]): Promise<void> {
    for (;;) {
      try {
        return await runs.fail(run, failures);
      } catch (error) {
        log.error({ reason: errorText(error), failures: failures.length }, 'the engine records no failures');
        if (closing.signal.aborted) throw error;
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    }
  }

  return {
    /** Resolves when the failure is as durable as the engine promises. Rejects only once closed. */
    keep(run: string, failure: LookupFailure): Promise<void> {
      const known = waiting.get(run);
      known?.failures.push(failure);
      if (known) return known.kept;
      const failures = [failure];
      const kept = last.then(() => {
        waiting.delete(run);
        return keepAll(run, failures);
      });
      waiting.set(run, { failures, kept });
      last = kept.catch(() => undefined);
      return kept;
    },
    /** Ends waiting for an engine that is unavailable. */
    close: () => closing.abort(new Error('closing')),
  };
}
