/**
 * BullMQ on its Postgres backend: queues and workers of chunks and of ticks, whatever runs the SQL below. The numbers are those
 * of the design's list of BullMQ facts. What a worker does with its job is the caller's; so is closing it.
 */
import type { JobsOptions, PgPool, Processor } from 'bullmq';
import { createPostgresBackend, withBackend } from 'bullmq';
import { errorText } from '../../errors.js';
import { withinDeadline } from '../../lifecycle.js';
import type { Log } from '../../log.js';
import type { ChunkData, ChunkProcessor, ChunkQueue, ChunkWorker } from '../engine.js';
import type { TickData, TickProcessor, TickQueue, TickWorker } from '../ticks.js';

/** A killed worker's chunks come back after the lock and up to two checks. */
const LOCK_DURATION_MS = 15_000;
const STALLED_INTERVAL_MS = 5_000;
/** BullMQ fails a job for good after so many kills, whatever `attempts` says. Its default is 1. */
const MAX_STALLED_COUNT = 10;
/** While a worker sits out a rate limit it promotes no delayed jobs. */
const MAXIMUM_RATE_LIMIT_DELAY_MS = 10_000;
/** Nobody listens to the events of a queue. */
const EVENTS_KEPT = 1_000;
/** A job leaves nothing behind: what it came to lies in the stores. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };
const CLOSE_DEADLINE_MS = 2_000;

export interface SqlQueues {
  openQueue(name: string): ChunkQueue;
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  openTickQueue(name: string): TickQueue;
  openTickWorker(name: string, processor: TickProcessor, concurrency: number): TickWorker;
  /** Lets go of the workers that were not closed, whether the server answers or not. */
  close(): Promise<void>;
}

/** @param pool Shared by all queues and workers; every session has `bullmq` in its search path. It is not closed here. */
export function createSqlQueues(pool: PgPool, log: Log): SqlQueues {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const workers = new Set<Pick<ChunkWorker, 'close'>>();

  function makeQueue<D, N extends string>(name: string) {
    const queue = new Queue<D, void, N>(name, {
      connection: pool,
      defaultJobOptions: JOB_OPTIONS,
      streams: { events: { maxLen: EVENTS_KEPT } },
    });
    queue.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'queue trouble'));
    return queue;
  }

  function makeWorker<D, N extends string>(name: string, processor: unknown, concurrency: number) {
    const worker = new Worker<D, void, N>(name, processor as Processor<D, void, N>, {
      connection: pool,
      concurrency,
      autorun: false,
      lockDuration: LOCK_DURATION_MS,
      stalledInterval: STALLED_INTERVAL_MS,
      maxStalledCount: MAX_STALLED_COUNT,
      maximumRateLimitDelay: MAXIMUM_RATE_LIMIT_DELAY_MS,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    workers.add(worker);
    worker.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'worker trouble'));
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) worker.cancelJob(id, 'the lock on this job was lost');
    });
    worker.on('closed', () => workers.delete(worker));
    return worker;
  }

  // The backend is a type parameter of BullMQ's classes; their methods are the same on each.
  return {
    openQueue: (name) => makeQueue<ChunkData, 'chunk'>(name) as unknown as ChunkQueue,
    openWorker: (name, processor, concurrency) =>
      makeWorker<ChunkData, 'chunk'>(name, processor, concurrency) as unknown as ChunkWorker,
    openTickQueue: (name) => makeQueue<TickData, 'tick'>(name) as unknown as TickQueue,
    openTickWorker: (name, processor, concurrency) =>
      makeWorker<TickData, 'tick'>(name, processor, concurrency) as unknown as TickWorker,
    async close() {
      const closing = [...workers].map((worker) =>
        withinDeadline(
          worker.close(true).catch(() => undefined),
          CLOSE_DEADLINE_MS,
        ),
      );
      await Promise.all(closing);
    },
  };
}
