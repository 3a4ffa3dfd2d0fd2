/** The chunk queue over a BullMQ queue, the same for every engine. */
import { succeeds } from '../core/lifecycle.js';
import { load } from '../core/load.js';
import type { BullChunkQueue, ChunkCounts, ChunkJob, ChunkPlace, ChunkQueue } from './engine.js';
import { translated } from './stores/store-calls.js';

/** Identifiers in one job while the pace is low or unknown: few enough to take turns soon. */
export const CHUNK_SIZE = 50;
/** The same with a fast service: each job costs the engine eight calls. */
const CHUNK_SIZE_AT_MOST = 200;
/** Only engine errors are thrown, and they pass. */
const JOB_OPTIONS = { attempts: 50, backoff: { type: 'fixed', delay: 2_000 } } as const;
/** How many of the next waiting chunks determine the current turn. */
const FRONT = 5;
const LISTED = 20_000;

/** Opens the BullMQ queue at the first call. `failure` translates errors of its client. */
export function createChunkQueue(
  open: () => Promise<BullChunkQueue>,
  failure: (error: unknown) => unknown,
): ChunkQueue {
  let opening: Promise<BullChunkQueue> | null = null;
  const on = async <T>(act: (queue: BullChunkQueue) => Promise<T>): Promise<T> => {
    opening ??= open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return translated(act(await opening), failure);
  };
  return {
    async add(chunks, ahead) {
      const { PRIORITY_LIMIT } = load('bullmq') as typeof import('bullmq');
      const front = await on((queue) => queue.getJobs(['prioritized'], 0, FRONT - 1, true));
      const first = firstTurn(front, ahead);
      // Not atomic; what is there already under its id is not added again.
      const jobs = chunks.map((data, index) => {
        const priority = Math.min(first + index, PRIORITY_LIMIT);
        return { name: 'chunk' as const, data, opts: { ...JOB_OPTIONS, jobId: jobIdOf(data), priority } };
      });
      await on((queue) => queue.addBulk(jobs));
    },
    async chunksOf(run) {
      const states = ['waiting', 'delayed', 'active', 'prioritized'] as const;
      const jobs = await on((queue) => queue.getJobs([...states], 0, LISTED));
      return jobs.flatMap((job) => (job?.data?.run === run ? [job.data.chunk] : []));
    },
    async idleChunks() {
      const jobs = await on((queue) => queue.getJobs(['waiting', 'delayed', 'prioritized'], 0, LISTED));
      // One that was taken meanwhile is not there any more.
      return jobs.flatMap((job) => (job?.data ? [{ run: job.data.run, chunk: job.data.chunk }] : []));
    },
    async setAside(place) {
      const id = jobIdOf(place);
      // Only an idle job has all that its last worker left.
      if ((await on((queue) => queue.getJobState(id))) === 'active') return null;
      const job = await on((queue) => queue.getJob(id));
      if (!job || (await on((queue) => queue.remove(id))) !== 1) return null;
      return isRepeated(job) ? { ...job.data, isRepeat: true } : job.data;
    },
    withdraw: async (place) => (await on((queue) => queue.remove(jobIdOf(place)))) === 1,
    counts: () => on(countChunks),
    close: async () => (await opening)?.close(),
  };
}

/** True if a worker had a chunk before and was killed, or met an error of the engine. */
export function isRepeated({ data, stalledCounter, attemptsMade }: ChunkJob): boolean {
  return data.isRepeat === true || stalledCounter > 0 || attemptsMade > 0;
}

/** Returns a size with which a worker has a chunk for a second: active x size / perSecond. */
export function chunkSizeFor(perSecond: number, active: number): number {
  const inOneSecond = Math.round(perSecond / Math.max(1, active));
  return Math.min(Math.max(inOneSecond, CHUNK_SIZE), CHUNK_SIZE_AT_MOST);
}

export async function countChunks(queue: Pick<BullChunkQueue, 'getJobCounts'>): Promise<ChunkCounts> {
  const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed');
  const of = (state: string) => counts[state] ?? 0;
  return { waiting: of('waiting') + of('prioritized'), active: of('active'), delayed: of('delayed') };
}

function jobIdOf({ run, chunk }: ChunkPlace): string {
  return `${run}-${chunk}`;
}

/**
 * Returns the priority of a run's next chunk, the number of its turn. A chunk waits for at most one
 * of each run, and no stream of new runs delays an older one. `front`: the chunks that are taken
 * next. `ahead`: unfinished chunks of the run. Pure.
 */
export function firstTurn(
  front: readonly (Pick<ChunkJob, 'priority' | 'attemptsStarted'> | undefined)[],
  ahead: number,
): number {
  const waiting = front.filter((job) => job !== undefined);
  // A chunk that was parked has an old turn.
  const next = waiting.find(({ attemptsStarted }) => attemptsStarted === 0) ?? waiting.at(-1);
  return (next?.priority ?? 0) + ahead + 1;
}

/** Clocks of one queue agree to about this; one set back by less delays nothing for long. */
const AHEAD_AT_MOST_MS = 5_000;
const LOOKED_AT = 1_000;

/**
 * Lets jobs through that a clock which was ahead delayed until a date, and returns their number.
 * The worker that takes one judges whether it must be delayed again.
 */
export async function promoteParked(queue: Pick<BullChunkQueue, 'getJobs'>, now: number): Promise<number> {
  let promoted = 0;
  // Those furthest ahead first.
  for (const job of await queue.getJobs(['delayed'], 0, LOOKED_AT, false)) {
    if (job?.data === undefined || (job.processedOn ?? now) - now <= AHEAD_AT_MOST_MS) continue;
    if (await succeeds(job.promote())) promoted += 1;
  }
  return promoted;
}
