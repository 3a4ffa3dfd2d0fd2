/**
 * One lookup worker for all files that a process has under way. Each file is told of every chunk and answer, whoever's
 * it was; started and stopped it is once, by the process.
 */
import type { LookupWorker } from '../worker/lookup-worker.js';
import type { WorkerListener } from '../worker/worker-listener.js';

export interface SharedWorker {
  readonly worker: LookupWorker;
  /** Tells `listener` too, until what is returned is called. */
  listen(listener: WorkerListener): () => void;
}

/** `create`: makes the worker, which tells the listener that it is handed. It is the caller's to start and to stop. */
export function shareWorker(create: (listener: WorkerListener) => LookupWorker): SharedWorker {
  const listeners = new Set<WorkerListener>();
  const worker = create({
    onChunk() {
      for (const listener of listeners) listener.onChunk();
    },
    onAnswer(answer) {
      for (const listener of listeners) listener.onAnswer(answer);
    },
  });
  return {
    worker,
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
