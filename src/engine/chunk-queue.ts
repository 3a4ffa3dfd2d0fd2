/**
 * The chunk queue over a BullMQ queue, the same for every engine.
 */
import type { BullChunkQueue, ChunkData, ChunkPlace, ChunkQueue } from './engine.js';

/** Thrown errors are the engine's: they pass. Failed lookups are counted in the chunk itself. */
const JOB_OPTIONS = { attempts: 50, backoff: { type: 'fixed', delay: 2_000 } } as const;
const LISTED_OF_RUN = 5_000;
const LISTED_IDLE = 20_000;

/** Closing it closes the BullMQ queue. `failure`: what an error of the queue's client means, as one of our errors. */
export function createChunkQueue(queue: BullChunkQueue, failure: (error: unknown) => unknown): ChunkQueue {
  const chunks = queueOver(queue);
  const guarded =
    <A extends readonly unknown[], T>(act: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      try {
        return await act(...args);
      } catch (error) {
        throw failure(error);
      }
    };
  return {
    add: guarded(chunks.add),
    chunksOf: guarded(chunks.chunksOf),
    idleChunks: guarded(chunks.idleChunks),
    withdraw: guarded(chunks.withdraw),
    counts: guarded(chunks.counts),
    close: chunks.close,
  };
}

function queueOver(queue: BullChunkQueue): ChunkQueue {
  return {
    async add(chunks) {
      // Not atomic; what is there already under its id is not added again.
      await queue.addBulk(chunks.map((data) => ({ name: 'chunk', data, opts: optionsOf(data) })));
    },
    async chunksOf(run) {
      const jobs = await queue.getJobs(['waiting', 'delayed', 'active', 'prioritized'], 0, LISTED_OF_RUN);
      return jobs.flatMap((job) => (job?.data?.run === run ? [job.data.chunk] : []));
    },
    async idleChunks() {
      const jobs = await queue.getJobs(['waiting', 'delayed', 'prioritized'], 0, LISTED_IDLE);
      // One that was taken meanwhile is not there any more.
      return jobs.flatMap((job) => (job?.data === undefined ? [] : [placeOf(job.data)]));
    },
    withdraw: async (place) => (await queue.remove(jobIdOf(place))) === 1,
    async counts() {
      const counts = await queue.getJobCounts('waiting', 'prioritized', 'active', 'delayed');
      const of = (state: string) => counts[state] ?? 0;
      return { waiting: of('waiting') + of('prioritized'), active: of('active'), delayed: of('delayed') };
    },
    close: () => queue.close(),
  };
}

function placeOf({ run, chunk }: ChunkData): ChunkPlace {
  return { run, chunk };
}

function jobIdOf({ run, chunk }: ChunkPlace): string {
  return `${run}-${chunk}`;
}

function optionsOf(data: ChunkData) {
  return { ...JOB_OPTIONS, jobId: jobIdOf(data) };
}
