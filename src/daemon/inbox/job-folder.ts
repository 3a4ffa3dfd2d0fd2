/**
 * A job is a folder that moves: it is made around a file of the inbox and moves as a whole, each
 * time in one step. So a file is in one place at any time, and of several watchers that reach for
 * it one gets it.
 *
 *   inbox/file --claim--> processing/<watcher>/<job>/ --arrive--> done/ | failed/ | waiting/
 *                               |        ^                                              |
 *                    putBack <--+        +---- take (from waiting/ or a dead watcher) --+
 */
import { link, mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { readPlainFile } from '../../core/plain-file.js';
import { isErrorCode, isSameFile, jobName, lookAt, type SeenFile, withFreeName } from './inbox-file.js';
import type { InboxFolders } from './inbox-folders.js';

/** A file that is being processed, alone in a folder with its results. */
export interface Job {
  readonly folder: string;
  /** The original's name, and its path in the folder. */
  readonly file: string;
  readonly path: string;
  readonly record: JobRecord;
}

/**
 * Takes a file out of the inbox, or out of another folder. null: somebody else was faster, or it
 * changed after `seen` and is in the inbox again. `watcherFolder`: this watcher's folder under
 * `processing`. Throws errors of the file system; then the file is where it was.
 */
export async function claim(
  folders: InboxFolders,
  watcherFolder: string,
  seen: SeenFile,
  now: number,
  from = folders.inbox,
): Promise<Job | null> {
  const name = await withFreeName(jobName(seen.name, now), (free) => mkdir(join(watcherFolder, free)));
  const folder = join(watcherFolder, name);
  const job = jobOf(folder, { file: seen.name, adoptions: 0, parked: null });
  try {
    await writeRecord(folder, job.record);
    await rename(join(from, seen.name), job.path);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    if (isErrorCode(error, 'ENOENT') && (await lookAt(from)) !== null) return null;
    throw error;
  }
  const taken = await lookAt(job.path);
  if (taken !== null && taken !== 'folder' && isSameFile(taken, seen)) return job;
  await putBack(folders, job);
  return null;
}

/**
 * Takes over a job's folder as it stands. null: somebody else was faster, or there is no job in it.
 */
export async function take(folders: InboxFolders, watcherFolder: string, from: string): Promise<Job | null> {
  let name: string;
  try {
    name = await withFreeName(basename(from), (free) => rename(from, join(watcherFolder, free)));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT') && (await lookAt(watcherFolder)) !== null) return null;
    throw error;
  }
  const folder = join(watcherFolder, name);
  const record = await readRecord(folder);
  await removeLinks(folder, record?.file);
  if (record !== null) return jobOf(folder, record);
  await setAside(folders, folder);
  return null;
}

/** Results would be written through a link of their name, which others may have put there. */
async function removeLinks(folder: string, original: string | undefined): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isSymbolicLink() && entry.name !== original) await rm(join(folder, entry.name));
  }
}

/** A folder with no original, or more than one: its visible files are kept for people. */
async function setAside(folders: InboxFolders, folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.every((name) => name.startsWith('.'))) {
    // Its maker was killed before the file was moved into it.
    await rm(folder, { recursive: true, force: true });
    return;
  }
  await writeAnew(join(folder, REASON_FILE), UNCLEAR);
  await withFreeName(basename(folder), (free) => rename(folder, join(folders.failed, free)));
}

const UNCLEAR =
  'This folder was found in processing, and it is not clear which of its files is the original.\n\nTo have the original processed, put it into the inbox again.\n';

function jobOf(folder: string, record: JobRecord): Job {
  return { folder, file: record.file, path: join(folder, record.file), record };
}

interface Arrival {
  readonly place: 'done' | 'failed' | 'waiting';
  /** For `reason.txt`; null: none is needed. */
  readonly reason: string | null;
  /** `waiting`: what is to be remembered. */
  readonly memo?: string;
}

/**
 * Moves a job with its results. The name of its folder there; null when the job belongs to another
 * now. Throws errors of the file system; the job stays where it is then.
 */
export async function arrive(
  folders: InboxFolders,
  job: Job,
  { place, reason, memo }: Arrival,
  now: number,
): Promise<string | null> {
  if ((await lookAt(job.folder)) === null) return null;
  const reasonPath = join(job.folder, REASON_FILE);
  if (reason === null && job.file !== REASON_FILE) await rm(reasonPath, { force: true });
  else if (reason !== null && job.file !== REASON_FILE) await writeAnew(reasonPath, reason);
  if (place === 'waiting') {
    await writeRecord(job.folder, { ...job.record, adoptions: 0, parked: { at: now, memo: memo ?? '' } });
  }
  // A file that was parked before keeps its name among the waiting ones.
  const name =
    place === 'waiting' && job.record.parked !== null ? basename(job.folder) : jobName(job.file, now);
  await mkdir(folders[place], { recursive: true });
  try {
    const free = await withFreeName(name, (each) => rename(job.folder, join(folders[place], each)));
    if (place !== 'waiting') await removeRecord(join(folders[place], free));
    return free;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT') && (await lookAt(job.folder)) === null) return null;
    throw error;
  }
}

/**
 * Puts a file where it was taken from: a parked one to the waiting ones as it is, another one into
 * the inbox, without what was made of it (answers that were paid for are in the engine). False: a
 * file of this name lies there already, or the file system knows no second names. The job stays as
 * it is then, for the next watcher to take up.
 */
export async function putBack(folders: InboxFolders, job: Job): Promise<boolean> {
  if (job.record.parked !== null) {
    await withFreeName(basename(job.folder), (free) => rename(job.folder, join(folders.waiting, free)));
    return true;
  }
  try {
    // Unlike a move this never replaces what lies there.
    await link(job.path, join(folders.inbox, job.file));
  } catch {
    return false;
  }
  await unlink(job.path);
  await rm(job.folder, { recursive: true, force: true });
  return true;
}

/** The folders of jobs in one place, oldest name first. Empty when the place is gone. */
export async function jobFoldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(place, name))
    .sort();
}

/** Removes a watcher's folder if it is empty. */
export async function removeWatcherFolder(watcherFolder: string, heartbeatFile: string): Promise<void> {
  if ((await jobFoldersIn(watcherFolder)).length > 0) return;
  await rm(join(watcherFolder, heartbeatFile), { force: true });
  await rmdir(watcherFolder).catch(() => undefined);
}

/** A file in `waiting/`. */
export interface ParkedJob {
  readonly folder: string;
  readonly file: string;
  readonly parkedAt: number;
  readonly memo: string;
}

const NOTE = '.brand-enrich-job.json';
export const REASON_FILE = 'reason.txt';

const recordShape = z.object({
  file: z.string().min(1),
  /** How often a watcher died while it processed it. */
  adoptions: z.number().int().nonnegative(),
  parked: z
    .object({
      /** Milliseconds since 1970. */
      at: z.number(),
      /** For whoever decides on retries. */
      memo: z.string(),
    })
    .nullable(),
});
type JobRecord = z.infer<typeof recordShape>;

/** Flushed to the disk: after a power loss it still names the original. */
export async function writeRecord(folder: string, record: JobRecord): Promise<void> {
  await writeAnew(join(folder, NOTE), `${JSON.stringify(record)}\n`);
}

/** Replaces whatever is there: writing through a link would lead out of the folder. */
async function writeAnew(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { flag: 'wx', flush: true });
}

/**
 * Reads the record; without a readable one it is derived from the files of the folder. null: there
 * is no original, and nothing to do.
 */
async function readRecord(folder: string): Promise<JobRecord | null> {
  const names = await readdir(folder);
  const record = await readPlainFile(join(folder, NOTE)).then(parseRecord, () => null);
  if (record !== null) return names.includes(record.file) ? record : null;
  const originals = names.filter((name) => !isOurs(name));
  const [file] = originals;
  return file === undefined || originals.length > 1 ? null : { file, adoptions: 0, parked: null };
}

async function removeRecord(folder: string): Promise<void> {
  await rm(join(folder, NOTE), { force: true });
}

function parseRecord(text: string): JobRecord | null {
  try {
    return recordShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Our files beside an original; see `run/output`. */
function isOurs(name: string): boolean {
  return (
    name.startsWith('.') ||
    name === REASON_FILE ||
    /\.enriched(\.partial)?\.[^.]+(\.gz)?$|\.errors\.[^.]+(\.gz)?$|\.report\.(json|html)$/.test(name)
  );
}

const AT_ONCE = 16;

/**
 * All files in `waiting/`, the longest waiting first. A folder without a clear original is ignored.
 */
export async function listWaiting(folder: string): Promise<ParkedJob[]> {
  const limit = pLimit(AT_ONCE);
  const folders = await jobFoldersIn(folder);
  const parked = await Promise.all(folders.map((each) => limit(() => readParked(each))));
  return parked.filter((job) => job !== null).sort((a, b) => a.parkedAt - b.parkedAt);
}

async function readParked(folder: string): Promise<ParkedJob | null> {
  const record = await readRecord(folder).catch(() => null);
  if (record === null) return null;
  return { folder, file: record.file, parkedAt: record.parked?.at ?? 0, memo: record.parked?.memo ?? '' };
}
