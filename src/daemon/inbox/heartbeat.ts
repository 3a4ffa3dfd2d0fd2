/**
 * Signs of life between watchers of one folder: each keeps a file in its own folder under `processing`, and touches
 * it regularly. Whoever finds one that has not been touched for a while may take over what its watcher was at.
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
import { claim, type Job, jobFoldersIn, removeDesk, take, writeNote } from './job-folder.js';

export const HEARTBEAT_FILE = '.heartbeat';
export const BEAT_MS = 5_000;
/** Into a file of its own: through no link, and without waiting for whoever reads a pipe. Not every system has these. */
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
  /** Which process numbers can be compared: this start of the machine, and this container. Empty: unknown. */
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
 * Touches the heartbeat, and makes the watcher's folder when it is missing; never the folders above it, which may be away
 * with their share. The time of it by the file system's clock, ms. Throws errors of the file system.
 */
export async function beat(desk: string, identity: WatcherIdentity): Promise<number> {
  await mkdir(desk).catch((error: unknown) => {
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
  const path = join(desk, HEARTBEAT_FILE);
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

/** Of the watcher with this folder; the folder's own time counts where there is no heartbeat. null: it is gone. */
export async function readSignOfLife(desk: string): Promise<SignOfLife | null> {
  const path = join(desk, HEARTBEAT_FILE);
  const stat = (await lstat(path).catch(() => null)) ?? (await lstat(desk).catch(() => null));
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
 * Whether a watcher is dead: by its heartbeat, or at once when its process was one of this machine and is no more. `now` is the
 * time of our own heartbeat, so that one clock, the file system's, measures both.
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
