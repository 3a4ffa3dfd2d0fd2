/**
 * Scheduled jobs: a scheduler adds the next one when a worker takes the current one, so missed ones
 * are not made up: the one that was due is late.
 */
import type { Job, Queue } from 'bullmq';
import { isMoment } from '../../core/clock.js';

/** The payload of a scheduled job: names only; their meaning is up to the caller. */
export interface ScheduledJobData {
  readonly name: string;
  /** The id of the schedule; a new scheduler with the same name has another one. */
  readonly id: string;
}

/** Each has the name `tick` in BullMQ; its scheduler's name is in the data. */
export type ScheduledJob = Job<ScheduledJobData, void, 'tick'>;
export type ScheduledJobQueue = Queue<ScheduledJobData, void, 'tick'>;

/** As the engine has it: another program may have written it. */
interface Scheduler {
  readonly name: string;
  /** The id of its jobs. */
  readonly id: string | null;
  readonly cron: string | null;
  readonly tz: string | null;
  /** When its next job is due, milliseconds since 1970; in the past until a worker takes it. */
  readonly nextAt: number | null;
}

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
  const at: unknown = job.opts.prevMillis;
  return isMoment(at) ? at : null;
}
