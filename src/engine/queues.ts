/** The queues and workers of BullMQ, over the connections of a `QueueBackend`. */
import { hostname } from 'node:os';
import type { JobsOptions, Processor, Queue, QueueOptions, Worker, WorkerOptions } from 'bullmq';
import { errorText } from '../core/errors.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { createChunkQueue } from './chunk-queue.js';
import type { ChunkData } from './engine.js';
import {
  createScheduledJobs,
  type ScheduledJobData,
  type ScheduledJobQueue,
} from './stores/scheduled-jobs.js';
import { translated } from './stores/store-calls.js';

type Connection = Pick<QueueOptions, 'connection' | 'prefix'>;

export interface QueueBackend {
  /** Loads BullMQ at the first call. */
  classes(): { readonly Queue: typeof Queue; readonly Worker: typeof Worker };
  /** Brings BullMQ's own schema up to date, which opening with `isReadOnly` leaves undone. */
  prepare(): Promise<void>;
  queueConnection(): Connection;
  /** Returns a worker's connection, to be released after the worker has closed. */
  workerConnection(): { readonly connection: Connection; release(): Promise<void> };
  close(): Promise<void>;
}

/** Finished jobs are removed at once: results are in the stores. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };
/** Few, because no process reads the events of a queue. */
const EVENTS_KEPT = 1_000;
const CLOSE_DEADLINE_MS = 1_000;

const WORKER_OPTIONS: Omit<WorkerOptions, 'connection'> = {
  autorun: false,
  // A killed worker's chunks return once its lock ends and up to two checks pass: 10 to 20 s.
  lockDuration: 15_000,
  stalledInterval: 5_000,
  // After more kills a job fails for good, whatever `attempts` says. BullMQ's default is 1.
  maxStalledCount: 10,
  // A worker that waits for a rate limit promotes no delayed jobs.
  maximumRateLimitDelay: 10_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

/** Returns functions that open queues and workers. `isReadOnly`: opening a queue writes nothing. */
export function createQueues(
  backend: QueueBackend,
  options: { failure(error: unknown): unknown; log: Log; isReadOnly?: boolean | undefined },
) {
  const { failure, log, isReadOnly: skipMetasUpdate = false } = options;
  const workers = new Map<Pick<Worker, 'close' | 'disconnect'>, () => Promise<void>>();

  function openQueue<D, N extends string>(name: string): Queue<D, void, N, D, void, N> {
    const queue = new (backend.classes().Queue)<D, void, N, D, void, N>(name, {
      ...backend.queueConnection(),
      defaultJobOptions: JOB_OPTIONS,
      streams: { events: { maxLen: EVENTS_KEPT } },
      skipMetasUpdate,
    });
    // Without a listener, an error of the connection would end the process.
    queue.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'queue error'));
    return queue;
  }

  function openWorker<D, N extends string>(
    name: string,
    processor: Processor<D, void, N>,
    concurrency: number,
  ): Worker<D, void, N> {
    const { connection, release } = backend.workerConnection();
    const worker = new (backend.classes().Worker)<D, void, N>(name, processor, {
      ...connection,
      ...WORKER_OPTIONS,
      name: workerName(Date.now()),
      concurrency,
    });
    workers.set(worker, release);
    worker.on('error', (error) => log.debug({ queue: name, reason: errorText(error) }, 'worker error'));
    // The job may be another worker's by now.
    worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) worker.cancelJob(id, 'the lock on this job was lost');
    });
    worker.on('closed', () => {
      workers.delete(worker);
      void release();
    });
    return worker;
  }

  async function on<T>(name: string, act: (queue: ScheduledJobQueue) => Promise<T>): Promise<T> {
    await backend.prepare();
    const queue = openQueue<ScheduledJobData, 'tick'>(name);
    return translated(act(queue), failure).finally(() => inTime(queue.close()));
  }

  return {
    openQueue: openQueue<ChunkData, 'chunk'>,
    openChunkQueue: (name: string) =>
      createChunkQueue(() => backend.prepare().then(() => openQueue<ChunkData, 'chunk'>(name)), failure),
    openWorker: openWorker<ChunkData, 'chunk'>,
    openScheduledJobWorker: openWorker<ScheduledJobData, 'tick'>,
    scheduledJobs: createScheduledJobs(on),
    /** Closes workers and connections that are still open, even if the engine does not answer. */
    async close() {
      const closing = [...workers].map(async ([worker, release]) => {
        await inTime(worker.close(true));
        await inTime(worker.disconnect());
        await release();
      });
      await Promise.all([...closing, backend.close()]);
    },
  };
}

async function inTime(closing: Promise<unknown>): Promise<void> {
  const closed = closing.catch(() => undefined);
  await withinDeadline(closed, CLOSE_DEADLINE_MS);
}

/** Returns start, process and host. The host is last: PostgreSQL cuts names after 63 bytes. */
function workerName(now: number): string {
  const host = hostname().replace(/[^\w.-]/g, '_');
  return `${Math.floor(now / 1_000).toString(36)}.${process.pid}.${host}`;
}

/** Lists the workers of a queue; null if the server hides its sessions. Throws as BullMQ does. */
export async function listWorkers(queue: Pick<Queue, 'getWorkers'>) {
  const sessions = await queue.getWorkers();
  const workers = sessions.flatMap(({ rawname = '' }) => {
    const [, since, pid, host] = /:w:([0-9a-z]{6,8})\.(\d+)\.([\w.-]*)$/.exec(rawname) ?? [];
    if (since === undefined || pid === undefined || host === undefined) return [];
    return [{ host, pid, since: Number.parseInt(since, 36) * 1_000 }];
  });
  // BullMQ returns a remark instead of sessions if the server forbids the list.
  return sessions.length > 0 && workers.length === 0 ? null : workers;
}
