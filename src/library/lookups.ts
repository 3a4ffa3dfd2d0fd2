/**
 * Lookups of a program, in this process: gathered into chunks, which take the way that a worker's
 * chunks take (claim, permit, request, record), without a queue. The caller waits for each answer,
 * so no other process could take them on, and what is cancelled leaves nothing behind.
 */
import type { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../core/clock.js';
import { BrandEnrichError } from '../core/errors.js';
import { type Identifier, identifierText } from '../core/identifier.js';
import { keepRunning } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { AnswerSource, Freshness } from '../core/outcome.js';
import { CHUNK_SIZE } from '../engine/chunk-queue.js';
import type { ChunkData, Engine } from '../engine/engine.js';
import { createPatience } from '../engine/patience.js';
import type { Brand } from '../lookup/brand.js';
import { type OutcomeKey, RETRY_LATER_REASON } from '../stores/outcome-store.js';
import { readProfile } from '../stores/profile-codec.js';
import { freshnessOf, type LookupFailure } from '../stores/run-store.js';
import { sayFailure } from '../words/say-reason.js';
import type { FetchedAnswer } from '../worker/asked.js';
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { ProgramRun, ProgramRuns } from './program-runs.js';

/** The result of one identifier. */
export interface Found {
  readonly status: 'matched' | 'not_found' | 'failed' | 'deferred';
  readonly brand: Brand | null;
  readonly source: AnswerSource | null;
  /** Store's clock, milliseconds. */
  readonly fetchedAt: number | null;
  readonly error: string | null;
}

/** Looks one identifier up. Rejects with the reason of its signal, and with engine errors. */
export type Ask = (identifier: Identifier) => Promise<Found>;

export interface LookupsOptions {
  readonly engine: Engine;
  readonly worker: LookupWorker;
  readonly runs: ProgramRuns;
  readonly keyPrefix: string;
  /** At the limit: wait instead of `deferred`. */
  readonly waits: boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** The program closes. */
  readonly closing: AbortSignal;
}

/** A caller that waits for one identifier. */
interface Waiter {
  readonly text: string;
  readonly key: OutcomeKey;
  readonly found: Promise<Found>;
  readonly settle: (found: Found) => void;
  readonly fail: (error: unknown) => void;
}

/** Rounds without an answer and without a reason: the engine took the run for dead each time. */
const EMPTY_ROUNDS_AT_MOST = 3;
const TAKEN_FOR_DEAD = 'not asked: the engine took this program for dead, and did so again when it went on';

/** The answers of a worker as they come. */
export type AnswerEvents = Record<OutcomeKey, [FetchedAnswer]>;

export function createLookups(options: LookupsOptions, board: EventEmitter<AnswerEvents>) {
  const { engine, worker, runs, keyPrefix, clock, log, closing } = options;
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
    for (const [at, { settle }] of waiting.entries()) {
      const stored = found[at];
      if (!stored) continue;
      const { status, packed, fetchedAt, freshUntil } = stored;
      const brand = packed === null ? null : (readProfile(packed)?.brand ?? null);
      if (packed !== null && brand === null) {
        settle(unanswered('failed', sayFailure({ code: 'damaged' })));
        continue;
      }
      const retryLater = status === 'not_found' && freshUntil !== null;
      settle({ status, brand, source, fetchedAt, error: retryLater ? RETRY_LATER_REASON : null });
    }
  }

  async function takeFailed({ record, paidFailures }: ProgramRun, waiting: readonly Waiter[]) {
    const found = await engine.runs.failures(
      record.id,
      waiting.map(({ key }) => key),
    );
    for (const [at, { key, settle }] of waiting.entries()) {
      const failure = found[at];
      if (!failure) continue;
      if (failure.billed) paidFailures.set(key, failure);
      settle(foundOfFailure(failure));
    }
  }

  /** For those who leave together, with this signal, which ends when the program closes too. */
  function open(signal: AbortSignal): Ask {
    /** Those who wait, and equal ones once: they are also asked for once. */
    const pending = new Map<string, Waiter>();
    const isWaiting = (waiter: Waiter) => pending.get(waiter.text) === waiter;
    let gathered: Waiter[] = [];
    let isGathering = false;
    signal.addEventListener('abort', () => {
      for (const waiter of pending.values()) waiter.fail(signal.reason);
    });

    async function gather(): Promise<void> {
      await nextTurn();
      while (gathered.length > 0) {
        const chunk = gathered.slice(0, CHUNK_SIZE);
        try {
          await takeStored(chunk, 'stored', runs.freshness());
          const missing = chunk.filter(isWaiting);
          if (missing.length > 0) track(resolveAll(missing));
        } catch (error) {
          for (const { fail } of chunk) fail(error);
        }
        // Those who came meanwhile are the next chunk.
        gathered = gathered.slice(chunk.length);
      }
      isGathering = false;
    }

    /** Never rejects. */
    async function resolveAll(chunk: readonly Waiter[]): Promise<void> {
      const receivers = chunk.map(({ key, settle }) => {
        const receive = ({ status, retryLater, profile, fetchedAt }: FetchedAnswer) => {
          const brand = profile?.brand ?? null;
          settle({ status, brand, source: 'api', fetchedAt, error: retryLater ? RETRY_LATER_REASON : null });
        };
        board.on(key, receive);
        return { key, receive };
      });
      try {
        let rest: Partial<ChunkData> = {};
        let emptyRounds = 0;
        for (let left = chunk; left.length > 0; left = left.filter(isWaiting)) {
          const resting = runs.rest();
          if (resting?.passes && options.waits) {
            await clock.sleep(resting.leftMs, signal);
            continue;
          }
          if (resting !== null || emptyRounds === EMPTY_ROUNDS_AT_MOST) {
            for (const { settle, fail } of left) {
              if (resting?.error) fail(resting.error);
              else settle(unanswered('deferred', resting?.why ?? TAKEN_FOR_DEAD));
            }
            return;
          }
          const run = await runs.enter();
          try {
            if (runs.rest() !== null) continue;
            const result = await resolveRound(run, left, rest);
            if (result.type === 'parked') {
              rest = result.data;
              if (left.some(isWaiting)) await clock.sleep(result.waitMs, signal);
            } else if (left.some(isWaiting) && !(await runs.isStopped(run))) emptyRounds += 1;
          } finally {
            runs.leave(run);
          }
        }
      } catch (error) {
        for (const waiter of chunk) waiter.fail(error);
      } finally {
        for (const { key, receive } of receivers) board.off(key, receive);
      }
    }

    /** Settles those that have an answer afterwards, or have failed. */
    async function resolveRound(run: ProgramRun, left: readonly Waiter[], rest: Partial<ChunkData>) {
      for (const { key, settle } of left) {
        const failure = run.paidFailures.get(key);
        if (failure) settle(foundOfFailure(failure));
      }
      const asked = left.filter(isWaiting);
      const identifiers = asked.map(({ text }) => text);
      const data = { attempts: {}, ...rest, run: run.record.id, chunk: run.nextChunk, identifiers };
      run.nextChunk += 1;
      let tries = 0;
      const result = await patience(() => {
        tries += 1;
        return worker.resolve(data, signal, tries > 1);
      });
      const isLeft = new Set(result.type === 'parked' ? result.data.identifiers : []);
      const ended = asked.filter((each) => isWaiting(each) && !isLeft.has(each.text));
      await takeStored(ended, 'api', freshnessOf(run.record));
      await takeFailed(run, ended.filter(isWaiting));
      return result;
    }

    return (identifier) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      const text = identifierText(identifier);
      const known = pending.get(text);
      if (known) return known.found;
      const waiter = createWaiter(text, keyPrefix + text, (ended) => {
        if (isWaiting(ended)) pending.delete(text);
      });
      pending.set(text, waiter);
      gathered.push(waiter);
      if (!isGathering) track(gather());
      isGathering = true;
      return waiter.found;
    };
  }

  return {
    open,
    /** How many chunks are under way. */
    get underWay(): number {
      return underWay.size;
    },
    /** Resolves when nothing is under way any more. */
    async ended(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** `onEnd`: called when its wait is over. */
function createWaiter(text: string, key: OutcomeKey, onEnd: (waiter: Waiter) => void): Waiter {
  let end: Pick<Waiter, 'settle' | 'fail'> | null = null;
  const found = new Promise<Found>((settle, fail) => {
    end = { settle, fail };
  });
  const waiter: Waiter = {
    text,
    key,
    found,
    settle(each) {
      onEnd(waiter);
      end?.settle(each);
    },
    fail(error) {
      onEnd(waiter);
      end?.fail(forProgram(error));
    },
  };
  return waiter;
}

/** Errors in the names of options; others as they are. */
export function forProgram(error: unknown): unknown {
  return error instanceof BrandEnrichError ? Object.assign(error, error.inKeys()) : error;
}

function foundOfFailure({ isDeferred, reason }: LookupFailure): Found {
  return unanswered(isDeferred === true ? 'deferred' : 'failed', sayFailure(reason));
}

function unanswered(status: 'failed' | 'deferred', error: string): Found {
  return { status, brand: null, source: null, fetchedAt: null, error };
}
