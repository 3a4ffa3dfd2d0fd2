/**
 * The `ScheduledJobs` on BullMQ's job schedulers, the same for every engine. A queue is opened for one call and closed after it.
 */
import { withinDeadline } from '../core/lifecycle.js';
import type { ScheduledJobQueue, ScheduledJobs } from '../stores/scheduled-jobs.js';

const CLOSE_MS = 1_000;

/** `failure`: what an error of the queue's client means, as one of our errors. */
export function createScheduledJobs(
  openScheduledJobQueue: (name: string) => ScheduledJobQueue,
  failure: (error: unknown) => unknown,
): ScheduledJobs {
  async function on<T>(name: string, act: (queue: ScheduledJobQueue) => Promise<T>): Promise<T> {
    const queue = openScheduledJobQueue(name);
    try {
      return await act(queue);
    } catch (error) {
      throw failure(error);
    } finally {
      await withinDeadline(
        queue.close().catch(() => undefined),
        CLOSE_MS,
      );
    }
  }
  return {
    list: (queue) =>
      on(queue, async (opened) => {
        const schedulers = await opened.getJobSchedulers();
        return schedulers.map(({ key, next }) => ({ name: key, nextAt: next ?? null }));
      }),
    async set(queue, cron, tz, data) {
      // The library takes the name of a scheduler for one of the job, and only jobs are called `tick`.
      const upsert = (opened: ScheduledJobQueue) =>
        opened.upsertJobScheduler(data.name as 'tick', { pattern: cron, tz }, { name: 'tick', data });
      await on(queue, upsert);
    },
    remove: (queue, name) => on(queue, (opened) => opened.removeJobScheduler(name)),
    async addNow(queue, data) {
      await on(queue, (opened) => opened.add('tick', data));
    },
  };
}
