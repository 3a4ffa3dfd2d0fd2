/**
 * A job is a folder that moves: it is made around a file of the inbox, and goes as a whole from place to place, each time
 * in one step. So a file is in one place at any time, and of several watchers that reach for it one gets it.
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

/** A file that is being processed, alone in a folder with what is made of it. */
export interface Job {
  readonly folder: string;
  /** The original's name, and its path in the folder. */
  readonly file: string;
  readonly path: string;
  readonly note: JobNote;
}

/**
 * Takes a file out of the inbox, or out of another folder. null: somebody else was faster, or it was changed after `seen` and
 * lies in the inbox again. `desk` is this watcher's own folder under `processing`. Throws errors of the file system; the
 * file is where it was then.
 */
export async function claim(
  folders: InboxFolders,
  desk: string,
  seen: SeenFile,
  now: number,
  from = folders.inbox,
): Promise<Job | null> {
  const name = await withFreeName(jobName(seen.name, now), (free) => mkdir(join(desk, free)));
  const folder = join(desk, name);
  const job = jobOf(folder, { file: seen.name, adoptions: 0, parked: null });
  try {
    await writeNote(folder, job.note);
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

/** Takes over a job's folder as it stands. null: somebody else was faster, or there is no job in it. */
export async function take(folders: InboxFolders, desk: string, from: string): Promise<Job | null> {
  let name: string;
  try {
    name = await withFreeName(basename(from), (free) => rename(from, join(desk, free)));
  } catch (error) {
    if (isErrorCode(error, 'ENOENT') && (await lookAt(desk)) !== null) return null;
    throw error;
  }
  const folder = join(desk, name);
  const note = await readNote(folder);
  await removeLinks(folder, note?.file);
  if (note !== null) return jobOf(folder, note);
  await setAside(folders, folder);
  return null;
}

/** Results are written through a link of their name, which others may have put there, to wherever it leads. */
async function removeLinks(folder: string, original: string | undefined): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isSymbolicLink() && entry.name !== original) await rm(join(folder, entry.name));
  }
}

/** A folder that holds no original, or more than one: what people can see of it is kept for them. */
async function setAside(folders: InboxFolders, folder: string): Promise<void> {
  const names = await readdir(folder);
  if (names.every((name) => name.startsWith('.'))) {
    // Whoever made it was killed before the file was moved into it.
    await rm(folder, { recursive: true, force: true });
    return;
  }
  await writeAnew(join(folder, REASON_FILE), UNCLEAR);
  await withFreeName(basename(folder), (free) => rename(folder, join(folders.failed, free)));
}

const UNCLEAR =
  'This folder was found among the files at work, and it cannot be told which of its files is the original.\n\nTo have it processed, put it into the inbox folder again.\n';

function jobOf(folder: string, note: JobNote): Job {
  return { folder, file: note.file, path: join(folder, note.file), note };
}

interface Arrival {
  readonly place: 'done' | 'failed' | 'waiting';
  /** For `reason.txt`; null: none is needed. */
  readonly reason: string | null;
  /** `waiting`: what is to be remembered. */
  readonly memo?: string;
}

/**
 * Moves a job with all that was made of it. The name of its folder there; null when the job is not ours any more.
 * Throws errors of the file system; the job stays where it is then.
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
    await writeNote(job.folder, { ...job.note, adoptions: 0, parked: { at: now, memo: memo ?? '' } });
  }
  // A file that was parked before keeps its name among the waiting ones.
  const name =
    place === 'waiting' && job.note.parked !== null ? basename(job.folder) : jobName(job.file, now);
  await mkdir(folders[place], { recursive: true });
  try {
    const free = await withFreeName(name, (each) => rename(job.folder, join(folders[place], each)));
    if (place !== 'waiting') await removeNote(join(folders[place], free));
    return free;
  } catch (error) {
    if (isErrorCode(error, 'ENOENT') && (await lookAt(job.folder)) === null) return null;
    throw error;
  }
}

/**
 * Puts a file where it was taken from: a parked one to the waiting ones as it is, another one into the inbox, without what was
 * made of it (answers that were paid for are in the engine). False: a file of this name lies there already, or the file
 * system knows no second names. The job stays as it is then, for the next watcher to take up.
 */
export async function putBack(folders: InboxFolders, job: Job): Promise<boolean> {
  if (job.note.parked !== null) {
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

/** Removes a watcher's folder when nothing is left in it. */
export async function removeDesk(desk: string, heartbeatFile: string): Promise<void> {
  if ((await jobFoldersIn(desk)).length > 0) return;
  await rm(join(desk, heartbeatFile), { force: true });
  await rmdir(desk).catch(() => undefined);
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

const noteShape = z.object({
  file: z.string().min(1),
  /** How often a watcher ended without a word while it was at it. */
  adoptions: z.number().int().nonnegative(),
  parked: z
    .object({
      /** Milliseconds since 1970. */
      at: z.number(),
      /** What the one who parked it wants to remember. */
      memo: z.string(),
    })
    .nullable(),
});
type JobNote = z.infer<typeof noteShape>;

/** Writes it through to the disk: after a loss of power it tells what is the original. */
export async function writeNote(folder: string, note: JobNote): Promise<void> {
  await writeAnew(join(folder, NOTE), `${JSON.stringify(note)}\n`);
}

/** Writes a file in place of whatever lies there: written into, a link would lead out of the folder. */
async function writeAnew(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, text, { flag: 'wx', flush: true });
}

/**
 * Reads it; without a readable one it is made up from what lies in the folder. null: there is no original, and nothing
 * to be done.
 */
async function readNote(folder: string): Promise<JobNote | null> {
  const names = await readdir(folder);
  const note = await readPlainFile(join(folder, NOTE)).then(parseNote, () => null);
  if (note !== null) return names.includes(note.file) ? note : null;
  const originals = names.filter((name) => !isOurs(name));
  const [file] = originals;
  return file === undefined || originals.length > 1 ? null : { file, adoptions: 0, parked: null };
}

async function removeNote(folder: string): Promise<void> {
  await rm(join(folder, NOTE), { force: true });
}

function parseNote(text: string): JobNote | null {
  try {
    return noteShape.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Files of ours beside an original; see `collate/output-names.ts`. */
function isOurs(name: string): boolean {
  return (
    name.startsWith('.') ||
    name === REASON_FILE ||
    /\.enriched(\.partial)?\.[^.]+(\.gz)?$|\.errors\.[^.]+(\.gz)?$|\.report\.(json|html)$/.test(name)
  );
}

const AT_ONCE = 16;

/** All of them, longest waiting first. A folder in which no original can be told is left alone. */
export async function listWaiting(folder: string): Promise<ParkedJob[]> {
  const limit = pLimit(AT_ONCE);
  const folders = await jobFoldersIn(folder);
  const parked = await Promise.all(folders.map((each) => limit(() => readParked(each))));
  return parked.filter((job) => job !== null).sort((a, b) => a.parkedAt - b.parkedAt);
}

async function readParked(folder: string): Promise<ParkedJob | null> {
  const note = await readNote(folder).catch(() => null);
  if (note === null) return null;
  return { folder, file: note.file, parkedAt: note.parked?.at ?? 0, memo: note.parked?.memo ?? '' };
}
