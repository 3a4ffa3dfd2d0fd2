/** The chunk queue over a BullMQ queue, the same for every engine. */
import { succeeds } from '../core/lifecycle.js';
import { load } from '../core/load.js';
import type { BullChunkQueue, ChunkCounts, ChunkJob, ChunkPlace, ChunkQueue } from './engine.js';
import { translated } from './stores/store-calls.js';

/** Identifiers in one job while the pace is low or unknown; small, so that runs take turns soon. */
export const CHUNK_SIZE = 50;
/** With a fast service chunks are larger, since each job costs the engine eight calls. */
const CHUNK_SIZE_AT_MOST = 200;
/** A job throws only for errors of the engine, which pass with time. */
const JOB_OPTIONS = { attempts: 50, backoff: { type: 'fixed', delay: 2_000 } } as const;
/** Number of next waiting chunks that show which turn it is. */
const FRONT = 5;
const LISTED = 20_000;

/** Returns a queue that opens at the first call. `failure` translates errors of its client. */
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
      // Not atomic, but BullMQ does not add a job whose id exists.
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
      // A chunk may be gone that a worker took meanwhile.
      return jobs.flatMap((job) => (job?.data ? [{ run: job.data.run, chunk: job.data.chunk }] : []));
    },
    async setAside(place) {
      const id = jobIdOf(place);
      // A worker may still change the data of an active job.
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

/** True if an earlier worker of a chunk was killed or met an error of the engine. */
export function isRepeated({ data, stalledCounter, attemptsMade }: ChunkJob): boolean {
  return data.isRepeat === true || stalledCounter > 0 || attemptsMade > 0;
}

/** Returns the number of identifiers in a second of work for each of `active` chunks, 50 to 200. */
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
 * Returns the priority of a run's next chunk, the number of its turn: each run has one chunk in a
 * turn. `front`: the chunks that workers take next. `ahead`: the run's unfinished chunks. Pure.
 */
export function firstTurn(
  front: readonly (Pick<ChunkJob, 'priority' | 'attemptsStarted'> | undefined)[],
  ahead: number,
): number {
  const waiting = front.filter((job) => job !== undefined);
  // A chunk that was started before and parked has the number of an old turn.
  const next = waiting.find(({ attemptsStarted }) => attemptsStarted === 0) ?? waiting.at(-1);
  return (next?.priority ?? 0) + ahead + 1;
}

/** Tolerated differences of clocks: a job delayed by less comes back soon anyway. */
const AHEAD_AT_MOST_MS = 5_000;
const LOOKED_AT = 1_000;

/**
 * Makes jobs due that a machine with a fast clock parked too long, and returns their number. The
 * worker that takes such a job parks it again if it must still wait.
 */
export async function promoteParked(queue: Pick<BullChunkQueue, 'getJobs'>, now: number): Promise<number> {
  let promoted = 0;
  // The most delayed jobs first.
  for (const job of await queue.getJobs(['delayed'], 0, LOOKED_AT, false)) {
    if (job?.data === undefined || (job.processedOn ?? now) - now <= AHEAD_AT_MOST_MS) continue;
    if (await succeeds(job.promote())) promoted += 1;
  }
  return promoted;
}
