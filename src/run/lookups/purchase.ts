/**
 * Buys what is missing: chunks go into the queue through a window, workers here or elsewhere resolve them, and the
 * run waits until all are finished or something stops it. Events can be missed, so the store is asked, and a silence
 * is looked into.
 */

import type { Log } from '../../core/log.js';
import type { ChunkData, ChunkQueue, Engine } from '../../engine/engine.js';
import { isAlive, type RunHalt, type RunProgress } from '../../stores/run-store.js';

export interface PurchaseContext {
  readonly engine: Engine;
  readonly line: ChunkQueue;
  readonly runId: string;
  /** Texts of identifiers to ask for, in batches of a chunk's size. */
  readonly chunks: Iterable<readonly string[]>;
  /** How many chunks may be handed out before those are finished; null: no limit. Asked anew each time. */
  readonly chunksAhead: (() => Promise<number>) | null;
  /** Number of the first chunk: chunks of one run are never numbered twice. */
  readonly firstChunk: number;
  readonly stop: AbortSignal;
  /** Failed lookups that are too many; null: no limit. */
  readonly maxFailures: number | null;
  /** Wakes the wait early: a chunk was finished in this process. */
  readonly nudge: Nudge;
  readonly onProgress: (progress: RunProgress) => void;
  /** Called once when nobody has taken a chunk for a while. */
  readonly onSilence: () => void;
  readonly log: Log;
}

export type PurchaseEnd =
  | {
      readonly type: 'finished' | 'stopped' | 'cancelled' | 'too_many_failures' | 'lost';
      readonly chunks: number;
    }
  | { readonly type: 'halted'; readonly halt: RunHalt; readonly chunks: number };

/** Lets one side wait for the other without an event that could be missed: a wake before the wait counts. */
export interface Nudge {
  wake(): void;
  /** Resolves at the next wake (or at once after an unseen one), at the latest after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createNudge(): Nudge {
  let isAwake = false;
  let resolveWait: (() => void) | null = null;
  return {
    wake() {
      isAwake = true;
      resolveWait?.();
    },
    async wait(ms) {
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          resolveWait = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      resolveWait = null;
      isAwake = false;
    },
  };
}

/** Chunks in the queue at once: a waiting job takes engine memory. */
const WINDOW = 200;
const ADD_AT_ONCE = 20;
const POLL_MS = 300;
/** Between two looks at the store, however often a nudge comes. */
const POLL_LEAST_MS = 15;
const SILENCE_MS = 15_000;
const LOST_AFTER_MS = 60_000;
const WITHDRAW_EVERY_MS = 1_000;

/** Does not throw for what stops a run; engine trouble is thrown after retries by the caller's stores. */
export async function purchase(context: PurchaseContext): Promise<PurchaseEnd> {
  const { engine, line, runId, stop } = context;
  let next = context.firstChunk;
  let end: PurchaseEnd['type'] | RunHalt | null = null;
  let done = context.firstChunk;
  let changedAt = performance.now();
  let isSilenceTold = false;
  const wake = () => context.nudge.wake();
  stop.addEventListener('abort', wake, { once: true });

  async function look(): Promise<void> {
    const progress = await engine.runs.heartbeat(runId);
    context.onProgress(progress);
    if (progress.chunks !== done || progress.isPaused) changedAt = performance.now();
    done = progress.chunks;
    if (stop.aborted) end = 'stopped';
    else if (progress.isCancelled) end = 'cancelled';
    else if (progress.halt) end = progress.halt;
    else if (context.maxFailures !== null && progress.tally.failed > context.maxFailures)
      end = 'too_many_failures';
    if (end !== null || done >= next) return;
    const silentMs = performance.now() - changedAt;
    if (silentMs > SILENCE_MS && !isSilenceTold) {
      isSilenceTold = true;
      context.onSilence();
    }
    if (silentMs > LOST_AFTER_MS) {
      if ((await line.chunksOf(runId)).length === 0) end = 'lost';
      else changedAt = performance.now();
    }
  }

  async function pause(): Promise<void> {
    await context.nudge.wait(POLL_MS);
    await new Promise((resolve) => setTimeout(resolve, POLL_LEAST_MS));
    await look();
  }

  let batch: ChunkData[] = [];
  const flush = async () => {
    const chunks = batch;
    batch = [];
    if (chunks.length > 0) await line.add(chunks);
  };
  let pauseAt = context.chunksAhead === null ? Number.POSITIVE_INFINITY : next;
  for (const identifiers of context.chunks) {
    if (context.chunksAhead !== null && next === pauseAt) {
      await flush();
      while (end === null && done < next) await pause();
      if (end === null) pauseAt = next + (await context.chunksAhead());
    }
    if (end !== null) break;
    batch.push({ run: runId, chunk: next, identifiers, attempts: {} });
    next += 1;
    // The first chunk goes at once, so that the first answer does not wait for a full batch.
    if (batch.length < ADD_AT_ONCE && next !== context.firstChunk + 1) continue;
    await flush();
    // Until there is room for a full batch: on SQL engines one chunk takes as long to add as twenty.
    while (end === null && next - done > WINDOW - ADD_AT_ONCE) await pause();
    if (stop.aborted) end = 'stopped';
  }
  if (end === null) await flush();
  else next -= batch.length;
  await look();
  while (end === null && done < next) await pause();

  stop.removeEventListener('abort', wake);
  const ended = end as PurchaseEnd['type'] | RunHalt | null;
  if (ended === null) return { type: 'finished', chunks: next };
  if (ended !== 'lost') await withdraw(context);
  if (typeof ended === 'object') return { type: 'halted', halt: ended, chunks: next };
  return { type: ended, chunks: next } as PurchaseEnd;
}

/** Waits until chunks that were being worked on when the run ended are finished, at most `deadlineMs`. */
export async function awaitStragglers(
  context: PurchaseContext,
  chunks: number,
  deadlineMs: number,
): Promise<void> {
  const endsAt = performance.now() + deadlineMs;
  let withdrawAt = performance.now() + WITHDRAW_EVERY_MS;
  for (;;) {
    const progress = await context.engine.runs.heartbeat(context.runId);
    context.onProgress(progress);
    if (progress.chunks >= chunks || performance.now() >= endsAt) return;
    await context.nudge.wait(POLL_MS);
    if (performance.now() < withdrawAt) continue;
    // One that was parked meanwhile would come back only when its time has come.
    await withdraw(context);
    withdrawAt = performance.now() + WITHDRAW_EVERY_MS;
  }
}

/** Takes back the chunks that nobody works on and counts them as finished. */
export async function withdraw({
  engine,
  line,
  runId,
  log,
}: Pick<PurchaseContext, 'engine' | 'line' | 'runId' | 'log'>): Promise<void> {
  for (const chunk of await line.chunksOf(runId)) {
    try {
      // One that is being worked on ends by itself.
      if (await line.withdraw({ run: runId, chunk })) await engine.runs.finishChunk(runId, chunk);
    } catch (error) {
      log.debug({ err: error, chunk }, 'a chunk could not be withdrawn');
    }
  }
}

/** Removes the chunks of runs that nobody waits for any more. `now` is the store's clock. How many there were. */
export async function removeDeadChunks(engine: Engine, line: ChunkQueue, now: number): Promise<number> {
  const isDead = new Map<string, boolean>();
  let removed = 0;
  for (const place of await line.idleChunks()) {
    let dead = isDead.get(place.run);
    if (dead === undefined) {
      const run = await engine.runs.get(place.run);
      dead = run === null || !isAlive(run, now);
      isDead.set(place.run, dead);
    }
    if (dead && (await line.withdraw(place).catch(() => false))) removed += 1;
  }
  return removed;
}
