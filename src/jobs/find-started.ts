/** A file that a person has started, from the moment of the start until its run has begun. */
import { join } from 'node:path';
import { createJobFinder, type EndedJob } from './ended-jobs.js';
import { jobFoldersIn, readNoted } from './job-folder.js';
import { placedAs } from './placed-files.js';

/**
 * `inbox`: it is not taken yet. `processing`: it is read, and then its run begins; `run`: the
 * latest one, null: none has begun.
 */
export type Started =
  | { readonly place: 'inbox'; readonly root: string; readonly file: string }
  | {
      readonly place: 'processing';
      readonly root: string;
      readonly file: string;
      readonly run: string | null;
    }
  | { readonly place: 'ended'; readonly job: EndedJob };

/** Finds the file of a job in these watched folders. null: it is in none. */
export function createStartedFinder(roots: readonly string[]) {
  const findJob = createJobFinder(roots);

  async function look(id: string): Promise<Started | null> {
    for (const root of roots) {
      const queued = await placedAs(root, id);
      if (queued !== null) return { place: 'inbox', root, file: queued };
      const watchers = await jobFoldersIn(join(root, 'processing'));
      for (const folder of (await Promise.all(watchers.map(jobFoldersIn))).flat()) {
        const record = await readNoted(folder).catch(() => null);
        if (record?.id === id) return { place: 'processing', root, file: record.file, run: record.run };
      }
    }
    const job = await findJob({ id: '', job: id });
    return job && { place: 'ended', job };
  }

  // It may have moved to a place that was looked at just before.
  return async (id: string): Promise<Started | null> => (await look(id)) ?? look(id);
}
