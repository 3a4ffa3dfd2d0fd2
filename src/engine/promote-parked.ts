/**
 * Delayed jobs and a clock that is set back. BullMQ keeps a delayed job until a date, so after the clock went back by an hour it
 * would lie there for an hour longer than was asked for. A job that was taken at a time that has not come yet was delayed by a
 * clock that has been set since, or by another machine's that is ahead: it is let through at once, and whoever takes it judges by
 * its own dates, which are clamped, whether it must be delayed again.
 */
import type { BullChunkQueue } from './engine.js';

/** Machines of one queue keep time to about this; a clock that goes back by less delays nothing for long. */
const AHEAD_AT_MOST_MS = 5_000;
const LOOKED_AT = 1_000;

/** Whether a delayed job was last taken by a clock that is ahead of `now`. */
function isTakenAhead(job: { readonly processedOn?: number | undefined }, now: number): boolean {
  return job.processedOn !== undefined && job.processedOn - now > AHEAD_AT_MOST_MS;
}

/** Lets such jobs of a queue through. How many there were. */
export async function promoteParked(queue: Pick<BullChunkQueue, 'getJobs'>, now: number): Promise<number> {
  let promoted = 0;
  // Those furthest ahead first.
  for (const job of await queue.getJobs(['delayed'], 0, LOOKED_AT, false)) {
    // One that was taken meanwhile is not there any more.
    if (job?.data === undefined || !isTakenAhead(job, now)) continue;
    const isDone = await job.promote().then(
      () => true,
      () => false,
    );
    if (isDone) promoted += 1;
  }
  return promoted;
}
