/**
 * Records answers whose exchange has failed, dated when they were fetched. All since the last call
 * travel in one, and the next starts when that is acknowledged. When the store refuses, they go to
 * disk first and are offered again until it takes them.
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

export interface RecorderOptions {
  readonly store: Pick<OutcomeStore, 'record'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Where answers wait when the store refuses. */
  readonly spoolFolder: string;
  /** Once aborted, what the store refuses stays on disk. */
  readonly stop: AbortSignal;
}

/** The store did not take an answer before the end: it is on disk, for the next worker. */
export class LeftOnDisk extends Error {}

const RECORDED_AT_ONCE = 500;
const RETRY_MS = 1_000;

export function createRecorder(options: RecorderOptions): AnswerSpool {
  const { store, clock, log, spoolFolder, stop } = options;
  /** Those of the next call, and their dates. */
  let next: { readonly answers: Fetched[]; readonly dates: Promise<number[]> } | null = null;
  let last: Promise<unknown> = Promise.resolve();

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
        // Brought in a second time it changes nothing that was paid for.
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

  function begin() {
    const answers: Fetched[] = [];
    // One turn of the loop collects what arrived together.
    const dates = Promise.all([last, nextTurn()]).then(() => {
      if (next?.answers === answers) next = null;
      return recordAll(answers);
    });
    last = dates.catch(() => undefined);
    return { answers, dates };
  }

  return {
    async record(answer) {
      if (next === null || next.answers.length >= RECORDED_AT_ONCE) next = begin();
      const { answers, dates } = next;
      const at = answers.push(answer) - 1;
      return (await dates)[at] ?? 0;
    },
    leave: async (answers) => leftFor('the engine did not answer in time', await spool(answers.map(withAge))),
  };
}

/**
 * Keeps failed lookups for their runs as they come: what was paid for and will not be asked for
 * again is not bought again by the worker that gets the chunk of a killed one. Those that come
 * together travel together; an unavailable engine is waited for.
 */
export function createFailureKeeper(
  runs: Pick<RunStore, 'fail'>,
  { clock, log, stop }: Pick<RecorderOptions, 'clock' | 'log' | 'stop'>,
) {
  /** Failures that wait for an earlier call, by run. */
  const waiting = new Map<string, { readonly failures: LookupFailure[]; readonly kept: Promise<void> }>();
  let last: Promise<void> = Promise.resolve();

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

  /** Resolves when the failure is as durable as the engine promises. Rejects only once stopped. */
  return function keep(run: string, failure: LookupFailure): Promise<void> {
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
  };
}
