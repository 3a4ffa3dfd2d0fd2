/**
 * Waits through short outages of the engine, so that its restart ends no run. Only calls that may
 * be made twice are repeated, except where the caller can continue without an answer.
 */
import { type Clock, systemClock } from '../core/clock.js';
import { errorText, RunError } from '../core/errors.js';
import { untilAborted } from '../core/lifecycle.js';
import type { ChunkQueue, Engine, EngineOptions } from './engine.js';

const PATIENCE_MS = 120_000;
/** The wait after a stop signal. */
const PATIENCE_STOPPED_MS = 3_000;
const TRY_AGAIN_MS = 1_000;

/** Repeats a call while the engine is unavailable. Throws other errors at once. */
export type Patience = <T>(call: () => Promise<T>) => Promise<T>;

/** Returns the patience that all calls to an engine share: it logs each outage's start and end. */
export function createPatience(
  { log, stop = new AbortController().signal }: Pick<EngineOptions, 'log' | 'stop'>,
  clock: Pick<Clock, 'monotonic' | 'sleep'> = systemClock,
): Patience {
  const now = clock.monotonic;
  let unreachableSince: number | null = null;
  let stoppedAt: number | null = null;
  void untilAborted(stop).then(() => {
    stoppedAt = now();
  });

  function isOver(since: number): boolean {
    if (now() - since >= PATIENCE_MS) return true;
    return stoppedAt !== null && now() - Math.max(since, stoppedAt) >= PATIENCE_STOPPED_MS;
  }

  return async (call) => {
    for (;;) {
      try {
        const answer = await call();
        if (unreachableSince !== null) log.info('the engine answers again');
        unreachableSince = null;
        return answer;
      } catch (error) {
        if (!(error instanceof RunError) || error.code !== 'engine-unreachable') throw error;
        if (unreachableSince === null)
          log.warn({ reason: errorText(error) }, 'the engine does not answer; trying again');
        unreachableSince ??= now();
        if (isOver(unreachableSince)) throw error;
        // The stop signal cuts one pause short; later pauses run without it.
        const signal = stop.aborted ? undefined : stop;
        await clock.sleep(TRY_AGAIN_MS, signal).catch(() => undefined);
      }
    }
  };
}

/** Calls that may be made twice, of each store. */
const REPEATABLE = {
  ledger: ['open', 'show', 'observe', 'raise', 'accounts', 'reset'],
  outcomes: ['read', 'stats', 'forget', 'purge', 'page', 'restore'],
  runs: 'all',
  keyValues: ['put', 'list', 'claim'],
  scheduledJobs: ['list', 'set'],
} as const satisfies { readonly [S in keyof Engine]?: 'all' | readonly (keyof Engine[S & keyof Engine])[] };

/** Without `setAside` and `withdraw`: a second call would report that a worker has the chunk. */
const REPEATABLE_OF_QUEUE: readonly (keyof ChunkQueue)[] = ['add', 'chunksOf', 'idleChunks', 'counts'];

/** Returns a copy of an engine, or of some of its stores, that repeats every repeatable call. */
export function withPatience<E extends object>(engine: E, patience: Patience): E {
  const patient = { ...engine } as Record<string, unknown>;
  for (const [store, methods] of Object.entries(REPEATABLE)) {
    if (patient[store] instanceof Object) patient[store] = patientMethods(patient[store], methods, patience);
  }
  const { openChunkQueue, freeMemory } = patient as Partial<Engine>;
  if (openChunkQueue)
    patient.openChunkQueue = (name: string) =>
      patientMethods(openChunkQueue(name), REPEATABLE_OF_QUEUE, patience);
  if (freeMemory) patient.freeMemory = () => patience(freeMemory);
  return patient as unknown as E;
}

function patientMethods<T extends object>(
  target: T,
  chosen: 'all' | readonly string[],
  patience: Patience,
): T {
  const methods = target as Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
  const names = chosen === 'all' ? Object.keys(target) : chosen;
  const patient = names.flatMap((name) => {
    const method = methods[name];
    if (method === undefined) return [];
    return [[name, (...args: readonly unknown[]) => patience(() => method.call(target, ...args))] as const];
  });
  return { ...target, ...Object.fromEntries(patient) };
}
