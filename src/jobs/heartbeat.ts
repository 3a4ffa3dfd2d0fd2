/** Heartbeats of the watchers of a folder: when one is old, another adopts its jobs. */
import { constants } from 'node:fs';
import { lstat, mkdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readPlainFile } from '../core/plain-file.js';
import { isProcessGone, machineIdentity, processIdentity } from '../core/process-identity.js';
import { isErrorCode } from '../core/system-error.js';
import { lookAt } from './inbox-file.js';
import type { WatcherFolders } from './inbox-folders.js';
import { type Job, jobFoldersIn, take, writeRecord } from './job-folder.js';
import { afterDeath } from './reading-turns.js';

const HEARTBEAT_FILE = '.heartbeat';
/** A watcher whose heartbeat is older is dead: others, who look every 5 s, see it within 30 s. */
const DEAD_AFTER_MS = 24_000;
/** Through no link, and without waiting for a pipe's reader, where the system has such flags. */
const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const OVERWRITE = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK;

/**
 * Touches the heartbeat, and returns its time by the file system's clock, ms. Makes the watcher's
 * folder, never those above it, which may be on an unmounted share.
 */
export async function touchHeartbeat(own: string): Promise<number> {
  await mkdir(own).catch((error: unknown) => {
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
  const path = join(own, HEARTBEAT_FILE);
  // Others cannot judge a process by its number when the system does not reveal boot and container.
  const isKnown = !machineIdentity().split(' ').includes('');
  await writeFile(path, isKnown ? `${processIdentity()}\n` : '\n', { flag: OVERWRITE });
  return (await lstat(path)).mtimeMs;
}

/**
 * True if the heartbeat of a watcher is old (without one, its folder), or if its process was on
 * this machine and has ended. `now` is the time of our own heartbeat, by the same clock.
 */
export async function isDead(watcherFolder: string, now: number): Promise<boolean> {
  const path = join(watcherFolder, HEARTBEAT_FILE);
  const seen = (await lookAt(path)) ?? (await lookAt(watcherFolder));
  if (seen === null) return false;
  if (now - seen.mtimeMs > DEAD_AFTER_MS) return true;
  return isProcessGone((await readPlainFile(path).catch(() => '')).trim());
}

/** Takes the jobs of dead watchers; they are ours when this resolves. `now`: see `isDead`. */
export async function adoptJobs(folders: WatcherFolders, now: number): Promise<Job[]> {
  const adopted: Job[] = [];
  for (const other of await jobFoldersIn(folders.processing)) {
    if (other === folders.own || !(await isDead(other, now))) continue;
    for (const folder of await jobFoldersIn(other)) {
      const job = await take(folders, folder);
      if (job === null) continue;
      const record = afterDeath(job.record);
      await writeRecord(job.folder, record);
      adopted.push({ ...job, record });
    }
    await removeWatcherFolder(other);
  }
  return adopted;
}

/** Removes a watcher's folder if it has no jobs. */
export async function removeWatcherFolder(watcherFolder: string): Promise<void> {
  if ((await jobFoldersIn(watcherFolder)).length > 0) return;
  await rm(join(watcherFolder, HEARTBEAT_FILE), { force: true });
  await rmdir(watcherFolder).catch(() => undefined);
}
