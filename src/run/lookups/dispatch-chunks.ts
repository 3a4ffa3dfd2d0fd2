/** Queues a run's chunks through a window until workers resolve all or something stops the run. */
import type { Clock } from '../../core/clock.js';
import type { Log } from '../../core/log.js';
import { CHUNK_SIZE, chunkSizeFor } from '../../engine/chunk-queue.js';
import type { ChunkData, ChunkQueue, Engine } from '../../engine/engine.js';
import { isAlive, type RunProgress } from '../../engine/stores/run-store.js';
import type { LookupsEnd } from '../run-end.js';

export interface DispatchOptions {
  readonly engine: Pick<Engine, 'runs'>;
  readonly queue: ChunkQueue;
  readonly runId: string;
  readonly stop: AbortSignal;
  /** The most failed lookups; null without a limit. */
  readonly maxFailures: number | null;
  /** True: a pause ends the run, and its job starts again later. False: the run waits. */
  readonly endsWhenPaused: boolean;
  readonly clock: Clock;
  readonly log: Log;
  readonly onProgress: (progress: RunProgress) => void | Promise<void>;
  /** Called once per dispatch when no worker has taken a chunk for a while. */
  readonly onSilence: () => void;
}

/** `lost`: the queue lost the chunks. */
export type DispatchEnd = LookupsEnd | { readonly type: 'lost' };

/** Unfinished identifiers at once, because a waiting job takes engine memory. */
const WINDOW = 10_000;
/** The same in the first second, while the speed of lookups is unknown. */
const FIRST_WINDOW = 3_000;
/** Queued chunks per active one, so that no worker waits for its next. */
const WINDOW_PER_ACTIVE = 2;
/** Chunks: enough for 100 workers, and few enough for a stop to take back within seconds. */
export const WINDOW_AT_MOST = 1_000;
const COUNT_EVERY_MS = 1_000;
const ADD_AT_ONCE = 20;
const POLL_MS = 300;
/** Between two looks at the store, even if the wait is woken often. */
const POLL_LEAST_MS = 15;
const SILENCE_MS = 15_000;
const LOST_AFTER_MS = 60_000;
const WITHDRAW_EVERY_MS = 1_000;
const WITHDRAWN_AT_ONCE = 8;

function endingOf(
  { isCancelled, isPausedAlone, halt, tally }: RunProgress,
  { stop, maxFailures, endsWhenPaused }: Pick<DispatchOptions, 'stop' | 'maxFailures' | 'endsWhenPaused'>,
): LookupsEnd | null {
  // A person's order comes first: a stopped run begins again, a cancelled one does not.
  if (isCancelled) return { type: 'cancelled' };
  if (stop.aborted) return { type: 'stopped' };
  if (isPausedAlone) return endsWhenPaused ? { type: 'paused' } : null;
  if (halt) return { type: 'halted', halt };
  return maxFailures !== null && tally.failed > maxFailures ? { type: 'too_many_failures' } : null;
}

/** Shared, because `abort()` without a reason creates an error with its stack each time. */
const WOKEN = new Error('a chunk was finished');

export class ChunkDispatcher {
  /** Number of the next chunk: chunks of one run are never numbered twice. */
  #next = 0;
  #isPaused = false;
  /** The chunks of a paused run, taken from the queue; workers keep the chunks that they hold. */
  readonly #setAside = new Map<number, ChunkData>();
  #setAsideAt = Number.NEGATIVE_INFINITY;
  #chunkSize = CHUNK_SIZE;
  #window = FIRST_WINDOW / CHUNK_SIZE;
  /** Identifiers of the run that are done, as of the last look. */
  #done = 0;
  #counted: { readonly at: number; readonly done: number } | null = null;
  #isAwake = false;
  #waiting: AbortController | null = null;

  constructor(private readonly options: DispatchOptions) {}

  /** Identifiers for the next chunk: about a second of work. */
  get chunkSize(): number {
    return this.#chunkSize;
  }

  /** Ends a wait early: a chunk was finished in this process. A call before the wait counts. */
  wake(): void {
    this.#isAwake = true;
    this.#waiting?.abort(WOKEN);
  }

  /**
   * Queues chunks of identifier texts until all are finished or the run ends. `chunksAhead`: how
   * many chunks to queue before waiting for them; null for all. `isFull`: true to wait for the
   * queued chunks, and to leave out the rest if still true then. Throws engine errors.
   */
  async dispatch(
    chunks: Iterable<readonly string[]>,
    chunksAhead: (() => Promise<number>) | null,
    isFull: () => boolean = () => false,
  ): Promise<DispatchEnd> {
    const { engine, queue, runId, stop, clock } = this.options;
    const first = this.#next;
    let done = first;
    let ending: DispatchEnd | null = null;
    let changedAt = clock.monotonic();
    let isSilenceNotified = false;
    const wake = () => this.wake();
    stop.addEventListener('abort', wake, { once: true });

    const look = async (): Promise<DispatchEnd | null> => {
      const progress = await this.#look();
      if (progress.chunks !== done || progress.isPaused) changedAt = clock.monotonic();
      done = progress.chunks;
      const newEnding = endingOf(progress, this.options);
      if (newEnding === null) await this.#followPause(progress);
      return newEnding ?? (ending === null && done < this.#next ? checkSilence() : null);
    };
    const checkSilence = async (): Promise<DispatchEnd | null> => {
      const silentMs = clock.monotonic() - changedAt;
      if (silentMs > SILENCE_MS && !isSilenceNotified) {
        isSilenceNotified = true;
        this.options.onSilence();
      }
      if (silentMs <= LOST_AFTER_MS) return null;
      if ((await queue.chunksOf(runId)).length === 0) return { type: 'lost' };
      changedAt = clock.monotonic();
      return null;
    };
    /** Polls until the run ends, or is not paused and has at most `atMost` unfinished chunks. */
    const waitFor = async (atMost: () => number | Promise<number>) => {
      while (ending === null && (this.#isPaused || this.#next - done > (await atMost()))) {
        await this.#wait();
        await clock.sleep(POLL_LEAST_MS);
        ending = await look();
      }
    };
    let batch: ChunkData[] = [];
    const flush = async () => {
      const added = batch;
      batch = [];
      if (added.length > 0) await queue.add(added, this.#next - added.length - done);
    };

    let pauseAt = first;
    for (const identifiers of chunks) {
      if (chunksAhead !== null && this.#next === pauseAt) {
        await flush();
        await waitFor(() => 0);
        if (ending === null) pauseAt = this.#next + (await chunksAhead());
      }
      if (ending !== null) break;
      batch.push({ run: runId, chunk: this.#next, identifiers, attempts: {} });
      this.#next += 1;
      if (isFull()) {
        await flush();
        await waitFor(() => (isFull() ? 0 : Number.POSITIVE_INFINITY));
        if (isFull()) break;
      }
      // The first chunk goes at once, so that the first answer does not wait for a full batch.
      if (batch.length < ADD_AT_ONCE && this.#next !== first + 1) continue;
      await flush();
      // Waits for room for a full batch: SQL engines add twenty chunks as fast as one.
      if (this.#isPaused || this.#next - done > this.#window - ADD_AT_ONCE)
        await waitFor(async () => (await this.#fittingWindow()) - ADD_AT_ONCE);
      if (stop.aborted) ending = { type: 'stopped' };
    }
    if (ending === null) await flush();
    else this.#next -= batch.length;
    ending = (await look()) ?? ending;
    await waitFor(() => 0);

    stop.removeEventListener('abort', wake);
    if (ending === null) return { type: 'finished' };
    if (ending.type === 'lost') {
      // No worker will report these chunks, and later chunks must not wait for them.
      for (let chunk = first; chunk < this.#next; chunk += 1) await engine.runs.finishChunk(runId, chunk);
    } else await this.withdraw();
    return ending;
  }

  /** Waits at most `deadlineMs` for chunks that were in progress when the run ended. */
  async awaitStragglers(deadlineMs: number): Promise<void> {
    const { clock } = this.options;
    const endsAt = clock.monotonic() + deadlineMs;
    let withdrawAt = clock.monotonic() + WITHDRAW_EVERY_MS;
    while ((await this.#look()).chunks < this.#next && clock.monotonic() < endsAt) {
      await this.#wait();
      if (clock.monotonic() < withdrawAt) continue;
      // Chunks that were parked meanwhile would return only when they are due.
      await this.withdraw();
      withdrawAt = clock.monotonic() + WITHDRAW_EVERY_MS;
    }
  }

  /** Takes back the chunks that no worker processes and counts them as finished. */
  async withdraw(): Promise<void> {
    const { engine, queue, runId: run } = this.options;
    const setAside = [...this.#setAside.keys()];
    this.#setAside.clear();
    await this.#tryAll(setAside, (chunk) => engine.runs.finishChunk(run, chunk));
    await this.#tryAll(await queue.chunksOf(run), async (chunk) => {
      // A chunk in progress ends normally.
      if (await queue.withdraw({ run, chunk })) await engine.runs.finishChunk(run, chunk);
    });
  }

  async #fittingWindow(): Promise<number> {
    const { queue, clock } = this.options;
    const [before, now] = [this.#counted, clock.monotonic()];
    if (before !== null && now - before.at < COUNT_EVERY_MS) return this.#window;
    this.#counted = { at: now, done: this.#done };
    if (before === null) return this.#window;
    const { active } = await queue.counts();
    this.#chunkSize = chunkSizeFor((this.#done - before.done) / ((now - before.at) / 1_000), active);
    const fitting = Math.max(Math.ceil(WINDOW / this.#chunkSize), WINDOW_PER_ACTIVE * active);
    this.#window = Math.min(fitting, WINDOW_AT_MOST);
    return this.#window;
  }

  /** Sets chunks aside once a second while the run is paused, and queues them again afterwards. */
  async #followPause({ isPausedAlone, chunks }: RunProgress): Promise<void> {
    const { queue, runId, clock } = this.options;
    this.#isPaused = isPausedAlone;
    const inQueue = this.#next - chunks - this.#setAside.size;
    if (!isPausedAlone) {
      if (this.#setAside.size > 0) await queue.add([...this.#setAside.values()], inQueue);
      this.#setAside.clear();
      return;
    }
    if (inQueue === 0 || clock.monotonic() - this.#setAsideAt < WITHDRAW_EVERY_MS) return;
    this.#setAsideAt = clock.monotonic();
    const idle = (await queue.idleChunks()).filter(({ run }) => run === runId);
    await this.#tryAll(
      idle.map(({ chunk }) => chunk),
      async (chunk) => {
        const data = await queue.setAside({ run: runId, chunk });
        if (data !== null) this.#setAside.set(chunk, data);
      },
    );
  }

  async #tryAll(chunks: readonly number[], withdraw: (chunk: number) => Promise<void>): Promise<void> {
    const { log } = this.options;
    const attempt = (chunk: number) =>
      withdraw(chunk).catch((error: unknown) =>
        log.debug({ err: error, chunk }, 'a chunk could not be withdrawn'),
      );
    for (let at = 0; at < chunks.length; at += WITHDRAWN_AT_ONCE)
      await Promise.all(chunks.slice(at, at + WITHDRAWN_AT_ONCE).map(attempt));
  }

  async #look(): Promise<RunProgress> {
    const { engine, runId, onProgress } = this.options;
    const progress = await engine.runs.heartbeat(runId);
    const { matched, notFound, failed, stored } = progress.tally;
    this.#done = matched + notFound + failed + stored;
    await onProgress(progress);
    return progress;
  }

  async #wait(): Promise<void> {
    if (!this.#isAwake) {
      this.#waiting = new AbortController();
      await this.options.clock.sleep(POLL_MS, this.#waiting.signal).catch(() => undefined);
      this.#waiting = null;
    }
    this.#isAwake = false;
  }
}

/** Removes queued chunks of dead runs as finished; returns how many. `now`: the store's clock. */
export async function removeDeadChunks({ runs }: Pick<Engine, 'runs'>, queue: ChunkQueue, now: number) {
  const places = await queue.idleChunks();
  const dead = new Set<string>();
  for (const id of new Set(places.map(({ run }) => run))) {
    const run = await runs.get(id);
    if (run === null || !isAlive(run, now)) dead.add(id);
  }
  let removed = 0;
  for (const place of places)
    if (dead.has(place.run) && (await queue.withdraw(place).catch(() => false))) {
      removed += 1;
      await runs.finishChunk(place.run, place.chunk);
    }
  return removed;
}
