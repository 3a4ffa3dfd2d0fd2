/**
 * BullMQ on its Postgres backend: queues and workers of chunks and of scheduled jobs, whatever runs the SQL below. What a worker does
 * with its job is the caller's; so is closing it.
 */
import type { PgPool, Processor, Telemetry } from 'bullmq';
import { createPostgresBackend, withBackend } from 'bullmq';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import type { ScheduledJobData, ScheduledJobQueue, ScheduledJobWorker } from '../../stores/scheduled-jobs.js';
import type { BullChunkQueue, ChunkData, ChunkWorker } from '../engine.js';
import {
  type EngineQueues,
  logQueueTrouble,
  queueOptions,
  watchWorker,
  workerOptions,
} from '../queue-options.js';

const CLOSE_DEADLINE_MS = 2_000;

/**
 * @param pool Shared by all queues and workers; every session has `bullmq` in its search path. It is not closed here.
 * @param telemetry Of chunks; scheduled jobs are not traced, since each comes from the last.
 */
export function createSqlQueues(pool: PgPool, log: Log, telemetry?: Telemetry): EngineQueues {
  const { Queue, Worker } = withBackend(createPostgresBackend);
  const workers = new Set<Pick<ChunkWorker, 'close'>>();

  function makeQueue<D, N extends string>(name: string, telemetry?: Telemetry) {
    const queue = new Queue<D, void, N>(name, {
      ...queueOptions(telemetry),
      connection: pool,
    });
    logQueueTrouble(queue, log);
    return queue;
  }

  function makeWorker<D, N extends string>(
    name: string,
    processor: unknown,
    concurrency: number,
    telemetry?: Telemetry,
  ) {
    const worker = new Worker<D, void, N>(name, processor as Processor<D, void, N>, {
      ...workerOptions(concurrency, telemetry),
      connection: pool,
    });
    workers.add(worker);
    watchWorker(worker, log);
    worker.on('closed', () => workers.delete(worker));
    return worker;
  }

  // The backend is a type parameter of BullMQ's classes; their methods are the same on each.
  return {
    openQueue: (name) => makeQueue<ChunkData, 'chunk'>(name, telemetry) as unknown as BullChunkQueue,
    openWorker: (name, processor, concurrency) =>
      makeWorker<ChunkData, 'chunk'>(name, processor, concurrency, telemetry) as unknown as ChunkWorker,
    openScheduledJobQueue: (name) =>
      makeQueue<ScheduledJobData, 'tick'>(name) as unknown as ScheduledJobQueue,
    openScheduledJobWorker: (name, processor, concurrency) =>
      makeWorker<ScheduledJobData, 'tick'>(name, processor, concurrency) as unknown as ScheduledJobWorker,
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
