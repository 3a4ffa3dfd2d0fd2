/** The lookups of a program, in chunks; without a queue, because their callers wait right here. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/clock.js';
import { type Identifier, identifierText } from '../core/identifier.js';
import { keepRunning } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { AnswerSource, Freshness } from '../core/outcome.js';
import { CHUNK_SIZE } from '../engine/chunk-queue.js';
import type { ChunkData, Engine } from '../engine/engine.js';
import { createPatience } from '../engine/patience.js';
import type { OutcomeKeyOf } from '../engine/stores/outcome-key.js';
import { freshnessOf, type LookupFailure } from '../engine/stores/run-store.js';
import { readStored } from '../run/lookups/collect-outcomes.js';
import { sayFailure } from '../run/words/say-reason.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { ProgramRun, ProgramRuns, Rest } from './program-runs.js';
import { type Found, foundOf, type Waiter, type Waiters } from './waiters.js';

/** Looks up one identifier. Throws the reason of its signal, and engine errors. */
export type Ask = (identifier: Identifier) => Promise<Found>;

export interface LookupsOptions {
  readonly engine: Engine;
  readonly worker: LookupWorker;
  /** The waiting callers; the worker reports to their listener. */
  readonly waiters: Waiters;
  readonly runs: ProgramRuns;
  readonly keyOf: OutcomeKeyOf;
  /** True to wait at the limit instead of deferring. */
  readonly waitsAtLimit: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly closing: AbortSignal;
}

/** Rounds without answer or reason, in each of which the engine took the run for dead. */
const EMPTY_ROUNDS_AT_MOST = 3;
const TAKEN_FOR_DEAD = {
  stopped: 'lost',
  why: 'not looked up: the engine repeatedly took this program for dead; look it up again',
} as const;

export function createLookups(options: LookupsOptions) {
  const { engine, worker, waiters, runs, keyOf, clock, log, closing } = options;
  const patience = createPatience({ log, stop: closing });
  const underWay = new Set<Promise<void>>();
  const track = (work: Promise<void>) => {
    underWay.add(work);
    void keepRunning(work).finally(() => underWay.delete(work));
  };

  async function takeStored(waiting: readonly Waiter[], source: AnswerSource, fresh: Freshness) {
    if (waiting.length === 0) return;
    const found = await engine.outcomes.read(
      waiting.map(({ key }) => key),
      fresh,
    );
    for (const [at, waiter] of waiting.entries()) {
      const stored = found[at];
      if (!stored) continue;
      const read = readStored(stored);
      if ('code' in read) waiter.settle(foundOfFailure({ reason: read }));
      else waiter.settle(foundOf(read, source));
    }
  }

  async function takeFailed({ record, paidFailures }: ProgramRun, waiting: readonly Waiter[]) {
    const found = await engine.runs.failures(
      record.id,
      waiting.map(({ key }) => key),
    );
    for (const [at, waiter] of waiting.entries()) {
      const failure = found[at];
      if (!failure) continue;
      if (failure.billed) paidFailures.set(waiter.key, failure);
      waiter.settle(foundOfFailure(failure));
    }
  }

  let gathered: Waiter[] = [];
  let isGathering = false;

  /** Makes chunks of the lookups of one moment, even if their callers have different signals. */
  async function gather(): Promise<void> {
    await nextTurn();
    while (gathered.length > 0) {
      const chunk = gathered.slice(0, CHUNK_SIZE);
      try {
        await takeStored(chunk.filter(isWaiting), 'stored', runs.freshness());
        const missing = chunk.filter(isWaiting);
        if (missing.length > 0) track(resolveAll(missing));
      } catch (error) {
        for (const waiter of chunk) waiter.fail(error);
      }
      // Lookups that came in the meantime are in the next chunk.
      gathered = gathered.slice(chunk.length);
    }
    isGathering = false;
  }

  /** Resolves a chunk, in as many rounds as it takes. Never rejects. */
  async function resolveAll(chunk: readonly Waiter[]): Promise<void> {
    const stopping = new AbortController();
    const { signal: stop } = stopping;
    const stopUnwanted = () => {
      if (!chunk.some(isWaiting)) stopping.abort();
    };
    for (const { unwanted } of chunk) unwanted.addEventListener('abort', stopUnwanted, { once: true });
    try {
      let parked: Partial<ChunkData> = {};
      let emptyRounds = 0;
      for (let left = chunk; left.length > 0; left = left.filter(isWaiting)) {
        const rest = runs.rest();
        if (rest?.passes && options.waitsAtLimit) {
          await clock.sleep(rest.leftMs, stop);
          continue;
        }
        if (rest !== null || emptyRounds === EMPTY_ROUNDS_AT_MOST) {
          for (const waiter of left) {
            if (rest?.error) waiter.fail(rest.error);
            else waiter.settle(deferredBy(rest ?? TAKEN_FOR_DEAD));
          }
          return;
        }
        const run = await runs.enter();
        try {
          if (runs.rest() !== null) continue;
          const result = await resolveRound(run, left, parked, stop);
          if (result.type === 'parked') {
            parked = result.data;
            if (left.some(isWaiting)) await clock.sleep(result.waitMs, stop);
          } else if (left.some(isWaiting) && !(await runs.isStopped(run))) emptyRounds += 1;
        } finally {
          runs.leave(run);
        }
      }
    } catch (error) {
      for (const waiter of chunk) waiter.fail(error);
    }
  }

  /** Resolves a chunk once. Settles the waiters that have an answer afterwards, or have failed. */
  async function resolveRound(
    run: ProgramRun,
    left: readonly Waiter[],
    parked: Partial<ChunkData>,
    stop: AbortSignal,
  ) {
    for (const waiter of left) {
      const failure = run.paidFailures.get(waiter.key);
      if (failure) waiter.settle(foundOfFailure(failure));
    }
    const asked = left.filter(isWaiting);
    const identifiers = asked.map(({ text }) => text);
    const data = { attempts: {}, ...parked, run: run.record.id, chunk: run.nextChunk, identifiers };
    run.nextChunk += 1;
    const stops = new Map(asked.map(({ text, unwanted }) => [text, unwanted]));
    let tries = 0;
    const result = await patience(() => {
      tries += 1;
      return worker.resolve(data, stop, tries > 1, (text) => stops.get(text));
    });
    const isLeft = new Set(result.type === 'parked' ? result.data.identifiers : []);
    const ended = asked.filter((each) => isWaiting(each) && !isLeft.has(each.text));
    await takeStored(ended, 'api', freshnessOf(run.record));
    await takeFailed(run, ended.filter(isWaiting));
    return result;
  }

  closing.addEventListener('abort', () => waiters.failAll(closing.reason), { once: true });

  /** Returns an `ask` for callers who all stop waiting when `signal` is aborted. */
  function open(signal: AbortSignal): Ask {
    const leaving = new Set<(reason: unknown) => void>();
    signal.addEventListener('abort', () => {
      for (const leave of leaving) leave(signal.reason);
    });
    return (identifier) => {
      const ended = [signal, closing].find(({ aborted }) => aborted);
      if (ended !== undefined) return Promise.reject(ended.reason);
      const text = identifierText(identifier);
      const key = keyOf(text);
      const existing = waiters.find(key);
      const waiter = existing ?? waiters.add(text, key);
      const { found, leave } = waiter.join();
      leaving.add(leave);
      const drop = () => leaving.delete(leave);
      found.then(drop, drop);
      if (existing !== undefined) return found;
      gathered.push(waiter);
      if (!isGathering) track(gather());
      isGathering = true;
      return found;
    };
  }

  return {
    open,
    get underWay(): number {
      return underWay.size;
    },
    async ended(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

const isWaiting = ({ isOver }: Waiter): boolean => !isOver;

const UNANSWERED = { brand: null, source: null, fetchedAt: null };

function foundOfFailure({
  isDeferred = false,
  reason,
}: Pick<LookupFailure, 'isDeferred' | 'reason'>): Omit<Found, 'billed'> {
  const error = { code: reason.code, message: sayFailure(reason) };
  return { ...UNANSWERED, status: isDeferred ? 'deferred' : 'failed', error };
}

function deferredBy({ stopped, why }: Pick<Rest, 'stopped' | 'why'>): Omit<Found, 'billed'> {
  return { ...UNANSWERED, status: 'deferred', stopped, error: { code: stopped, message: why } };
}
