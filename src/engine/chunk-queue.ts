/** The chunk queue over a BullMQ queue, the same for every engine. */
import { succeeds } from '../core/lifecycle.js';
import type { BullChunkQueue, ChunkPlace, ChunkQueue } from './engine.js';
import { translated } from './store-calls.js';

/** Only engine errors are thrown, and they pass. Failed lookups are counted in the chunk itself. */
const JOB_OPTIONS = { attempts: 50, backoff: { type: 'fixed', delay: 2_000 } } as const;
const LISTED_OF_RUN = 5_000;
const LISTED_IDLE = 20_000;

/** Closing it closes the BullMQ queue. `failure` translates errors of the queue's client. */
export function createChunkQueue(queue: BullChunkQueue, failure: (error: unknown) => unknown): ChunkQueue {
  const guarded = <T>(answer: Promise<T>) => translated(answer, failure);
  return {
    async add(chunks) {
      // Not atomic; what is there already under its id is not added again.
      const jobs = chunks.map((data) => {
        return { name: 'chunk' as const, data, opts: { ...JOB_OPTIONS, jobId: jobIdOf(data) } };
      });
      await guarded(queue.addBulk(jobs));
    },
    async chunksOf(run) {
      const states = ['waiting', 'delayed', 'active', 'prioritized'] as const;
      const jobs = await guarded(queue.getJobs([...states], 0, LISTED_OF_RUN));
      return jobs.flatMap((job) => (job?.data?.run === run ? [job.data.chunk] : []));
    },
    async idleChunks() {
      const jobs = await guarded(queue.getJobs(['waiting', 'delayed', 'prioritized'], 0, LISTED_IDLE));
      // One that was taken meanwhile is not there any more.
      return jobs.flatMap((job) => (job?.data ? [{ run: job.data.run, chunk: job.data.chunk }] : []));
    },
    withdraw: async (place) => (await guarded(queue.remove(jobIdOf(place)))) === 1,
    async counts() {
      const counts = await guarded(queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed'));
      const of = (state: string) => counts[state] ?? 0;
      return { waiting: of('waiting') + of('prioritized'), active: of('active'), delayed: of('delayed') };
    },
    close: () => queue.close(),
  };
}

function jobIdOf({ run, chunk }: ChunkPlace): string {
  return `${run}-${chunk}`;
}

/** Clocks of one queue agree to about this; one set back by less delays nothing for long. */
const AHEAD_AT_MOST_MS = 5_000;
const LOOKED_AT = 1_000;

/**
 * Lets delayed jobs through that a clock which is ahead has delayed; how many there were. BullMQ
 * keeps them until a date, so after the clock went back by an hour they would wait for an hour
 * longer. One that was last taken at a time that has not come yet was delayed by such a clock:
 * whoever takes it judges whether it must be delayed again.
 */
export async function promoteParked(queue: Pick<BullChunkQueue, 'getJobs'>, now: number): Promise<number> {
  let promoted = 0;
  // Those furthest ahead first.
  for (const job of await queue.getJobs(['delayed'], 0, LOOKED_AT, false)) {
    // One that was taken meanwhile is not there any more.
    if (job?.data === undefined || (job.processedOn ?? now) - now <= AHEAD_AT_MOST_MS) continue;
    if (await succeeds(job.promote())) promoted += 1;
  }
  return promoted;
}
