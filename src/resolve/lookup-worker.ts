/**
 * The BullMQ worker around `resolveChunk`: takes chunks, hands them over, parks what is left, and stops so that
 * nothing paid is lost. Here meet the queue's at-least-once and the house's own signals.
 */

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { DelayedError } from 'bullmq';
import pLimit from 'p-limit';
import type { Clock } from '../clock.js';
import type { ChunkJob, Engine } from '../engine/engine.js';
import { createReleasers, withinDeadline } from '../lifecycle.js';
import type { Log } from '../log.js';
import type { Client } from '../lookup/client.js';
import type { Answer } from '../lookup/read-answer.js';
import { createGovernor, type Governor } from '../quota/governor.js';
import type { RunRecord } from '../runs/run-store.js';
import { bringInAnswers } from './answer-spool.js';
import { heardFrom } from './ask.js';
import { createBreaker } from './breaker.js';
import { createRecorder } from './recorder.js';
import { type ChunkContext, resolveChunk } from './resolve-chunk.js';

/** Identifiers in one job: enough that the queue's own cost is small, few enough that a lost one is soon repeated. */
export const CHUNK_SIZE = 50;
const BEAT_MS = 5_000;

export interface LookupWorkerOptions {
  readonly engine: Engine;
  readonly client: Client;
  readonly queueName: string;
  readonly account: string;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly usageLagMs: number;
  readonly compress: boolean;
  /** Where paid answers wait when the engine cannot take them. */
  readonly spoolFolder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each chunk, so that a run in this process need not poll for it. */
  readonly onChunk?: () => void;
}

export interface LookupWorker {
  /** Unique over all workers and time. */
  readonly name: string;
  readonly governor: Governor;
  /** Requests under way. */
  readonly inFlight: number;
  start(): Promise<void>;
  /** One free request, for the service's own brand: reads quota and usage before anything is spent. */
  readUsage(ownDomain: string, run: RunRecord): Promise<Answer>;
  /** A halted run may be asked for again. */
  resumeRun(run: string): void;
  /** Sends nothing more; resolves when what is in flight has ended and is recorded, or after `deadlineMs`. */
  stop(deadlineMs: number): Promise<void>;
}

export function createLookupWorker(options: LookupWorkerOptions): LookupWorker {
  const { engine, clock, log, concurrency } = options;
  const name = `${hostname()
    .replaceAll(/[^A-Za-z0-9-]/g, '-')
    .slice(0, 40)}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const stopping = new AbortController();
  const aborting = new AbortController();
  setMaxListeners(0, stopping.signal, aborting.signal);
  const recorder = createRecorder({
    store: engine.outcomes,
    worker: name,
    clock,
    log,
    spoolFolder: options.spoolFolder,
    room: concurrency,
  });
  const governor = createGovernor({
    ledger: engine.ledger,
    account: options.account,
    worker: name,
    clock,
    log,
    timeoutMs: options.timeoutMs,
    usageLagMs: options.usageLagMs,
  });
  const context: ChunkContext = {
    engine,
    client: options.client,
    governor,
    recorder,
    breaker: createBreaker(),
    clock,
    compress: options.compress,
    gauge: { inFlight: 0 },
    worker: name,
    limit: pLimit(concurrency),
    halts: new Map(),
  };

  async function processJob(job: ChunkJob, token?: string, signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([stopping.signal, signal]) : stopping.signal;
    // Every identifier of the chunk listens to them.
    setMaxListeners(0, stop);
    const signals = { stop, abort: aborting.signal };
    const result = await resolveChunk(context, job.data, signals);
    if (result.type === 'finished') {
      options.onChunk?.();
      return;
    }
    // A lost lock means that somebody else has the job: it is theirs to park.
    if (signal?.aborted) throw new Error('the lock of this chunk was lost');
    await job.updateData(result.data);
    await job.moveToDelayed(clock.now() + result.waitMs, token);
    throw new DelayedError();
  }

  // Twice what the slots need, so that the tail of one chunk never leaves slots empty.
  const chunksAtOnce = Math.ceil(concurrency / CHUNK_SIZE) * 2 + 1;
  const worker = engine.openWorker(options.queueName, processJob, chunksAtOnce);
  const releasers = createReleasers();

  return {
    name,
    governor,
    get inFlight() {
      return context.gauge.inFlight;
    },
    async start() {
      await engine.outcomes.beat(name);
      const beat = setInterval(() => {
        engine.outcomes.beat(name).catch((error) => log.warn({ err: error }, 'the heartbeat did not arrive'));
      }, BEAT_MS);
      releasers.push(() => clearInterval(beat));
      const found = await bringInAnswers(options.spoolFolder, (outcomes) =>
        engine.outcomes.record(name, outcomes),
      );
      if (found > 0) log.info({ answers: found }, 'answers that waited on disk are in the outcome store');
      worker.run().catch((error) => log.error({ err: error }, 'the worker ended'));
    },
    async readUsage(ownDomain, run) {
      const { allowNsfw, freeStatuses, period } = run.settings;
      const identifier = { kind: 'domain', value: ownDomain } as const;
      const answer = await options.client.lookup(identifier, {
        allowNsfw,
        freeStatuses,
        signal: stopping.signal,
      });
      governor.note(heardFrom(answer, period));
      return answer;
    },
    resumeRun(run) {
      context.halts.delete(run);
    },
    async stop(deadlineMs) {
      const endsAt = clock.now() + deadlineMs;
      const left = () => Math.max(0, endsAt - clock.now());
      stopping.abort(new Error('stopping'));
      // Chunks end by themselves once their requests have; the queue's own close waits for that.
      const closed = worker.close().catch(() => undefined);
      if (
        (await withinDeadline(
          closed.then(() => true),
          left(),
        )) === undefined
      ) {
        aborting.abort(new Error('stopping'));
        await withinDeadline(closed, 1_000);
      }
      await withinDeadline(recorder.close(), Math.max(left(), 1_000));
      await governor.close(Math.max(Math.min(left(), 5_000), 500));
      await withinDeadline(
        engine.outcomes.retire(name).catch(() => undefined),
        1_000,
      );
      await releasers.releaseAll();
    },
  };
}
