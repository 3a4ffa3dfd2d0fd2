/**
 * Records answers whose exchange has failed, one batch after the other, dated when they were
 * fetched. Answers that the store refuses go to disk first, and are offered again until it takes
 * them.
 */
import { rm } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { NewOutcome } from '../core/outcome.js';
import type { RunStore } from '../engine/run-calls.js';
import type { OutcomeStore } from '../engine/stores/outcome-store.js';
import type { LookupFailure } from '../engine/stores/run-store.js';
import type { AnswerSpool, Fetched } from '../ledger/outbox.js';
import { spoolAnswers } from './answer-spool.js';
import { createRecentRuns } from './recent-runs.js';

export interface RecorderOptions {
  readonly store: Pick<OutcomeStore, 'record'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Where answers wait if the store refuses them. */
  readonly spoolFolder: string;
  /** Once aborted, refused answers stay on disk. */
  readonly stop: AbortSignal;
}

/** The store did not take an answer before the end: it is on disk, for the next worker. */
export class LeftOnDisk extends Error {}

const RECORDED_AT_ONCE = 500;
const RETRY_MS = 1_000;

export function createRecorder(options: RecorderOptions): AnswerSpool {
  const { store, clock, log, spoolFolder, stop } = options;
  const withAge = ({ outcome, fetchedAt }: Fetched): NewOutcome => ({
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

  const leftFor = (reason: string, spooled: string | null): Error =>
    spooled === null
      ? new Error(`paid answers are lost: ${reason}`)
      : new LeftOnDisk(`paid answers are on disk in ${spoolFolder}: ${reason}`);

  async function recordAll(answers: readonly Fetched[]): Promise<number[]> {
    let spooled: string | null = null;
    for (;;) {
      const outcomes = answers.map(withAge);
      try {
        const now = await store.record(outcomes);
        // Recorded a second time, it would change no paid answer.
        if (spooled !== null)
          await rm(spooled, { force: true }).catch((error) =>
            log.warn({ err: error }, 'a spooled file could not be removed; the next start stores it again'),
          );
        return outcomes.map(({ ageMs = 0 }) => now - ageMs);
      } catch (error) {
        const facts = { err: error, answers: answers.length };
        log.error(facts, 'the engine does not store answers; no requests until it does');
        spooled ??= await spool(outcomes);
        if (stop.aborted) throw leftFor(errorText(error), spooled);
        await clock.sleep(RETRY_MS, stop).catch(() => undefined);
      }
    }
  }

  const add = createBatches(recordAll, RECORDED_AT_ONCE);
  return {
    async record(answer) {
      const { at, sent } = add(answer);
      return (await sent)[at] ?? 0;
    },
    leave: async (answers) => leftFor('the engine did not answer in time', await spool(answers.map(withAge))),
  };
}

/**
 * Keeps failed lookups at once, in batches, and waits for the engine: the next worker of a killed
 * worker's chunk does not buy final ones again.
 */
export function createFailureKeeper(
  runs: Pick<RunStore, 'fail'>,
  { clock, log, stop }: Pick<RecorderOptions, 'clock' | 'log' | 'stop'>,
) {
  async function keepAll(run: string, failures: readonly LookupFailure[]): Promise<void> {
    for (;;) {
      try {
        return await runs.fail(run, failures);
      } catch (error) {
        log.error({ reason: errorText(error), failures: failures.length }, 'the engine records no failures');
        if (stop.aborted) throw error;
        await clock.sleep(RETRY_MS, stop).catch(() => undefined);
      }
    }
  }

  const batches = createRecentRuns((run) =>
    createBatches((failures: readonly LookupFailure[]) => keepAll(run, failures)),
  );
  /** Resolves when the failure is as durable as the engine promises. Rejects only once stopped. */
  return (run: string, failure: LookupFailure): Promise<void> => batches.of(run)(failure).sent;
}

/** Collects items while a batch is under way into the next one. Returns each item's place in it. */
function createBatches<T, R>(send: (items: readonly T[]) => Promise<R>, atMost = Number.POSITIVE_INFINITY) {
  let next: { readonly items: T[]; readonly sent: Promise<R> } | null = null;
  let last: Promise<unknown> = Promise.resolve();
  function begin() {
    const items: T[] = [];
    // One turn of the loop collects what arrived together.
    const sent = Promise.all([last, nextTurn()]).then(() => {
      if (next?.items === items) next = null;
      return send(items);
    });
    last = sent.catch(() => undefined);
    return { items, sent };
  }
  return (item: T) => {
    if (next === null || next.items.length >= atMost) next = begin();
    return { at: next.items.push(item) - 1, sent: next.sent };
  };
}
