/** The BullMQ worker around `resolveChunk`, which stops without losing a paid answer. */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import pLimit from 'p-limit';
import type { Client } from '../brand-api/client.js';
import type { Clock } from '../core/clock.js';
import { createReleasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { CHUNK_SIZE, promoteParked } from '../engine/chunk-queue.js';
import type { ChunkData, Engine } from '../engine/engine.js';
import type { RunHalt } from '../engine/stores/run-reasons.js';
import { SharedGovernor } from '../ledger/governor.js';
import { sayWait, waitsUntil } from '../ledger/policy.js';
import { RULES } from '../ledger/rules.js';
import { createAddressTrust } from './address-trust.js';
import { purgeSpooled, recordSpooled, spoolFolderOf } from './answer-spool.js';
import type { AskSignals, WorkerListener } from './asked.js';
import { Breaker } from './breaker.js';
import { createLooks, FLUSHED_WITHIN_MS } from './looks.js';
import { createChunkWork } from './own-chunks.js';
import { createRecentRuns } from './recent-runs.js';
import { createFailureKeeper, createRecorder } from './recorder.js';
import { RefusalSeries } from './refusal-series.js';
import type { ChunkContext, ChunkResult } from './resolve-chunk.js';
import { createRunTallies } from './run-tallies.js';
import { countInFlight, endWorker } from './worker-stop.js';

const PROMOTED = 'the clock was set back, or the clock of another worker is ahead: parked chunks continue';

export interface LookupWorkerOptions {
  readonly engine: Engine;
  readonly queueName: string;
  /** Asks `service` only: no run decides where the token goes. */
  readonly client: Client;
  /** The worker leaves runs of another service or account alone. */
  readonly service: string;
  readonly account: string;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly usageLagMs: number;
  /** Folder of paid answers that the engine cannot take, with a folder for each engine. */
  readonly spoolFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly listener?: WorkerListener | undefined;
  /** False for a worker that takes no chunks from the queue. Default true. */
  readonly takesChunks?: boolean;
}

/** A run polls for its halt three times a second, and resumes at the earliest after this time. */
export const HALT_REMEMBERED_MS = 10_000;

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
    // Once stopping, an answer that the store refuses goes to disk at once.
    spool: createRecorder({ ...basics, store: engine.outcomes, spoolFolder: ownSpool, stop }),
    account,
    usageLagMs,
  });
  const halts = createHalts(clock);
  /** `requests` omits those cut off; `billed` includes those perhaps billed. */
  const sent = createRecentRuns(() => ({ requests: 0, billed: 0, cutOff: 0 }));
  const context = {
    engine,
    client: options.client,
    governor,
    breaker: new Breaker(),
    addressTrust: createAddressTrust(service, engine.runs),
    refusals: new RefusalSeries(),
    clock,
    listener: options.listener,
    gauge: { inFlight: 0, sent: 0, cutOff: 0, outage: null as string | null, retryAt: 0 },
    worker: name,
    limit: pLimit(concurrency),
    halts,
    keepFailure: createFailureKeeper(engine.runs, { clock, log, stop }),
    onSent(run: string, as: 'free' | 'billed' | 'cutOff') {
      const counted = sent.of(run);
      if (as !== 'cutOff') counted.requests += 1;
      if (as !== 'free') counted[as] += 1;
    },
    async halt(run: string, halt: RunHalt) {
      halts.set(run, halt);
      await engine.runs.halt(run, halt);
    },
    underWay: new Set<string>(),
    turns: { last: Promise.resolve() },
    tallies: createRunTallies(engine.runs, clock),
  } satisfies ChunkContext;

  const signals = { stop, abort: aborting.signal };
  const looks = createLooks(context, account, signals);
  const chunks = createChunkWork(context, { service, account, log, ...signals });

  // Twice what the slots need, so that the end of one chunk never leaves slots empty.
  const chunksAtOnce = Math.ceil(concurrency / CHUNK_SIZE) * 2 + 1;
  const worker =
    options.takesChunks === false ? null : engine.openWorker(options.queueName, chunks.process, chunksAtOnce);
  /** Work from outside the queue. */
  const otherWork = new Set<Promise<unknown>>();
  function untilDone<T>(work: Promise<T>): Promise<T> {
    otherWork.add(work);
    const forget = () => otherWork.delete(work);
    work.then(forget, forget);
    return work;
  }
  const releasers = createReleasers();
  releasers.push(countInFlight(() => context.gauge.inFlight));
  let ending: Promise<void> | null = null;

  return {
    /** Unique over all workers and time. */
    name,
    get inFlight(): number {
      return context.gauge.inFlight;
    },
    /** Why the service is unavailable, or null. The breaker is open, or a far Retry-After holds. */
    get outage(): string | null {
      const until = governor.state && waitsUntil(governor.state);
      return context.gauge.outage ?? (until !== null && until > clock.now() ? sayWait(until) : null);
    },
    /** When the longest wait of an identifier ends; in the past if none waits long. */
    get retryAt(): number {
      return context.gauge.retryAt;
    },
    /** The account as last seen; null before the first exchange. */
    ledgerState: () => governor.state,
    /** What this worker sent for a run. */
    sentFor: sent.of,
    /** Number of paid answers on disk for the next worker. */
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
      const answers = await recordSpooled(ownSpool, engine.outcomes.record, clock.now());
      if (answers > 0) log.info({ answers }, 'stored the paid answers that were on disk');
      worker?.run().catch((error) => log.error({ err: error }, 'the worker ended'));
    },
    /** Works once over a chunk from outside the queue. `stop` prevents further requests. */
    resolve(
      data: ChunkData,
      stop: AbortSignal,
      isRepeat: boolean,
      stopOf?: AskSignals['stopOf'],
    ): Promise<ChunkResult> {
      return untilDone(chunks.resolve(data, stop, isRepeat, stopOf));
    },
    /** Reads quota and usage by a look; null without a permit. `halt` is what would end a run. */
    readUsage: looks.readUsage,
    /** Sends the one request beyond the limit that a person ordered, and keeps its answer. */
    check: (...asked: Parameters<typeof looks.check>) => untilDone(looks.check(...asked)),
    /** Resolves when every ended request is settled, or after a while. Never rejects. */
    settled: () => governor.flushed(FLUSHED_WITHIN_MS),
    resumeRun: (run: string): void => halts.forget(run),
    /** Sends nothing more; resolves when requests in flight are recorded, or after `deadlineMs`. */
    stop(deadlineMs: number): Promise<void> {
      ending ??= endWorker(context, log, deadlineMs, {
        stop: () => stopping.abort(new Error('stopping')),
        // Chunks end once their requests have, and the queue's own close waits for that.
        closed: () => Promise.allSettled([worker?.close(), ...otherWork]),
        abort: () => aborting.abort(new Error('stopping')),
      }).then(releasers.releaseAll);
      return ending;
    },
  };
}

/**
 * Remembers halted runs for a while, in which their process takes its chunks back. Later chunks
 * belong to a run that another process has resumed (`--on-limit wait`).
 */
export function createHalts(clock: Clock) {
  const halts = new Map<string, { readonly halt: RunHalt; readonly until: number }>();
  return {
    get(run: string): RunHalt | undefined {
      const entry = halts.get(run);
      if (entry === undefined || clock.monotonic() < entry.until) return entry?.halt;
      halts.delete(run);
      return undefined;
    },
    set: (run: string, halt: RunHalt) =>
      void halts.set(run, { halt, until: clock.monotonic() + HALT_REMEMBERED_MS }),
    forget: (run: string) => void halts.delete(run),
  };
}
