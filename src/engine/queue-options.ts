/**
 * What queues and workers are opened with on every engine: the options that design section 12 and BullMQ's own documentation ask
 * for, and what is listened to. Connections, and closing, are the engine's.
 */
import type { JobsOptions, QueueOptions, Telemetry, WorkerOptions } from 'bullmq';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type {
  ScheduledJobProcessor,
  ScheduledJobQueue,
  ScheduledJobWorker,
} from '../stores/scheduled-jobs.js';
import type { BullChunkQueue, ChunkProcessor, ChunkWorker } from './engine.js';

/** Queues and workers of one engine. */
export interface EngineQueues {
  openQueue(name: string): BullChunkQueue;
  openWorker(name: string, processor: ChunkProcessor, concurrency: number): ChunkWorker;
  openScheduledJobQueue(name: string): ScheduledJobQueue;
  openScheduledJobWorker(
    name: string,
    processor: ScheduledJobProcessor,
    concurrency: number,
  ): ScheduledJobWorker;
  /** Lets go of what was opened and not closed, whether the engine answers or not. */
  close(): Promise<void>;
}

/** A killed worker's chunks come back after the lock and up to two checks: 10 to 20 s. */
const LOCK_DURATION_MS = 15_000;
const STALLED_INTERVAL_MS = 5_000;
/** BullMQ fails a job for good after so many kills, whatever `attempts` says. Its default is 1. */
const MAX_STALLED_COUNT = 10;
/** While a worker sits out a rate limit it promotes no delayed jobs. */
const MAXIMUM_RATE_LIMIT_DELAY_MS = 10_000;
/** A job leaves nothing behind: what it came to lies in the stores. */
const JOB_OPTIONS: JobsOptions = { removeOnComplete: true, removeOnFail: true };
/** Nobody listens to the events of a queue; where it keeps them, few are kept. */
const EVENTS_KEPT = 1_000;

/** The options of every queue, without its connection. `telemetry`: absent, nothing is traced. */
export function queueOptions(telemetry?: Telemetry): Omit<QueueOptions, 'connection'> {
  return {
    defaultJobOptions: JOB_OPTIONS,
    streams: { events: { maxLen: EVENTS_KEPT } },
    ...(telemetry && { telemetry }),
  };
}

/** The options of every worker, without its connection. It takes `concurrency` jobs at once, from `run()` on. */
export function workerOptions(concurrency: number, telemetry?: Telemetry): Omit<WorkerOptions, 'connection'> {
  return {
    concurrency,
    autorun: false,
    lockDuration: LOCK_DURATION_MS,
    stalledInterval: STALLED_INTERVAL_MS,
    maxStalledCount: MAX_STALLED_COUNT,
    maximumRateLimitDelay: MAXIMUM_RATE_LIMIT_DELAY_MS,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    ...(telemetry && { telemetry }),
  };
}

interface Troubled {
  readonly name: string;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

interface LockHolder extends Troubled {
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'lockRenewalFailed', listener: (jobIds: string[]) => void): unknown;
  cancelJob(jobId: string, reason: string): unknown;
}

/** An error of its connection is worth a line; without a listener it would end the process. */
export function logQueueTrouble(queue: Troubled, log: Log): void {
  queue.on('error', (error) => log.debug({ queue: queue.name, reason: errorText(error) }, 'queue trouble'));
}

/** The same for a worker, and a job whose lock was lost is told so: somebody else may have it already. */
export function watchWorker(worker: LockHolder, log: Log): void {
  worker.on('error', (error) =>
    log.debug({ queue: worker.name, reason: errorText(error) }, 'worker trouble'),
  );
  worker.on('lockRenewalFailed', (ids) => {
    for (const id of ids) worker.cancelJob(id, 'the lock on this job was lost');
  });
}
