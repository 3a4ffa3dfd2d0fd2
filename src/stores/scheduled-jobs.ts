/**
 * Scheduled jobs: a scheduler adds one to its queue whenever its cron expression says so. It adds
 * the next when a worker takes the current one, so those that were missed are not made up: the one
 * that was due is late.
 */
import type { Job, Queue, Worker } from 'bullmq';

/** The payload of a scheduled job: names only; their meaning is up to the caller. */
export interface ScheduledJobData {
  /** Of the scheduler. */
  readonly name: string;
  /** The id of the schedule; a new scheduler with the same name has another one. */
  readonly id: string;
  /** When a worker began it (milliseconds since 1970); absent: none has. */
  readonly begunAt?: number;
}

/** The jobs keep the name `tick`, under which earlier releases added them. */
export type ScheduledJob = Job<ScheduledJobData, void, 'tick'>;
export type ScheduledJobQueue = Queue<ScheduledJobData, void, 'tick'>;
export type ScheduledJobWorker = Worker<ScheduledJobData, void, 'tick'>;
/** Three parameters, so that BullMQ hands over the signal that a lost lock aborts. */
export type ScheduledJobProcessor = (
  job: ScheduledJob,
  token?: string,
  signal?: AbortSignal,
) => Promise<void>;

interface Scheduler {
  readonly name: string;
  /** When its next job is due, milliseconds since 1970; in the past until a worker takes it. */
  readonly nextAt: number | null;
}

/** Schedulers by queue and name. */
export interface ScheduledJobs {
  list(queue: string): Promise<Scheduler[]>;
  /** Sets a scheduler, in place of an earlier one. `cron` and `tz` as `cron-parser` reads them. */
  set(queue: string, cron: string, tz: string, data: ScheduledJobData): Promise<void>;
  /** Removes a scheduler with the job that is due next. False when there is none. */
  remove(queue: string, name: string): Promise<boolean>;
  /** Adds one job at once, beside the scheduler. */
  addNow(queue: string, data: ScheduledJobData): Promise<void>;
}

/** When a job was due, milliseconds since 1970; null for one that was added by hand. */
export function dueAtOf(job: Pick<ScheduledJob, 'opts'>): number | null {
  return job.opts.prevMillis ?? null;
}
