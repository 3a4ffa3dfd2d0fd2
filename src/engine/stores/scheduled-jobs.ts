/**
 * Scheduled jobs. BullMQ's scheduler adds a job's successor when a worker takes the job, so after a
 * downtime the one waiting job runs late, and the others are skipped.
 */
import { randomUUID } from 'node:crypto';
import type { Job, Queue } from 'bullmq';
import { isMoment } from '../../core/clock.js';

/** The payload of a scheduled job. */
export interface ScheduledJobData {
  readonly name: string;
  /** The id of the schedule. A new schedule of the same name gets a new id. */
  readonly id: string;
}

/** A job named `tick` in BullMQ, with the name of its schedule in the data. */
export type ScheduledJob = Job<ScheduledJobData, void, 'tick'>;
export type ScheduledJobQueue = Queue<ScheduledJobData, void, 'tick'>;

export type ScheduledJobs = ReturnType<typeof createScheduledJobs>;

/** Returns the calls. `on` opens a queue for one of them. */
export function createScheduledJobs(
  on: <T>(queue: string, act: (opened: ScheduledJobQueue) => Promise<T>) => Promise<T>,
) {
  return {
    /** Lists all schedulers, also those that another program wrote. */
    list: (queue: string) =>
      on(queue, async (opened) => {
        const schedulers = await opened.getJobSchedulers();
        return schedulers.map(({ key: name, next, pattern, tz, template }) => ({
          name,
          id: template?.data?.id ?? null,
          cron: pattern ?? null,
          tz: tz ?? null,
          /** When the next job is due; in the past while the job waits for a worker. */
          nextAt: isMoment(next) ? next : null,
        }));
      }),
    /** Adds or replaces a scheduler. `cron` and `tz` as `cron-parser` reads them. */
    async set(queue: string, cron: string, tz: string, data: ScheduledJobData): Promise<void> {
      // BullMQ's types want a job's name here, although it is the scheduler's.
      const name = data.name as 'tick';
      await on(queue, (opened) =>
        opened.upsertJobScheduler(name, { pattern: cron, tz }, { name: 'tick', data }),
      );
    },
    /** Removes a scheduler and its next job. Returns false if there is no such scheduler. */
    remove: (queue: string, name: string) => on(queue, (opened) => opened.removeJobScheduler(name)),
    /** Adds one job to run now, independent of the scheduler. */
    async addNow(queue: string, data: ScheduledJobData): Promise<void> {
      // BullMQ's own numbers start again on another engine, where old orders could match them.
      const jobId = `now-${randomUUID()}`;
      await on(queue, (opened) => opened.add('tick', data, { jobId }));
    },
  };
}

/** Returns when a job was due, in milliseconds since 1970; null if `addNow` added it. */
export function dueAtOf(job: Pick<ScheduledJob, 'opts'>): number | null {
  const at: unknown = job.opts.prevMillis;
  return isMoment(at) ? at : null;
}
