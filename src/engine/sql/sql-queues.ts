/**
 * BullMQ on its Postgres backend: queues and workers of chunks, whatever runs the SQL below. The numbers are those
 * of the design's list of BullMQ facts. What a worker does with a chunk is the caller's; so is closing it.
 */
import type { JobsOptions, PgPool, Processor } from 'bullmq';
import { createPostgresBackend, withBackend } from 'bullmq';
import { errorText } from '../../errors.js';
import { withinDeadline } from '../../lifecycle.js';
import type { Log } from '../../log.js';
import type { ChunkData, ChunkProcessor, ChunkQueue, ChunkWorker } from '../engine.js';

/** A killed worker's chunks come back after the lock and up to two checks. */
const LOCK_DURATION_MS = 15_000;
const STALLED_INTERVAL_MS = 5_000;
/** BullMQ fails a job for good after so many kills, whatever `attempts` says. Its default is 1. */
const MAX_STALLED_COUNT = 10;
/** While a worker sits out a rate limit it promotes no delayed jobs. */
const MAXIMUM_RATE_LIMIT_DELAY_MS = 10_000;
/** Nobody listens to the events of a queue. */
const EVENTS_KEPT = 1_000;
/** A chunk leaves nothing behind: what it came to lies in the outcome store and in the run. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };
const CLOSE_DEADLINE_MS = 2_000;

export interface SqlQueues {
  openQueue(name: string): ChunkQueue;
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  /** Lets go of the workers that were not closed, whether the server answers or not. */
  close(): Promise<void>;
}

/** @param pool Shared by all queues and workers; every session has `bullmq` in its search path. It is not closed here. */
export function createSqlQueues(pool: PgPool, log: Log): SqlQueues {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const workers = new Set<ChunkWorker>();
  return {
    openQueue(name) {
      const queue = new Queue<ChunkData, void, 'chunk'>(name, {
        connection: pool,
        defaultJobOptions: JOB_OPTIONS,
        streams: { events: { maxLen: EVENTS_KEPT } },
      });
      queue.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'queue trouble'));
      // The backend is a type parameter of BullMQ's classes; their methods are the same on each.
      return queue as unknown as ChunkQueue;
    },
    openWorker(name, processor, concurrency) {
      const opened = new Worker<ChunkData, void, 'chunk'>(
        name,
        processor as unknown as Processor<ChunkData, void, 'chunk'>,
        {
          connection: pool,
          concurrency,
          autorun: false,
          lockDuration: LOCK_DURATION_MS,
          stalledInterval: STALLED_INTERVAL_MS,
          maxStalledCount: MAX_STALLED_COUNT,
          maximumRateLimitDelay: MAXIMUM_RATE_LIMIT_DELAY_MS,
          removeOnComplete: { count: 0 },
          removeOnFail: { count: 0 },
        },
      );
      const worker = opened as unknown as ChunkWorker;
      workers.add(worker);
      worker.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'worker trouble'));
      worker.on('lockRenewalFailed', (ids) => {
        for (const id of ids) worker.cancelJob(id, 'the lock on this chunk was lost');
      });
      worker.on('closed', () => workers.delete(worker));
      return worker;
    },
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
