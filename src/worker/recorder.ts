/**
 * Makes durable what was paid for. An answer to a request with a permit is recorded by the exchange
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
import type { OutcomeStore } from '../engine/stores/outcome-store.js';
import type { LookupFailure, RunStore } from '../engine/stores/run-store.js';
import type { PaidAnswer } from '../ledger/outbox.js';
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
  /** Where it is flushed, an exchange that was to record it has failed. */
  readonly isLate: boolean;
  resolve: (fetchedAt: number) => void;
  reject: (error: unknown) => void;
}

/** The store did not take an answer before the end: it is on disk, for the next worker. */
export class LeftOnDisk extends Error {}

const FLUSH_AT_MOST = 500;
const RETRY_MS = 1_000;

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder(options: RecorderOptions) {
  const { store, worker, clock, log, spoolFolder, room } = options;
  const waiting: Waiting[] = [];
  /** Answers that are not recorded yet, wherever they wait. */
  const underWay = new Set<Waiting>();
  const flushes = new EventEmitter().setMaxListeners(0);
  const closing = new AbortController();
  let flushing: Promise<void> | null = null;
  let left = 0;

  const hasRoom = () => underWay.size < room;

  /** `carry`: hands it to an exchange; absent: it is flushed. */
  function enter(outcome: NewOutcome, carry?: (answer: Waiting) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      const answer: Waiting = {
        outcome,
        fetchedAt: clock.monotonic(),
        isLate: carry !== undefined,
        resolve: (at) => end(answer, () => resolve(at)),
        reject: (error) => end(answer, () => reject(error)),
      };
      underWay.add(answer);
      if (carry) carry(answer);
      else flush(answer);
    });
  }

  /** The first end counts. */
  function end(answer: Waiting, settle: () => void): void {
    if (!underWay.delete(answer)) return;
    settle();
    flushes.emit('recorded');
  }

  function flush(answer: Waiting): void {
    waiting.push(answer);
    // One turn of the loop collects what arrived together.
    flushing ??= new Promise<void>((done) => setImmediate(done)).then(flushAll);
  }

  // An answer that the store did not accept at once keeps the date when it was fetched.
  const withAge = ({ outcome, fetchedAt }: Waiting): NewOutcome => ({
    ...outcome,
    ageMs: Math.max(0, Math.round(clock.monotonic() - fetchedAt)),
  });

  function spool(outcomes: readonly NewOutcome[]): Promise<string | null> {
    return spoolAnswers(spoolFolder, outcomes).catch((failure) => {
      const facts = { err: failure, folder: spoolFolder };
      log.fatal(facts, 'paid answers could be written neither to the engine nor to disk');
      return null;
    });
  }

  function leave(answers: readonly Waiting[], spooled: string | null, reason: string): void {
    const lost =
      spooled === null
        ? new Error(`paid answers are lost: ${reason}`)
        : new LeftOnDisk(`paid answers are on disk in ${spoolFolder}: ${reason}`);
    for (const answer of answers) {
      if (underWay.has(answer)) left += 1;
      answer.reject(lost);
    }
  }

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) await record(waiting.splice(0, FLUSH_AT_MOST));
    flushing = null;
  }

  async function record(batch: readonly Waiting[]): Promise<void> {
    let spooled: string | null = null;
    for (let isFirst = true; ; isFirst = false) {
      const outcomes = batch.map((each) => (isFirst && !each.isLate ? each.outcome : withAge(each)));
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
        spooled ??= await spool(outcomes);
        if (closing.signal.aborted) return leave(batch, spooled, errorText(error));
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
    record: (outcome: NewOutcome): Promise<number> => enter(outcome),
    /** The same for an answer that `carry` hands to the exchange which settles its permit. */
    recordWithPermit(outcome: NewOutcome, carry: (answer: PaidAnswer) => void): Promise<number> {
      return enter(outcome, (answer) =>
        carry({
          outcome,
          recorded: answer.resolve,
          recordDirectly: () =>
            new Promise((resolve) => {
              const { resolve: recorded, reject } = answer;
              Object.assign(answer, {
                resolve(at: number) {
                  recorded(at);
                  resolve(true);
                },
                reject(error: unknown) {
                  reject(error);
                  resolve(false);
                },
              });
              flush(answer);
            }),
        }),
      );
    },
    /** Another answer may be fetched. */
    get hasRoom(): boolean {
      return hasRoom();
    },
    /** Resolves as soon as there is room. Rejects with the signal's reason. */
    async untilRoom(signal: AbortSignal): Promise<void> {
      while (!hasRoom()) {
        await once(flushes, 'recorded', { signal }).catch(() => Promise.reject(signal.reason));
      }
    },
    /**
     * Ends waiting for the store: what it refuses from here on stays in the spool. Resolves when
     * every answer is recorded or there; may be called again.
     */
    async close(): Promise<void> {
      closing.abort(new Error('closing'));
      while (underWay.size > 0) await once(flushes, 'recorded');
      await flushing;
    },
    /** Takes what is still under way to the spool, whatever the engine does with it later. */
    async leaveRest(): Promise<void> {
      const rest = [...underWay];
      if (rest.length > 0) leave(rest, await spool(rest.map(withAge)), 'the engine did not answer in time');
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
