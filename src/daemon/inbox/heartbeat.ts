/**
 * Heartbeats of the watchers of one folder: each touches a file in its own folder under
 * `processing`. When one is old, another watcher adopts the jobs of the dead one.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { isRunning } from '../../core/lifecycle.js';
import { readPlainFile } from '../../core/plain-file.js';
import { isErrorCode, lookAt } from './inbox-file.js';
import type { InboxFolders } from './inbox-folders.js';
import { claim, type Job, jobFoldersIn, removeWatcherFolder, take, writeRecord } from './job-folder.js';

export const HEARTBEAT_FILE = '.heartbeat';
export const HEARTBEAT_MS = 5_000;
/**
 * Through no link, and without waiting for the reader of a pipe. Not every system has these flags.
 */
const OVERWRITE =
  constants.O_WRONLY |
  constants.O_CREAT |
  constants.O_TRUNC |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);
/** A watcher whose heartbeat is older than this is dead. */
const DEAD_AFTER_MS = 30_000;

const identityShape = z.object({
  host: z.string(),
  pid: z.number().int().positive(),
  /**
   * Which process numbers can be compared: this start of the machine, and this container. Empty:
   * unknown.
   */
  space: z.string(),
});
type WatcherIdentity = z.infer<typeof identityShape>;

/** Who this process is, for other watchers. */
export async function ownIdentity(): Promise<WatcherIdentity> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const space = await readlink('/proc/self/ns/pid').catch(() => '');
  return {
    host: hostname(),
    pid: process.pid,
    space: boot === '' || space === '' ? '' : `${boot.trim()} ${space}`,
  };
}

/**
 * Touches the heartbeat, and makes the watcher's folder when it is missing; never the folders above
 * it, which may be on an unmounted share. Its time by the file system's clock, ms. Throws errors of
 * the file system.
 */
export async function touchHeartbeat(watcherFolder: string, identity: WatcherIdentity): Promise<number> {
  await mkdir(watcherFolder).catch((error: unknown) => {
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
  const path = join(watcherFolder, HEARTBEAT_FILE);
  await writeFile(path, `${JSON.stringify(identity)}\n`, { flag: OVERWRITE });
  return (await lstat(path)).mtimeMs;
}

/** What is known of another watcher. */
interface SignOfLife {
  /** When its heartbeat was touched, by the file system's clock. */
  readonly beatAt: number;
  /** Who it is; null when that cannot be read. */
  readonly identity: WatcherIdentity | null;
}

/** The heartbeat of the watcher with this folder, else the folder's own time. null: it is gone. */
export async function readSignOfLife(watcherFolder: string): Promise<SignOfLife | null> {
  const path = join(watcherFolder, HEARTBEAT_FILE);
  const stat = (await lstat(path).catch(() => null)) ?? (await lstat(watcherFolder).catch(() => null));
  if (stat === null) return null;
  const text = await readPlainFile(path).catch(() => '');
  return { beatAt: stat.mtimeMs, identity: parseIdentity(text) };
}

function parseIdentity(text: string): WatcherIdentity | null {
  try {
    return identityShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * Whether a watcher is dead: by its heartbeat, or at once when its process was on this machine and
 * has ended. `now` is the time of our own heartbeat, so that one clock, the file system's, measures
 * both.
 */
export function isDead(
  { beatAt, identity }: SignOfLife,
  own: WatcherIdentity,
  now: number,
  isRunning: (pid: number) => boolean,
): boolean {
  if (now - beatAt > DEAD_AFTER_MS) return true;
  if (identity === null || identity.space === '' || identity.space !== own.space) return false;
  return identity.host === own.host && !isRunning(identity.pid);
}

interface Adopter {
  readonly folders: InboxFolders;
  /** Our own folder under `processing`. */
  readonly watcherFolder: string;
  readonly identity: WatcherIdentity;
}

/** `now`: the file system's time, ms. The jobs are ours when this resolves. */
export async function adoptJobs(adopter: Adopter, now: number): Promise<Job[]> {
  const { folders, watcherFolder, identity } = adopter;
  const adopted: Job[] = [];
  for (const other of await jobFoldersIn(folders.processing)) {
    if (other === watcherFolder) continue;
    const sign = await readSignOfLife(other);
    if (sign === null || !isDead(sign, identity, now, isRunning)) continue;
    for (const folder of await jobFoldersIn(other)) {
      const job = await take(folders, watcherFolder, folder);
      if (job !== null) adopted.push(await recordAdoption(job));
    }
    adopted.push(...(await adoptLooseFiles(adopter, other, now)));
    await removeWatcherFolder(other, HEARTBEAT_FILE);
  }
  return adopted;
}

async function recordAdoption(job: Job): Promise<Job> {
  const record = { ...job.record, adoptions: job.record.adoptions + 1 };
  await writeRecord(job.folder, record);
  return { ...job, record };
}

/**
 * Files that lie in a watcher's folder without one of their own: somebody put them there by hand.
 */
async function adoptLooseFiles(
  { folders, watcherFolder }: Adopter,
  other: string,
  now: number,
): Promise<Job[]> {
  const adopted: Job[] = [];
  for (const name of await readdir(other).catch(() => [])) {
    if (name.startsWith('.')) continue;
    const seen = await lookAt(join(other, basename(name)));
    if (seen === null || seen === 'folder' || seen.kind !== 'file') continue;
    const job = await claim(folders, watcherFolder, seen, now, other);
    if (job !== null) adopted.push(job);
  }
  return adopted;
}
