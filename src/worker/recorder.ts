/**
 * Makes answers durable: everything that was answered since the last flush travels in one call, and the next
 * flush starts when that is acknowledged. No timer: a lonely answer is kept at once, many are kept together.
 *
 * When the store refuses, answers go to the local spool first and are offered again until it takes them;
 * whoever wants to send waits meanwhile (`untilRoom`), so that not much is ever at stake.
 */
import { rm } from 'node:fs/promises';
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { NewOutcome, OutcomeStore } from '../stores/outcome-store.js';
import { spoolAnswers } from './answer-spool.js';

export interface RecorderOptions {
  readonly store: OutcomeStore;
  readonly worker: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Where answers wait when the store refuses. */
  readonly spoolFolder: string;
  /** Answers that may wait for their flush before nobody sends any more: the concurrency. */
  readonly room: number;
}

export interface Recorder {
  /**
   * Resolves when the answer is as durable as the engine promises, with the store's date of it. Rejects only after `close`, when
   * it lies in the spool.
   */
  record(outcome: NewOutcome): Promise<number>;
  /** Resolves as soon as another answer may be fetched. Rejects with the signal's reason. */
  untilRoom(signal: AbortSignal): Promise<void>;
  /** Answers that the store did not take before the end: they lie in the spool. */
  readonly left: number;
  /**
   * Ends a vain wait for the store: what it does not take from here on stays in the spool. Resolves when nothing is
   * being written; may be called again.
   */
  close(): Promise<void>;
}

interface Waiting {
  readonly outcome: NewOutcome;
  /** When it was fetched, monotonic. */
  readonly fetchedAt: number;
  readonly resolve: (fetchedAt: number) => void;
  readonly reject: (error: unknown) => void;
}

/** One that the store did not take at once is dated when it was fetched, not when the store takes it. */
function withAge({ outcome, fetchedAt }: Waiting, now: number): NewOutcome {
  return { ...outcome, ageMs: Math.max(0, Math.round(now - fetchedAt)) };
}

const FLUSH_AT_MOST = 500;
const RETRY_MS = 1_000;

export function createRecorder(options: RecorderOptions): Recorder {
  const { store, worker, clock, log, spoolFolder, room } = options;
  const waiting: Waiting[] = [];
  const forRoom: (() => void)[] = [];
  const closing = new AbortController();
  let flushing: Promise<void> | null = null;
  let inFlush = 0;
  let left = 0;

  async function flushAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, FLUSH_AT_MOST);
      inFlush = batch.length;
      await keep(batch);
      inFlush = 0;
      for (const wake of forRoom.splice(0)) wake();
    }
    flushing = null;
  }

  async function keep(batch: readonly Waiting[]): Promise<void> {
    let spooled: string | null = null;
    for (let isFirst = true; ; isFirst = false) {
      const outcomes = batch.map((each) => (isFirst ? each.outcome : withAge(each, clock.monotonic())));
      try {
        const fetchedAt = await store.record(worker, outcomes);
        for (const [at, each] of batch.entries()) each.resolve(fetchedAt - (outcomes[at]?.ageMs ?? 0));
        if (spooled !== null) {
          // Brought in a second time it changes nothing that was paid for.
          await rm(spooled, { force: true }).catch((error) =>
            log.warn({ err: error }, 'a spooled file could not be removed; the next start records it again'),
          );
        }
        return;
      } catch (error) {
        log.error(
          { err: error, answers: outcomes.length },
          'the engine does not take answers; nothing is sent until it does',
        );
        if (spooled === null) {
          spooled = await spoolAnswers(spoolFolder, outcomes).catch((trouble) => {
            log.fatal(
              { err: trouble, folder: spoolFolder },
              'paid answers could be written neither to the engine nor to disk',
            );
            return null;
          });
        }
        if (closing.signal.aborted) {
          const lost = new Error(`paid answers wait in ${spoolFolder}: ${errorText(error)}`);
          left += batch.length;
          for (const each of batch) each.reject(lost);
          return;
        }
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    }
  }

  return {
    get left() {
      return left;
    },
    record(outcome) {
      return new Promise((resolve, reject) => {
        waiting.push({ outcome, fetchedAt: clock.monotonic(), resolve, reject });
        // One turn of the loop gathers what arrived together.
        flushing ??= new Promise<void>((done) => setImmediate(done)).then(flushAll);
      });
    },
    async untilRoom(signal) {
      while (waiting.length + inFlush >= room) {
        signal.throwIfAborted();
        await new Promise<void>((resolve, reject) => {
          const onAbort = () => reject(signal.reason);
          signal.addEventListener('abort', onAbort, { once: true });
          forRoom.push(() => {
            signal.removeEventListener('abort', onAbort);
            resolve();
          });
        });
      }
    },
    async close() {
      closing.abort(new Error('closing'));
      await flushing;
    },
  };
}
