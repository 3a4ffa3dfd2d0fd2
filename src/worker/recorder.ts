/**
 * Makes answers durable: everything that was answered since the last flush travels in one call, and the next
 * flush starts when that is acknowledged. No timer: a lonely answer is kept at once, many are kept together.
 *
 * When the store refuses, answers go to the local spool first and are offered again until it takes them;
 * whoever wants to send waits meanwhile (`untilRoom`), so that not much is ever at stake.
 */
import { EventEmitter, once } from 'node:events';
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

interface Waiting {
  readonly outcome: NewOutcome;
  /** When it was fetched, monotonic. */
  readonly fetchedAt: number;
  readonly resolve: (fetchedAt: number) => void;
  readonly reject: (error: unknown) => void;
}

const FLUSH_AT_MOST = 500;
const RETRY_MS = 1_000;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #waiting: Waiting[] = [];
  readonly #flushes = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  #flushing: Promise<void> | null = null;
  #inFlush = 0;
  #left = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Answers that the store did not take before the end: they are in the spool. */
  get left(): number {
    return this.#left;
  }

  /**
   * Resolves when the answer is as durable as the engine promises, with the store's date of it. Rejects only after `close`, when
   * it is in the spool.
   */
  record(outcome: NewOutcome): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ outcome, fetchedAt: this.#options.clock.monotonic(), resolve, reject });
      // One turn of the loop collects what arrived together.
      this.#flushing ??= new Promise<void>((done) => setImmediate(done)).then(() => this.#flushAll());
    });
  }

  /** Resolves as soon as another answer may be fetched. Rejects with the signal's reason. */
  async untilRoom(signal: AbortSignal): Promise<void> {
    while (this.#waiting.length + this.#inFlush >= this.#options.room) {
      await once(this.#flushes, 'flushed', { signal }).catch(() => Promise.reject(signal.reason));
    }
  }

  /**
   * Ends a vain wait for the store: what it does not take from here on stays in the spool. Resolves when nothing is
   * being written; may be called again.
   */
  async close(): Promise<void> {
    this.#closing.abort(new Error('closing'));
    await this.#flushing;
  }

  async #flushAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, FLUSH_AT_MOST);
      this.#inFlush = batch.length;
      await this.#keep(batch);
      this.#inFlush = 0;
      this.#flushes.emit('flushed');
    }
    this.#flushing = null;
  }

  async #keep(batch: readonly Waiting[]): Promise<void> {
    const { store, worker, clock, log, spoolFolder } = this.#options;
    let spooled: string | null = null;
    for (let isFirst = true; ; isFirst = false) {
      // What the store did not take at once is dated when it was fetched, not when the store takes it.
      const ageOf = ({ fetchedAt }: Waiting) => Math.max(0, Math.round(clock.monotonic() - fetchedAt));
      const outcomes = batch.map((each) =>
        isFirst ? each.outcome : { ...each.outcome, ageMs: ageOf(each) },
      );
      try {
        const fetchedAt = await store.record(worker, outcomes);
        for (const [at, each] of batch.entries()) each.resolve(fetchedAt - (outcomes[at]?.ageMs ?? 0));
        // Brought in a second time it changes nothing that was paid for.
        if (spooled !== null)
          await rm(spooled, { force: true }).catch((error) =>
            log.warn({ err: error }, 'a spooled file could not be removed; the next start records it again'),
          );
        return;
      } catch (error) {
        log.error(
          { err: error, answers: outcomes.length },
          'the engine does not take answers; nothing is sent until it does',
        );
        spooled ??= await spoolAnswers(spoolFolder, outcomes).catch((failure) => {
          log.fatal(
            { err: failure, folder: spoolFolder },
            'paid answers could be written neither to the engine nor to disk',
          );
          return null;
        });
        if (this.#closing.signal.aborted) {
          const lost = new Error(`paid answers wait in ${spoolFolder}: ${errorText(error)}`);
          this.#left += batch.length;
          for (const each of batch) each.reject(lost);
          return;
        }
        await clock.sleep(RETRY_MS, this.#closing.signal).catch(() => undefined);
      }
    }
  }
}
