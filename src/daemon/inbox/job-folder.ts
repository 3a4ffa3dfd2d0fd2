/**
 * A job is a folder that moves: it is made around a file of the inbox and moves as a whole, each
 * time in one step. So a file is in one place at any time, and of several watchers that reach for
 * it one gets it. All functions throw errors of the file system; the file is where it was then.
 *
 *   inbox/file --claim--> processing/<watcher>/<job>/ --arrive--> done/ | failed/ | waiting/
 *                               |        ^                                              |
 *                    putBack <--+        +---- take (from waiting/ or a dead watcher) --+
 *   inbox/file <--dropAgain-- failed/
 */
import { link, mkdir, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { parseConfigFile } from '../../config/load-settings.js';
import { NeverStartError, usageProblem } from '../../core/errors.js';
import { readJson } from '../../core/json-text.js';
import { makeFolder } from '../../core/make-folder.js';
import { readPlainFile } from '../../core/plain-file.js';
import { systemWords } from '../../core/system-error.js';
import {
  isErrorCode,
  isLeftAlone,
  isSameFile,
  isSideFile,
  jobName,
  lookAt,
  placeOf,
  type SeenFile,
  sideFileOf,
  withFreeName,
} from './inbox-file.js';
import { joinSettings } from './inbox-folder-settings.js';
import type { InboxFolders, WatcherFolders } from './inbox-folders.js';

export const REASON_FILE = 'reason.txt';
const NOTE = '.brand-enrich-job.json';

const recordShape = z.object({
  file: z.string().min(1),
  /** Its original folder below `inbox`; absent: the inbox itself. */
  under: z
    .string()
    .regex(/^(?!\.{1,2}$)[^/\\]+$/)
    .optional(),
  /** How often a watcher died while it processed it. */
  adoptions: z.number().int().nonnegative(),
  /**
   * `at`: the last try, milliseconds since 1970; `since`: when it was first parked, absent in notes
   * of earlier releases; `memo`: the parked state, for decisions on retries.
   */
  parked: z.object({ at: z.number(), since: z.number().optional(), memo: z.string() }).nullable(),
});
type JobRecord = z.infer<typeof recordShape>;

/** A file that is being processed, alone in a folder with its results. */
export interface Job {
  readonly folder: string;
  /** The original's name, and its path in the folder. */
  readonly file: string;
  readonly path: string;
  readonly record: JobRecord;
}

function jobOf(folder: string, record: JobRecord): Job {
  return { folder, file: record.file, path: join(folder, record.file), record };
}

/** Takes a file. null: another watcher was faster, or it changed and is in the inbox again. */
export async function claim(
  folders: WatcherFolders,
  seen: SeenFile,
  now: number,
  from = folders.inbox,
): Promise<Job | null> {
  const name = await withFreeName(jobName(seen.name, now), (free) => mkdir(join(folders.own, free)));
  const { name: file, under } = seen;
  const record = { file, under, adoptions: 0, parked: null };
  const job = jobOf(join(folders.own, name), record);
  try {
    await writeRecord(job.folder, job.record);
    await rename(placeOf(from, seen), job.path);
  } catch (error) {
    await rm(job.folder, { recursive: true, force: true });
    return await nullIfGone(error, async () => (await lookAt(from)) !== null);
  }
  // Its own settings, if there are any, move with it.
  await rename(sideFileOf(placeOf(from, seen)), sideFileOf(job.path)).catch(() => undefined);
  const taken = await lookAt(job.path);
  if (taken !== null && isSameFile(taken, seen)) return job;
  await putBack(folders, job);
  return null;
}

/** For a move that found nothing to move where that is harmless; throws every other error. */
async function nullIfGone(error: unknown, isHarmless: () => Promise<boolean>): Promise<null> {
  if (isErrorCode(error, 'ENOENT') && (await isHarmless())) return null;
  throw error;
}

/** Moves a folder into `place`, under a name that is free; where it is then. */
async function moveTo(place: string, folder: string, name = basename(folder)): Promise<string> {
  return join(place, await withFreeName(name, (free) => rename(folder, join(place, free))));
}

/** Takes over a job's folder. null: another watcher was faster, or it holds no job. */
export async function take({ own, failed }: WatcherFolders, from: string): Promise<Job | null> {
  const isOwnThere = async () => (await lookAt(own)) !== null;
  const folder = await moveTo(own, from).catch((error) => nullIfGone(error, isOwnThere));
  if (folder === null) return null;
  const record = await readRecord(folder);
  // Results would be written through a link of their name, which others may have put there.
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isSymbolicLink() && entry.name !== record?.file) await rm(join(folder, entry.name));
  if (record !== null) return jobOf(folder, record);
  if ((await readdir(folder)).every((name) => name.startsWith('.'))) {
    // Its maker was killed before the file was moved into it.
    await rm(folder, { recursive: true, force: true });
  } else {
    // No original, or more than one: the files are kept for people.
    await writeAnew(join(folder, REASON_FILE), UNCLEAR);
    await moveTo(failed, folder);
  }
  return null;
}

const UNCLEAR =
  'This folder was found in processing, and it is unclear which of its files is the original.\n\nTo process the original, put it into the inbox again.\n';

/**
 * Moves a job with its results; its folder there, or null when the job belongs to another now.
 * `reason`: for `reason.txt`; absent: none is needed. `parkState`: of a waiting one.
 */
export async function arrive(
  folders: InboxFolders,
  job: Job,
  place: 'done' | 'failed' | 'waiting',
  { reason, parkState = '' }: { readonly reason?: string; readonly parkState?: string },
  now: number,
): Promise<string | null> {
  const isGone = async () => (await lookAt(job.folder)) === null;
  if (await isGone()) return null;
  if (job.file !== REASON_FILE) await writeAnew(join(job.folder, REASON_FILE), reason);
  const isWaiting = place === 'waiting';
  if (isWaiting) {
    const { parked } = job.record;
    const since = parked?.since ?? parked?.at ?? now;
    await writeRecord(job.folder, {
      ...job.record,
      adoptions: 0,
      parked: { at: now, since, memo: parkState },
    });
  }
  // A file that was parked before keeps its name among the waiting ones.
  const name = isWaiting && job.record.parked !== null ? basename(job.folder) : jobName(job.file, now);
  makeFolder(folders[place]);
  const folder = await moveTo(folders[place], job.folder, name).catch((error) => nullIfGone(error, isGone));
  // The record of a failed file says where it was dropped.
  if (folder !== null && place === 'done') await rm(join(folder, NOTE), { force: true });
  return folder;
}

/**
 * Puts a file where it was taken from: a parked one to the waiting ones as it is, another one into
 * the inbox, without what was made of it. False: the job stays, for the next watcher to take up;
 * a file of this name is there already, or the file system has no hard links.
 */
export async function putBack(folders: InboxFolders, job: Job): Promise<boolean> {
  if (job.record.parked !== null) {
    await moveTo(folders.waiting, job.folder);
    return true;
  }
  const place = placeOf(folders.inbox, { ...job.record, name: job.file });
  // Unlike a move this never replaces what is there.
  const isBack = await link(job.path, place).then(
    () => true,
    () => false,
  );
  if (!isBack) return false;
  await link(sideFileOf(job.path), sideFileOf(place)).catch(() => undefined);
  await unlink(job.path);
  await rm(job.folder, { recursive: true, force: true });
  return true;
}

/**
 * Moves the original of a failed job, and its side file, back where it was dropped, without what
 * was made of it. Replaces nothing there. `settings`: what was chosen on its plan, joined with its
 * side file; absent: as before, and newer settings of the file in the inbox count. Returns the
 * file's name. Throws `NeverStartError` when the file must stay where it is.
 */
export function dropAgain(
  folders: Pick<InboxFolders, 'inbox'>,
  folder: string,
  settings?: Readonly<Record<string, unknown>>,
): Promise<string> {
  return dropping(() => dropOne(folders, folder, settings));
}

/** One after the other: two pages may start the same file. */
const dropping = pLimit(1);

async function dropOne(
  { inbox }: Pick<InboxFolders, 'inbox'>,
  folder: string,
  settings: Readonly<Record<string, unknown>> | undefined,
): Promise<string> {
  const record = await readRecord(folder).catch((error: unknown) => {
    throw staysAfter(basename(folder), error);
  });
  if (record === null) throw stays(folder, 'it is unclear which file is the original', BY_HAND);
  const { file, under } = record;
  const original = await lookAt(join(folder, file));
  if (original?.kind !== 'file') throw stays(file, 'it is not a file', 'put the file itself into the inbox');
  if (under !== undefined && (await lookAt(join(inbox, under)))?.kind !== 'folder')
    throw stays(file, 'the folder of the inbox where it was dropped is gone', `create ${join(inbox, under)}`);
  const [from, to] = [join(folder, file), placeOf(inbox, { name: file, under })];
  if ((await lookAt(to)) !== null)
    throw stays(file, 'the inbox has a file of this name', 'wait until that one is taken, or rename it');
  const [side, sidePlace] = [sideFileOf(from), sideFileOf(to)];
  const chosen = settings && (await writeChosen(folder, side, settings));
  const sideError = await link(chosen ?? side, sidePlace).then(() => null, inError);
  if (chosen !== undefined && isErrorCode(sideError, 'EEXIST'))
    throw stays(file, 'the inbox has settings for a file of this name', `remove ${sidePlace}`);
  if (chosen !== undefined && sideError !== null) throw staysAfter(file, sideError);
  await link(from, to).catch(async (error: unknown) => {
    // Where another process has put the file there, the settings are those of that file now.
    const isThere = (await lookAt(to))?.ino === original.ino;
    if (sideError === null && !isThere) await rm(sidePlace, { force: true });
    throw staysAfter(file, error);
  });
  await unlink(from);
  // What a person put into the folder stays.
  const made = (await readdir(folder)).filter((name) => isOurs(name) || name === sideFileOf(file));
  await Promise.all(made.map((name) => rm(join(folder, name), { force: true })));
  await rmdir(folder).catch(() => undefined);
  return file;
}

const CHOSEN = '.settings';

/** Leaves the side file as it is: the file may stay. The path of what was written. */
async function writeChosen(
  folder: string,
  side: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<string> {
  const path = join(folder, CHOSEN);
  const known = await readPlainFile(side).then(
    (text) => parseConfigFile(side, text).values,
    () => ({}),
  );
  try {
    await writeAnew(path, `${JSON.stringify(joinSettings(known, settings))}\n`);
  } catch (error) {
    throw staysAfter(basename(folder), error);
  }
  return path;
}

const inError = (error: unknown): unknown => error;

const BY_HAND = 'put the file into the inbox yourself';

function stays(subject: string, why: string, todo: string): NeverStartError {
  return new NeverStartError(usageProblem(`the file stays where it is: ${why}`, subject, todo));
}

/** For an error of the file system. */
function staysAfter(subject: string, error: unknown): NeverStartError {
  return isErrorCode(error, 'EEXIST', 'ENOENT')
    ? stays(subject, 'somebody else has just put it back', 'reload the page')
    : stays(subject, systemWords(error), BY_HAND);
}

/** The folders of jobs in one place, oldest name first. Empty when the place is gone. */
export async function jobFoldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(place, name))
    .sort();
}

/** Flushed to the disk: after a power loss it still names the original. */
export async function writeRecord(folder: string, record: JobRecord): Promise<void> {
  await writeAnew(join(folder, NOTE), `${JSON.stringify(record)}\n`);
}

/** Replaces any entry of that name: writing through a link would leave the folder. */
async function writeAnew(path: string, text: string | undefined): Promise<void> {
  await rm(path, { force: true });
  if (text !== undefined) await writeFile(path, text, { flag: 'wx', flush: true });
}

/**
 * Without a readable record it is derived from the files. null: there is no original. Throws errors
 * of the file system.
 */
export async function readRecord(folder: string): Promise<JobRecord | null> {
  const names = await readdir(folder);
  const noted = readJson(await readPlainFile(join(folder, NOTE)).catch(() => ''), recordShape);
  if (noted !== null) return names.includes(noted.file) ? noted : null;
  const [file, ...others] = names.filter(
    (name) => !isOurs(name) && !names.some((each) => sideFileOf(each) === name),
  );
  return file === undefined || others.length > 0 ? null : { file, adoptions: 0, parked: null };
}

/** The name of the original in a job's folder; null: unclear, or the folder is gone. */
export async function originalOf(folder: string): Promise<string | null> {
  return (await readRecord(folder).catch(() => null))?.file ?? null;
}

/** Our files beside an original; see `run/output`. */
function isOurs(name: string): boolean {
  const isResult =
    /\.enriched(\.partial)?\.[^.]+(\.gz)?$|\.errors\.[^.]+(\.gz)?$|\.report\.(json|html)$/.test(name);
  return name.startsWith('.') || name === REASON_FILE || isResult;
}

/**
 * The names of the files in `inbox/` that are not taken yet, and of those in progress, which they
 * are queued behind. Empty if the folder cannot be read.
 */
export async function listQueued(root: string) {
  const inbox = await readdir(join(root, 'inbox'), { withFileTypes: true }).catch(() => []);
  const names = inbox.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  const watchers = await jobFoldersIn(join(root, 'processing'));
  const jobs = (await Promise.all(watchers.map(jobFoldersIn))).flat();
  const records = await Promise.all(jobs.map((folder) => readRecord(folder).catch(() => null)));
  return {
    queued: names.filter((name) => !isLeftAlone(name) && !isSideFile(name)).sort(),
    inProgress: records.flatMap((record) => record?.file ?? []).sort(),
  };
}

/** A file in `waiting/`. */
export interface ParkedJob extends Pick<Job, 'folder' | 'file'> {
  readonly parkedAt: number;
  /** When it was first parked. */
  readonly waitingSince: number;
  readonly parkState: string;
}

const AT_ONCE = 16;

/** All files in `waiting/`, the oldest try first; without folders of unclear origin. */
export async function listWaiting(waiting: string): Promise<ParkedJob[]> {
  const limit = pLimit(AT_ONCE);
  const readParked = async (folder: string) => {
    const record = await readRecord(folder).catch(() => null);
    const { at, since: waitingSince = at, memo: parkState } = record?.parked ?? { at: 0, memo: '' };
    return record && { folder, file: record.file, parkedAt: at, waitingSince, parkState };
  };
  const parked = await Promise.all((await jobFoldersIn(waiting)).map((folder) => limit(readParked, folder)));
  return parked.filter((job) => job !== null).sort((a, b) => a.parkedAt - b.parkedAt);
}
