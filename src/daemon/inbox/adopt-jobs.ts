/**
 * Takes up what dead watchers left: each of their jobs goes to this watcher's folder in one step, so that of several
 * survivors one gets it. Who is dead is `heartbeat.ts`'s to judge.
 */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isRunning } from '../../core/lifecycle.js';
import { HEARTBEAT_FILE, isDead, readSignOfLife, type WatcherIdentity } from './heartbeat.js';
import type { InboxFolders } from './inbox-folders.js';
import { claim, type Job, jobFoldersIn, lookAt, removeDesk, take } from './job-folder.js';
import { writeNote } from './job-note.js';

export interface Adopter {
  readonly folders: InboxFolders;
  /** Our own folder under `processing`. */
  readonly desk: string;
  readonly identity: WatcherIdentity;
}

/** `now`: the file system's time, ms. The jobs are ours when this resolves. */
export async function adoptJobs(adopter: Adopter, now: number): Promise<Job[]> {
  const { folders, desk, identity } = adopter;
  const adopted: Job[] = [];
  for (const other of await jobFoldersIn(folders.processing)) {
    if (other === desk) continue;
    const sign = await readSignOfLife(other);
    if (sign === null || !isDead(sign, identity, now, isRunning)) continue;
    for (const folder of await jobFoldersIn(other)) {
      const job = await take(folders, desk, folder);
      if (job !== null) adopted.push(await noteAdoption(job));
    }
    adopted.push(...(await adoptLooseFiles(adopter, other, now)));
    await removeDesk(other, HEARTBEAT_FILE);
  }
  return adopted;
}

async function noteAdoption(job: Job): Promise<Job> {
  const note = { ...job.note, adoptions: job.note.adoptions + 1 };
  await writeNote(job.folder, note);
  return { ...job, note };
}

/** Files that lie in a watcher's folder without one of their own: somebody put them there by hand. */
async function adoptLooseFiles({ folders, desk }: Adopter, other: string, now: number): Promise<Job[]> {
  const adopted: Job[] = [];
  for (const name of await readdir(other).catch(() => [])) {
    if (name.startsWith('.')) continue;
    const seen = await lookAt(join(other, basename(name)));
    if (seen === null || seen === 'folder' || seen.kind !== 'file') continue;
    const job = await claim(folders, desk, seen, now, other);
    if (job !== null) adopted.push(job);
  }
  return adopted;
}
