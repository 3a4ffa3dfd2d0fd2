/**
 * One lookup worker for all files that a process has under way. Each file is woken when a chunk is finished, whoever's
 * it was; started and stopped it is once, by the process.
 */
import type { LookupWorker } from '../resolve/lookup-worker.js';

export interface SharedWorker {
  readonly worker: LookupWorker;
  /** Calls `onChunk` after each chunk, until what is returned is called. */
  listen(onChunk: () => void): () => void;
}

/** `create`: makes the worker, which calls `onChunk` after each chunk. It is the caller's to start and to stop. */
export function shareWorker(create: (onChunk: () => void) => LookupWorker): SharedWorker {
  const listeners = new Set<() => void>();
  const worker = create(() => {
    for (const listener of listeners) listener();
  });
  return {
    worker,
    listen(onChunk) {
      listeners.add(onChunk);
      return () => listeners.delete(onChunk);
    },
  };
}
