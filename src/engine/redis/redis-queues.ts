/**
 * BullMQ on Redis: queues and workers of chunks and of scheduled jobs, and their connections. What a worker does with its job is the
 * caller's; so is closing what is opened here.
 */
import type { Processor, Telemetry } from 'bullmq';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import type { ScheduledJobData } from '../../stores/scheduled-jobs.js';
import type { ChunkData, ChunkWorker } from '../engine.js';
import {
  type EngineQueues,
  logQueueTrouble,
  queueOptions,
  watchWorker,
  workerOptions,
} from '../queue-options.js';
import type { ConnectOptions } from './connect.js';
import { closeConnection, createConnection } from './connect.js';
import { queuePrefix } from './store-keys.js';

const CLOSE_DEADLINE_MS = 1_000;

export function createRedisQueues(options: {
  readonly connect: Omit<ConnectOptions, 'use'>;
  readonly namespace: string;
  readonly log: Log;
  /** Of chunks; scheduled jobs are not traced, since each comes from the last. */
  readonly telemetry?: Telemetry | undefined;
}): EngineQueues {
  const { connect, namespace, log, telemetry } = options;
  const prefix = queuePrefix(namespace);
  const workers = new Set<Pick<ChunkWorker, 'close' | 'disconnect'>>();
  // BullMQ closes the connection that it made for blocking, not the one that it was handed.
  const handed = new Set<Redis>();
  let producer: Redis | undefined;

  function makeQueue<D, N extends string>(
    name: string,
    telemetry?: Telemetry,
  ): Queue<D, void, N, D, void, N> {
    // Shared by all queues: BullMQ leaves a connection that it was handed open.
    producer ??= createConnection({ ...connect, use: 'producer' });
    const queue = new Queue<D, void, N, D, void, N>(name, {
      ...queueOptions(telemetry),
      connection: producer,
      prefix,
    });
    logQueueTrouble(queue, log);
    return queue;
  }

  function makeWorker<D, N extends string>(
    name: string,
    processor: Processor<D, void, N>,
    concurrency: number,
    telemetry?: Telemetry,
  ): Worker<D, void, N> {
    const connection = createConnection({ ...connect, use: 'worker' });
    handed.add(connection);
    const worker = new Worker<D, void, N>(name, processor, {
      ...workerOptions(concurrency, telemetry),
      connection,
      prefix,
    });
    workers.add(worker);
    watchWorker(worker, log);
    worker.on('closed', () => {
      workers.delete(worker);
      handed.delete(connection);
      void closeConnection(connection);
    });
    return worker;
  }

  return {
    openQueue: (name) => makeQueue<ChunkData, 'chunk'>(name, telemetry),
    openWorker: (name, processor, concurrency) =>
      makeWorker<ChunkData, 'chunk'>(name, processor, concurrency, telemetry),
    openScheduledJobQueue: (name) => makeQueue<ScheduledJobData, 'tick'>(name),
    openScheduledJobWorker: (name, processor, concurrency) =>
      makeWorker<ScheduledJobData, 'tick'>(name, processor, concurrency),
    async close() {
      const closing = [...workers].map((worker) =>
        withinDeadline(
          worker.close(true).catch(() => undefined),
          CLOSE_DEADLINE_MS,
        ).then(() =>
          withinDeadline(
            worker.disconnect().catch(() => undefined),
            CLOSE_DEADLINE_MS,
          ),
        ),
      );
      await Promise.all(closing);
      await Promise.all([...handed, ...(producer ? [producer] : [])].map(closeConnection));
      handed.clear();
    },
  };
}
