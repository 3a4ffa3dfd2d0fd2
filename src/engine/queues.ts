/**
 * BullMQ as an engine uses it, with the options that its documentation asks for. What differs
 * between Redis and PostgreSQL is a `QueueBackend`.
 */
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
  /** Loads them at its first call. */
  classes(): { readonly Queue: typeof Queue; readonly Worker: typeof Worker };
  /** Where only `isReadOnly` opened the engine: brings BullMQ's own schema up to date. */
  prepare(): Promise<void>;
  queueConnection(): Connection;
  /** The connection of one worker, and its release after the worker has closed. */
  workerConnection(): { readonly connection: Connection; release(): Promise<void> };
  close(): Promise<void>;
}

/** Results are in the stores. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };
/** No process listens to the events of a queue. */
const EVENTS_KEPT = 1_000;
const CLOSE_DEADLINE_MS = 1_000;

const WORKER_OPTIONS: Omit<WorkerOptions, 'connection'> = {
  autorun: false,
  // A killed worker's chunks come back after the lock and up to two checks: 10 to 20 s.
  lockDuration: 15_000,
  stalledInterval: 5_000,
  // BullMQ fails a job finally after so many kills, despite `attempts`. Its default is 1.
  maxStalledCount: 10,
  // While a worker sits out a rate limit it promotes no delayed jobs.
  maximumRateLimitDelay: 10_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};

/** `isReadOnly`: queues are for looking, and BullMQ writes nothing on opening one. */
export function createQueues(
  backend: QueueBackend,
  options: {
    failure(error: unknown): unknown;
    log: Log;
    isReadOnly?: boolean | undefined;
  },
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
    // An error of the connection is worth a line; without a listener it would end the process.
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
    // Another worker may have the job already.
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
    /** Lets go of what was opened and not closed, whether the engine answers or not. */
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

/** Who a worker is, and since when. PostgreSQL cuts names after 63 bytes: the machine is last. */
function workerName(now: number): string {
  const host = hostname().replace(/[^\w.-]/g, '_');
  return `${Math.floor(now / 1_000).toString(36)}.${process.pid}.${host}`;
}

/** Returns null where the server does not list its sessions. Throws as BullMQ does. */
export async function listWorkers(queue: Pick<Queue, 'getWorkers'>) {
  const sessions = await queue.getWorkers();
  const workers = sessions.flatMap(({ rawname = '' }) => {
    const [, since, pid, host] = /:w:([0-9a-z]{6,8})\.(\d+)\.([\w.-]*)$/.exec(rawname) ?? [];
    if (since === undefined || pid === undefined || host === undefined) return [];
    return [{ host, pid, since: Number.parseInt(since, 36) * 1_000 }];
  });
  // BullMQ answers with a remark where the list is forbidden.
  return sessions.length > 0 && workers.length === 0 ? null : workers;
}
