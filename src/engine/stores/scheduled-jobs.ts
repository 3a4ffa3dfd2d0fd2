/**
 * Scheduled jobs: a scheduler adds the next one when a worker takes the current one, so missed ones
 * are not made up: the one that was due is late.
 */
import { randomUUID } from 'node:crypto';
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

export type ScheduledJobs = ReturnType<typeof createScheduledJobs>;

/** `on`: hands a queue over, opened for one call. */
export function createScheduledJobs(
  on: <T>(queue: string, act: (opened: ScheduledJobQueue) => Promise<T>) => Promise<T>,
) {
  return {
    /** As the engine has them: another program may have written one. */
    list: (queue: string) =>
      on(queue, async (opened) => {
        const schedulers = await opened.getJobSchedulers();
        return schedulers.map(({ key: name, next, pattern, tz, template }) => ({
          name,
          /** The id of its jobs. */
          id: template?.data?.id ?? null,
          cron: pattern ?? null,
          tz: tz ?? null,
          /** When its next job is due; in the past until a worker takes it. */
          nextAt: isMoment(next) ? next : null,
        }));
      }),
    /** Replaces an earlier scheduler. `cron` and `tz` as `cron-parser` reads them. */
    async set(queue: string, cron: string, tz: string, data: ScheduledJobData): Promise<void> {
      // The library takes the name of a scheduler for one of the job, and only jobs are called
      // `tick`.
      const name = data.name as 'tick';
      await on(queue, (opened) =>
        opened.upsertJobScheduler(name, { pattern: cron, tz }, { name: 'tick', data }),
      );
    },
    /** Removes a scheduler with the job that is due next. False when there is none. */
    remove: (queue: string, name: string) => on(queue, (opened) => opened.removeJobScheduler(name)),
    /** Adds one job at once, beside the scheduler. */
    async addNow(queue: string, data: ScheduledJobData): Promise<void> {
      // A number would come again on another engine, with what was ordered for it on this one.
      const jobId = `now-${randomUUID()}`;
      await on(queue, (opened) => opened.add('tick', data, { jobId }));
    },
  };
}

/** When a job was due, milliseconds since 1970; null for one that was added by hand. */
export function dueAtOf(job: Pick<ScheduledJob, 'opts'>): number | null {
  const at: unknown = job.opts.prevMillis;
  return isMoment(at) ? at : null;
}
