/**
 * Chunks go into the queue through a window, workers here or elsewhere resolve them, and the run waits until all are finished or
 * something stops it. Events can be missed, so the store is asked, and a silence is looked into.
 */
import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import type { ChunkData, ChunkQueue, Engine } from '../../engine/engine.js';
import { isAlive, type RunHalt, type RunProgress } from '../../stores/run-store.js';

export interface DispatchContext {
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
  /** Ends a wait early: a chunk was finished in this process. */
  readonly wake: Wake;
  readonly clock: Clock;
  readonly onProgress: (progress: RunProgress) => void;
  /** Called once when nobody has taken a chunk for a while. */
  readonly onSilence: () => void;
  readonly log: Log;
}

export type DispatchEnd =
  | {
      readonly type: 'finished' | 'stopped' | 'cancelled' | 'too_many_failures' | 'lost';
      readonly chunks: number;
    }
  | { readonly type: 'halted'; readonly halt: RunHalt; readonly chunks: number };

/** Lets one side wait for the other without an event that could be missed: a call before the wait counts. */
export interface Wake {
  wake(): void;
  /** Resolves at the next call (or at once after an unseen one), at the latest after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createWake(clock: Clock): Wake {
  let isAwake = false;
  let waiting: AbortController | null = null;
  return {
    wake() {
      isAwake = true;
      waiting?.abort();
    },
    async wait(ms) {
      if (!isAwake) {
        waiting = new AbortController();
        await clock.sleep(ms, waiting.signal).catch(() => undefined);
        waiting = null;
      }
      isAwake = false;
    },
  };
}

/** Chunks in the queue at once: a waiting job takes engine memory. */
const WINDOW = 200;
const ADD_AT_ONCE = 20;
const POLL_MS = 300;
/** Between two looks at the store, however often somebody wakes the wait. */
const POLL_LEAST_MS = 15;
const SILENCE_MS = 15_000;
const LOST_AFTER_MS = 60_000;
const WITHDRAW_EVERY_MS = 1_000;

type Ending = Exclude<DispatchEnd['type'], 'halted'> | RunHalt;

/** What ends a run, as one look at it shows; null: nothing does. Pure. */
function endingOf(
  { isCancelled, halt, tally }: RunProgress,
  isStopped: boolean,
  maxFailures: number | null,
): Ending | null {
  if (isStopped) return 'stopped';
  if (isCancelled) return 'cancelled';
  if (halt) return halt;
  return maxFailures !== null && tally.failed > maxFailures ? 'too_many_failures' : null;
}

/** Does not throw for what stops a run; engine trouble is thrown after retries by the caller's stores. */
export async function dispatchChunks(context: DispatchContext): Promise<DispatchEnd> {
  const { engine, line, runId, stop, clock } = context;
  let next = context.firstChunk;
  let done = context.firstChunk;
  let ending: Ending | null = null;
  let changedAt = clock.monotonic();
  let isSilenceNotified = false;
  const wake = () => context.wake.wake();
  stop.addEventListener('abort', wake, { once: true });

  async function look(): Promise<Ending | null> {
    const progress = await engine.runs.heartbeat(runId);
    context.onProgress(progress);
    if (progress.chunks !== done || progress.isPaused) changedAt = clock.monotonic();
    done = progress.chunks;
    const seen = endingOf(progress, stop.aborted, context.maxFailures);
    return seen ?? (ending === null && done < next ? await lookIntoSilence() : null);
  }

  async function lookIntoSilence(): Promise<Ending | null> {
    const silentMs = clock.monotonic() - changedAt;
    if (silentMs > SILENCE_MS && !isSilenceNotified) {
      isSilenceNotified = true;
      context.onSilence();
    }
    if (silentMs <= LOST_AFTER_MS) return null;
    if ((await line.chunksOf(runId)).length === 0) return 'lost';
    changedAt = clock.monotonic();
    return null;
  }

  /** Looks from time to time until at most `atMost` chunks are unfinished, or something ends the run. */
  async function waitFor(atMost: number): Promise<void> {
    while (ending === null && next - done > atMost) {
      await context.wake.wait(POLL_MS);
      await clock.sleep(POLL_LEAST_MS);
      ending = await look();
    }
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
      await waitFor(0);
      if (ending === null) pauseAt = next + (await context.chunksAhead());
    }
    if (ending !== null) break;
    batch.push({ run: runId, chunk: next, identifiers, attempts: {} });
    next += 1;
    // The first chunk goes at once, so that the first answer does not wait for a full batch.
    if (batch.length < ADD_AT_ONCE && next !== context.firstChunk + 1) continue;
    await flush();
    // Until there is room for a full batch: on SQL engines one chunk takes as long to add as twenty.
    await waitFor(WINDOW - ADD_AT_ONCE);
    if (stop.aborted) ending = 'stopped';
  }
  if (ending === null) await flush();
  else next -= batch.length;
  ending = (await look()) ?? ending;
  await waitFor(0);

  stop.removeEventListener('abort', wake);
  if (ending === 'lost') {
    // Nobody will report them: the chunks that are queued next are not to wait for these.
    for (let chunk = context.firstChunk; chunk < next; chunk += 1)
      await engine.runs.finishChunk(runId, chunk);
  } else if (ending !== null) await withdraw(context);
  if (ending !== null && typeof ending === 'object') return { type: 'halted', halt: ending, chunks: next };
  return { type: ending ?? 'finished', chunks: next };
}

/** Waits until chunks that were being worked on when the run ended are finished, at most `deadlineMs`. */
export async function awaitStragglers(
  context: DispatchContext,
  chunks: number,
  deadlineMs: number,
): Promise<void> {
  const endsAt = context.clock.monotonic() + deadlineMs;
  let withdrawAt = context.clock.monotonic() + WITHDRAW_EVERY_MS;
  for (;;) {
    const progress = await context.engine.runs.heartbeat(context.runId);
    context.onProgress(progress);
    if (progress.chunks >= chunks || context.clock.monotonic() >= endsAt) return;
    await context.wake.wait(POLL_MS);
    if (context.clock.monotonic() < withdrawAt) continue;
    // One that was parked meanwhile would come back only when its time has come.
    await withdraw(context);
    withdrawAt = context.clock.monotonic() + WITHDRAW_EVERY_MS;
  }
}

/** Takes back the chunks that nobody works on and counts them as finished. */
export async function withdraw({
  engine,
  line,
  runId,
  log,
}: Pick<DispatchContext, 'engine' | 'line' | 'runId' | 'log'>): Promise<void> {
  for (const chunk of await line.chunksOf(runId)) {
    try {
      // One that is being worked on comes to its end.
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
