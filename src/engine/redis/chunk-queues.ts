/**
 * BullMQ on Redis: queues and workers of chunks and of ticks, with the options that design section 12 and BullMQ's own
 * documentation ask for. What a worker does with its job is the caller's; so is closing what is opened here.
 */
import type { JobsOptions, Processor } from 'bullmq';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { errorText } from '../../errors.js';
import { withinDeadline } from '../../lifecycle.js';
import type { Log } from '../../log.js';
import type { ChunkData, ChunkProcessor, ChunkQueue, ChunkWorker } from '../engine.js';
import type { TickData, TickProcessor, TickQueue, TickWorker } from '../ticks.js';
import type { ConnectOptions } from './connect.js';
import { closeConnection, createConnection } from './connect.js';
import { queuePrefix } from './store-keys.js';

/** A killed worker's chunks come back after the lock and up to two checks: 10 to 20 s. */
const LOCK_DURATION_MS = 15_000;
const STALLED_INTERVAL_MS = 5_000;
/** BullMQ fails a job for good after so many kills, whatever `attempts` says. Its default is 1. */
const MAX_STALLED_COUNT = 10;
/** While a worker sits out a rate limit it promotes no delayed jobs. */
const MAXIMUM_RATE_LIMIT_DELAY_MS = 10_000;
const CLOSE_DEADLINE_MS = 1_000;

/** A job leaves nothing behind: what it came to lies in the stores. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };
/** Nobody listens to the events of a queue; its stream is kept short. */
const EVENTS_KEPT = 1_000;

export interface ChunkQueues {
  openQueue(name: string): ChunkQueue;
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  openTickQueue(name: string): TickQueue;
  openTickWorker(name: string, processor: TickProcessor, concurrency: number): TickWorker;
  /** Lets go of everything that was opened and not closed, whether Redis answers or not. */
  close(): Promise<void>;
}

export function createChunkQueues(options: {
  readonly connect: Omit<ConnectOptions, 'use'>;
  readonly namespace: string;
  readonly log: Log;
}): ChunkQueues {
  const { connect, namespace, log } = options;
  const prefix = queuePrefix(namespace);
  const workers = new Set<Pick<ChunkWorker, 'close' | 'disconnect'>>();
  // BullMQ closes the connection that it made for blocking, not the one that it was handed.
  const handed = new Set<Redis>();
  let producer: Redis | undefined;

  function makeQueue<D, N extends string>(name: string): Queue<D, void, N, D, void, N> {
    // Shared by all queues: BullMQ leaves a connection that it was handed open.
    producer ??= createConnection({ ...connect, use: 'producer' });
    const queue = new Queue<D, void, N, D, void, N>(name, {
      connection: producer,
      prefix,
      defaultJobOptions: JOB_OPTIONS,
      streams: { events: { maxLen: EVENTS_KEPT } },
    });
    queue.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'queue trouble'));
    return queue;
  }

  function makeWorker<D, N extends string>(
    name: string,
    processor: Processor<D, void, N>,
    concurrency: number,
  ): Worker<D, void, N> {
    const connection = createConnection({ ...connect, use: 'worker' });
    handed.add(connection);
    const worker = new Worker<D, void, N>(name, processor, {
      connection,
      prefix,
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
    worker.on('closed', () => {
      workers.delete(worker);
      handed.delete(connection);
      void closeConnection(connection);
    });
    return worker;
  }

  return {
    openQueue: (name) => makeQueue<ChunkData, 'chunk'>(name),
    openWorker: (name, processor, concurrency) =>
      makeWorker<ChunkData, 'chunk'>(name, processor, concurrency),
    openTickQueue: (name) => makeQueue<TickData, 'tick'>(name),
    openTickWorker: (name, processor, concurrency) =>
      makeWorker<TickData, 'tick'>(name, processor, concurrency),
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
