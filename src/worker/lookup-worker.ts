/**
 * The BullMQ worker around `resolveChunk`: takes chunks, hands them over, parks what is left, and
 * stops so that nothing paid is lost. The queue's at-least-once and our own signals meet here.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import pLimit from 'p-limit';
import type { Client } from '../brand-api/client.js';
import type { Clock } from '../core/clock.js';
import type { Identifier } from '../core/identifier.js';
import { createReleasers, withinDeadline } from '../core/lifecycle.js';
import { load } from '../core/load.js';
import type { Log } from '../core/log.js';
import type { NewOutcome } from '../core/outcome.js';
import { CHUNK_SIZE, isRepeated, promoteParked } from '../engine/chunk-queue.js';
import type { ChunkData, ChunkJob, Engine } from '../engine/engine.js';
import type { RunHalt } from '../engine/stores/run-reasons.js';
import type { RunSettings } from '../engine/stores/run-store.js';
import { SharedGovernor } from '../ledger/governor.js';
import { sayWait, waitsUntil } from '../ledger/policy.js';
import { RULES } from '../ledger/rules.js';
import { createAddressTrust } from './address-trust.js';
import { purgeSpooled, recordSpooled, spoolFolderOf } from './answer-spool.js';
import type { AskSignals, WorkerListener } from './asked.js';
import { Breaker } from './breaker.js';
import { addCutOff, countInFlight, unansweredText } from './in-flight.js';
import { createLooks, FLUSHED_WITHIN_MS } from './looks.js';
import { createOwnChunks } from './own-chunks.js';
import { createFailureKeeper, createRecorder } from './recorder.js';
import { RefusalSeries } from './refusal-series.js';
import { type ChunkContext, type ChunkResult, finishChunk, resolveChunk } from './resolve-chunk.js';
import { createRunTallies } from './run-tallies.js';

/** How long a chunk that belongs to another worker is left alone. */
const NOT_OURS_MS = 5_000;
/** A chunk whose requests have ended finishes within this time, or the engine does not answer. */
const IDLE_MS = 2_000;
const LOOK_MS = 100;
/** A deadline that rings later: the process stood still, and gets some of the time back. */
const LATE_MS = 1_000;
const GIVEN_BACK_MS = 5_000;
/** How long a chunk of a paused run makes way; its run sets it aside meanwhile. */
const PAUSED_MS = 1_000;
const PROMOTED = 'the clock was set back, or the clock of another worker is ahead: parked chunks continue';

export interface LookupWorkerOptions {
  readonly engine: Engine;
  /** Chunks of the runs of one service and token. */
  readonly queueName: string;
  /** Asks `service`. No run decides where the token goes. */
  readonly client: Client;
  /** Runs that name another service or account are left alone. */
  readonly service: string;
  readonly account: string;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly usageLagMs: number;
  /** Where paid answers wait when the engine cannot take them, in a folder for each engine. */
  readonly spoolFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Notified of chunks and answers, so that a run in this process need not ask the engine. */
  readonly listener?: WorkerListener | undefined;
  /** False: it resolves what it is given with `resolve`, and takes nothing from the queue. */
  readonly takesChunks?: boolean;
}

/** A run looks for its halt three times a second, and goes on no sooner than this after it. */
export const HALT_REMEMBERED_MS = 10_000;

/** Requests, and those of them that were or may have been billed; besides, those cut off. */
const NOTHING_SENT = { requests: 0, billed: 0, cutOff: 0 };
/** A long-lived process forgets the oldest runs. */
const RUNS_COUNTED = 1_000;

export type LookupWorker = ReturnType<typeof createLookupWorker>;

export function createLookupWorker(options: LookupWorkerOptions) {
  const { engine, clock, log, concurrency } = options;
  const host = hostname().replaceAll(/[^A-Za-z0-9-]/g, '-');
  const name = `${host.slice(0, 40)}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const stopping = new AbortController();
  const aborting = new AbortController();
  setMaxListeners(0, stopping.signal, aborting.signal);
  const ownSpool = spoolFolderOf(options.spoolFolder, engine.id);
  const basics = { worker: name, clock, log, timeoutMs: options.timeoutMs };
  const stop = stopping.signal;
  const { service, account, usageLagMs } = options;
  const governor = new SharedGovernor({
    ...basics,
    ledger: engine.ledger,
    // Once stopping, an answer that the store refuses goes to disk at once: its chunk would wait
    // for the whole deadline.
    spool: createRecorder({ ...basics, store: engine.outcomes, spoolFolder: ownSpool, stop }),
    account,
    usageLagMs,
  });
  const own = createOwnChunks({ service, account, clock, log });
  const halts = createHalts(clock);
  const sent = new Map<string, typeof NOTHING_SENT>();
  const context = {
    engine,
    client: options.client,
    governor,
    breaker: new Breaker(),
    addressTrust: createAddressTrust({ ...basics, keyValues: engine.keyValues, service }),
    refusals: new RefusalSeries(),
    clock,
    listener: options.listener,
    gauge: { inFlight: 0, sent: 0, cutOff: 0, outage: null as string | null, retryAt: 0 },
    worker: name,
    limit: pLimit(concurrency),
    halts,
    keepFailure: createFailureKeeper(engine.runs, { clock, log, stop }),
    onSent(run: string, as: 'free' | 'billed' | 'cutOff') {
      const counted = { ...(sent.get(run) ?? NOTHING_SENT) };
      if (as !== 'cutOff') counted.requests += 1;
      if (as !== 'free') counted[as] += 1;
      sent.set(run, counted);
      const [oldest] = sent.keys();
      if (sent.size > RUNS_COUNTED && oldest !== undefined) sent.delete(oldest);
    },
    async halt(run: string, halt: RunHalt) {
      halts.set(run, halt);
      await engine.runs.halt(run, halt);
    },
    underWay: new Set<string>(),
    turns: { last: Promise.resolve() },
    tallies: createRunTallies(engine.runs, clock),
  } satisfies ChunkContext;

  const looks = createLooks(context, account, { stop, abort: aborting.signal });

  async function work(
    data: ChunkData,
    signal: AbortSignal | undefined,
    isRepeat: boolean,
    stopOf?: AskSignals['stopOf'],
  ): Promise<ChunkResult> {
    const run = await engine.runs.get(data.run);
    if (run === null || run.status !== 'running') return finishChunk(engine, data);
    if (!own.isOf(run)) return { type: 'parked', data, waitMs: NOT_OURS_MS };
    // Where the run has died or was halted since, the chunk is ended below.
    const isPaused = run.paused && (await engine.ledger.show(run.settings.account, run.id)).run;
    if (isPaused && isPaused.status === 'paused') return { type: 'parked', data, waitMs: PAUSED_MS };
    const stop = signal ? AbortSignal.any([stopping.signal, signal]) : stopping.signal;
    // Every identifier of the chunk listens to it.
    setMaxListeners(0, stop);
    return resolveChunk(context, run, data, { stop, stopOf, abort: aborting.signal }, isRepeat);
  }

  async function processJob(job: ChunkJob, token?: string, signal?: AbortSignal): Promise<void> {
    const data = own.read(job.data);
    const result: ChunkResult =
      data === null
        ? { type: 'parked', data: job.data, waitMs: NOT_OURS_MS }
        : await work(data, signal, isRepeated(job));
    if (result.type === 'finished') {
      options.listener?.onChunk();
      return;
    }
    // A lost lock means that another worker has the job and parks it.
    if (signal?.aborted) throw new Error('the lock of this chunk was lost');
    await job.updateData(result.data);
    await job.moveToDelayed(clock.now() + result.waitMs, token);
    const { DelayedError } = load('bullmq') as typeof import('bullmq');
    throw new DelayedError();
  }

  /** Resolves when no request was under way for a while: then the queue waits for the engine. */
  async function whenIdle(signal: AbortSignal): Promise<void> {
    for (let idleMs = 0; idleMs < IDLE_MS; idleMs = context.gauge.inFlight > 0 ? 0 : idleMs + LOOK_MS) {
      await clock.sleep(LOOK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
    }
  }

  // Twice what the slots need, so that the tail of one chunk never leaves slots empty.
  const chunksAtOnce = Math.ceil(concurrency / CHUNK_SIZE) * 2 + 1;
  const worker =
    options.takesChunks === false ? null : engine.openWorker(options.queueName, processJob, chunksAtOnce);
  /** Work that did not come from the queue. */
  const given = new Set<Promise<unknown>>();
  function untilDone<T>(work: Promise<T>): Promise<T> {
    given.add(work);
    const forget = () => given.delete(work);
    work.then(forget, forget);
    return work;
  }
  const releasers = createReleasers();
  releasers.push(countInFlight(() => context.gauge.inFlight));
  let ending: Promise<void> | null = null;

  async function end(deadlineMs: number): Promise<void> {
    const endsAt = clock.monotonic() + deadlineMs;
    const left = () => Math.max(0, endsAt - clock.monotonic());
    stopping.abort(new Error('stopping'));
    // Chunks end on their own once their requests have; the queue's own close waits for that.
    const closed = Promise.allSettled([worker?.close(), ...given]);
    const watching = new AbortController();
    const isClosed = await withinDeadline(
      Promise.race([closed.then(() => true), whenIdle(watching.signal).then(() => false)]),
      left(),
    );
    watching.abort(new Error('closed'));
    if (isClosed !== true) {
      aborting.abort(new Error('stopping'));
      // What arrived while the process stood still is stored and settled first.
      const stoodStill = clock.monotonic() - endsAt > LATE_MS;
      const givenBackMs = stoodStill ? Math.min(deadlineMs, GIVEN_BACK_MS) : 0;
      // Without requests under way there is nothing that could still end.
      if (stoodStill || context.gauge.inFlight > 0)
        await withinDeadline(closed, Math.max(givenBackMs, 1_000));
    }
    await withinDeadline(governor.recorded(), Math.max(left(), 1_000));
    const settleMs = Math.max(Math.min(left(), 5_000), 500);
    await governor.close(settleMs);
    const cutOff = context.gauge.cutOff + context.gauge.inFlight;
    addCutOff(cutOff);
    if (cutOff > 0) log.warn({ requests: cutOff }, unansweredText(cutOff));
    await withinDeadline(engine.outcomes.deregister(name), 1_000).catch(() => undefined);
    await releasers.releaseAll();
  }

  return {
    /** Unique over all workers and time. */
    name,
    get inFlight(): number {
      return context.gauge.inFlight;
    },
    /** Why the service is unavailable: the breaker is open, or a far Retry-After holds; or null. */
    get outage(): string | null {
      const until = governor.state && waitsUntil(governor.state);
      return context.gauge.outage ?? (until !== null && until > clock.now() ? sayWait(until) : null);
    },
    /** When it asks again for what has to wait for long; in the past: nothing has to. */
    get retryAt(): number {
      return context.gauge.retryAt;
    },
    /** The account as this worker last saw it; null before its first exchange. */
    ledgerState: () => governor.state,
    /** The requests of this worker for a run, by its own count. */
    sentFor: (run: string) => sent.get(run) ?? NOTHING_SENT,
    /** Paid answers that the engine did not take before the stop: on disk for the next worker. */
    get leftOnDisk(): number {
      return governor.left;
    },
    async start(): Promise<void> {
      await engine.outcomes.heartbeat(name);
      const queue = worker && engine.openQueue(options.queueName);
      const heartbeats = setInterval(() => {
        engine.outcomes.heartbeat(name).catch((error) => log.warn({ err: error }, 'the heartbeat failed'));
        if (queue === null) return;
        promoteParked(queue, clock.now()).then(
          (chunks) => chunks > 0 && log.warn({ chunks }, PROMOTED),
          (error) => log.debug({ err: error }, 'parked chunks could not be checked'),
        );
      }, RULES.workerHeartbeatMs).unref();
      releasers.push(() => queue?.close());
      releasers.push(() => clearInterval(heartbeats));
      await purgeSpooled(options.spoolFolder, clock.now());
      const record = (outcomes: readonly NewOutcome[]) => engine.outcomes.record(name, outcomes);
      const found = await recordSpooled(ownSpool, record, clock.now());
      if (found > 0) log.info({ answers: found }, 'stored the paid answers that were on disk');
      worker?.run().catch((error) => log.error({ err: error }, 'the worker ended'));
    },
    /**
     * One round over a chunk that is in no queue. The caller gives what is left again, after the
     * wait. `stop` ends it before its next request, `stopOf` one identifier of it. Throws engine
     * errors.
     */
    resolve(
      data: ChunkData,
      stop: AbortSignal,
      isRepeat: boolean,
      stopOf?: AskSignals['stopOf'],
    ): Promise<ChunkResult> {
      return untilDone(work(data, stop, isRepeat, stopOf));
    },
    /**
     * Reads quota and usage by one request for the service's own brand: free once that is proven,
     * counted until then. `halt`: what ends each run. null: the ledger permits none now.
     */
    readUsage: looks.readUsage,
    /**
     * Sends the one request beyond the limit that a person ordered, and keeps its answer. `denied`:
     * the ledger grants none; `fresh`: there is an answer; `busy`: another worker is asking.
     */
    check: (identifier: Identifier, settings: RunSettings) => untilDone(looks.check(identifier, settings)),
    /** Resolves when every request that has ended is settled, or after a while. Never rejects. */
    async settled(): Promise<void> {
      await governor.flushed(FLUSHED_WITHIN_MS);
    },
    resumeRun: (run: string): void => halts.forget(run),
    /**
     * Sends nothing more; resolves when what is in flight has ended and is recorded, or after
     * `deadlineMs`. Called again it is the same stop, with the deadline of the first call.
     */
    stop(deadlineMs: number): Promise<void> {
      ending ??= end(deadlineMs);
      return ending;
    },
  };
}

/**
 * Runs that this process must not ask for any more. A halt is remembered for as long as the run's
 * own process needs to take its chunks back; a chunk that comes later is of a run that was allowed
 * to go on (`--on-limit wait`), by a process that cannot notify this one. What still holds then,
 * the ledger or the service says again.
 */
export function createHalts(clock: Clock) {
  const halts = new Map<string, { readonly halt: RunHalt; readonly until: number }>();
  return {
    get(run: string): RunHalt | undefined {
      const known = halts.get(run);
      if (known === undefined || clock.monotonic() < known.until) return known?.halt;
      halts.delete(run);
      return undefined;
    },
    set: (run: string, halt: RunHalt) =>
      void halts.set(run, { halt, until: clock.monotonic() + HALT_REMEMBERED_MS }),
    forget: (run: string) => void halts.delete(run),
  };
}
