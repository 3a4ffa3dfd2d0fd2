/**
 * A job is a folder that moves, each time in one step: so a file is in one place at any time, and
 * one of several watchers gets it. All functions throw errors of the file system; the file is where
 * it was then.
 *
 *   inbox/file --claim--> processing/<watcher>/<job>/ --arrive--> done/ | failed/ | waiting/
 *                               |        ^
 *                    putBack <--+        +---- take (from waiting/ or a dead watcher)
 *   .drafts/<job>/ or failed/<job>/ --start--> waiting/ (see `start-file.ts`)
 *
 * Only a file in `inbox/` is new: whatever goes back goes to `waiting/`, and keeps its id.
 */
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { link, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../core/folders.js';
import { readJson } from '../core/json-text.js';
import { succeeds } from '../core/lifecycle.js';
import { readPlainFile, replaceFile } from '../core/plain-file.js';
import { isErrorCode } from '../core/system-error.js';
import {
  isSameFile,
  jobName,
  lookAt,
  placeOf,
  type SeenFile,
  sideFileOf,
  withFreeName,
} from './inbox-file.js';
import type { InboxFolders, WatcherFolders } from './inbox-folders.js';

export const REASON_FILE = 'reason.txt';
export const DRAFTS_FOLDER = '.drafts';
export const NOTE = '.brand-enrich-job.json';

/** All texts of a reason together: names in a file, and what a service answers, have any length. */
export const REASON_AT_MOST = 4_000;

const reasonShape = z.object({
  headline: z.string().max(REASON_AT_MOST),
  details: z.string().max(REASON_AT_MOST),
  /** The code of the error that failed it, or `CANCELLED`. */
  code: z.string().optional(),
});
export type JobReason = z.infer<typeof reasonShape>;

export const CANCELLED = 'cancelled';

const parkStateShape = z.object({
  /**
   * `tried`, `unmatched`: a person decides about the rest. `crashed`: its watcher ended each time
   * it read the file. `again`: it waits only for its turn.
   */
  why: z.enum([
    'limit',
    'throttled',
    'unreachable',
    'credentials',
    'lost',
    'doubtful',
    'paused',
    'tried',
    'unmatched',
    'crashed',
    'again',
  ]),
  /** Its own caps, whose change it waits for; null: it waits for the account. */
  capMark: z.string().nullable(),
  /** The pause of a paused file, by the engine's clock; absent once it was resumed. */
  pause: z.object({ by: z.string().max(200), at: z.number().int().nonnegative().max(8.64e15) }).optional(),
});
export type ParkState = z.infer<typeof parkStateShape>;

/** True if a person decides about the rest of a file that waits for this. */
export const isUndecided = (why: ParkState['why'] | null): boolean => why === 'tried' || why === 'unmatched';
/** True if a person continues a file that waits for this with "Go on". */
export const hasGoOn = (why: ParkState['why'] | null): boolean => why === 'limit' || why === 'crashed';
/** True if nothing but a person's word continues a file that waits for this. */
export const waitsForPerson = (why: ParkState['why']): boolean =>
  why === 'paused' || why === 'crashed' || isUndecided(why);

/** Others may write a record: it names entries of its folder only. */
const nameShape = z
  .string()
  .min(1)
  .refine((name) => name === basename(name) && name !== '.' && name !== '..');

const recordShape = z.object({
  /** Orders of persons stand under it. */
  id: z.string().refine(isJobId),
  /** Its latest run, noted before that begins; null before the first. */
  run: z.string().nullable(),
  file: nameShape,
  /** Its original folder below `inbox`; absent for the inbox itself. */
  under: nameShape.optional(),
  /** Its watcher reads it now. */
  reading: z.enum(['alone', 'with others']).optional(),
  /** How often a watcher died while it read this file alone; with any number, 0 too, a suspect. */
  deaths: z.number().int().nonnegative().optional(),
  reason: reasonShape.nullable(),
  /** `at`: the last try, ms since 1970; `since`: when it was first parked. */
  parked: z.object({ at: z.number(), since: z.number(), state: parkStateShape }).nullable(),
  sentBy: z.string().max(200).optional(),
  startedBy: z.string().max(200).optional(),
  isDismissed: z.literal(true).optional(),
  /** A person has seen its first answers, and ordered the rest. */
  isTried: z.literal(true).optional(),
});
export type JobRecord = z.infer<typeof recordShape>;

/** A file that is being processed, alone in a folder with its results. */
export interface Job {
  readonly folder: string;
  readonly file: string;
  readonly path: string;
  readonly record: JobRecord;
}

export const newJobId = () => `j-${randomBytes(8).toString('hex')}`;
/** True for the id of a file's job; a run without a file is its own job. */
export function isJobId(id: string): boolean {
  return /^j-[0-9a-f]{16}$/.test(id);
}

/** Returns the job of a folder with this record. Pure. */
export function jobOf(folder: string, record: JobRecord): Job {
  return { folder, file: record.file, path: join(folder, record.file), record };
}

/** Takes a file; null if another watcher was faster, or it changed and is in the inbox again. */
export async function claim(folders: WatcherFolders, seen: SeenFile, now: number): Promise<Job | null> {
  const from = placeOf(folders.inbox, seen);
  const name = await withFreeName(jobName(seen.name, now), (free) => mkdir(join(folders.own, free)));
  const { name: file, under } = seen;
  const record = { id: newJobId(), run: null, file, under, reason: null, parked: null };
  const job = jobOf(join(folders.own, name), record);
  try {
    await writeRecord(job.folder, job.record);
    await rename(from, job.path);
  } catch (error) {
    await rm(job.folder, { recursive: true, force: true });
    return await nullIfGone(error, async () => (await lookAt(folders.inbox)) !== null);
  }
  // Its own settings, if there are any, move with it.
  const side = sideFileOf(job.path);
  await rename(sideFileOf(from), side).catch(() => undefined);
  const taken = await lookAt(job.path);
  if (taken !== null && isSameFile(taken, seen)) return job;
  // It is new, unless another file has its name by now, or no file can have two names here: then
  // reading shows whether it still changes.
  await succeeds(link(side, sideFileOf(from)));
  if (!(await succeeds(link(job.path, from)))) return job;
  await rm(job.folder, { recursive: true, force: true });
  return null;
}

async function nullIfGone(error: unknown, isHarmless: () => Promise<boolean>): Promise<null> {
  if (isErrorCode(error, 'ENOENT') && (await isHarmless())) return null;
  throw error;
}

async function moveTo(place: string, folder: string, name = basename(folder)): Promise<string> {
  return join(place, await withFreeName(name, (free) => rename(folder, join(place, free))));
}

/** Takes over a job's folder; null if another watcher was faster, or it holds no job. */
export async function take(folders: WatcherFolders, from: string): Promise<Job | null> {
  const { own, failed } = folders;
  const isOwnThere = async () => (await lookAt(own)) !== null;
  const folder = await moveTo(own, from).catch((error) => nullIfGone(error, isOwnThere));
  if (folder === null) return null;
  const noted = await readNoted(folder);
  const entries = await readdir(folder, { withFileTypes: true });
  const record = entries.some(({ name }) => name === noted?.file) ? noted : null;
  // Results would be written through a link of their name, which others may have put there.
  for (const entry of entries)
    if (entry.isSymbolicLink() && entry.name !== record?.file) await rm(join(folder, entry.name));
  if (record !== null) {
    const job = jobOf(folder, record);
    // Its watcher was killed between the two moves of `claim`: without them it could cost more.
    const isNew = record.run === null && record.parked === null;
    const side = isNew ? await newerSettings(folders.inbox, record) : null;
    if (side !== null && (await lookAt(sideFileOf(job.path))) === null)
      await rename(side, sideFileOf(job.path));
    return job;
  }
  if (entries.every(({ name }) => name.startsWith('.'))) {
    // Its maker was killed before the file was moved into it.
    await rm(folder, { recursive: true, force: true });
  } else {
    await replaceFile(join(folder, REASON_FILE), UNCLEAR);
    await moveTo(failed, folder);
  }
  return null;
}

/** For so long a person may still be copying into a folder. */
const COPY_MS = 60_000;

/**
 * Moves a waiting folder without a record to the failed ones, for people to see. Returns false
 * while somebody may be copying into it. `now`: by the file system's clock.
 */
export async function failUnclear(folders: WatcherFolders, folder: string, now: number): Promise<boolean> {
  const { mtimeMs = now } = (await lookAt(folder)) ?? {};
  if (now - mtimeMs < COPY_MS || (await readNoted(folder)) !== null) return false;
  await take(folders, folder);
  return true;
}

/** Returns the settings that stand alone in the inbox, and count for a file that was there. */
export async function newerSettings(
  inbox: string,
  { file, under }: Pick<JobRecord, 'file' | 'under'>,
): Promise<string | null> {
  const place = placeOf(inbox, { name: file, under });
  const newer = sideFileOf(place);
  return (await lookAt(place)) === null && (await lookAt(newer))?.kind === 'file' ? newer : null;
}

const UNCLEAR =
  'It is unclear which file of this folder is to be looked up, and whether a person paused or cancelled ' +
  'it: the record of its job is lost.\n\nPut that file into the inbox again.\n';

/** Where a job that was processed goes. */
export type Arrival =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly reason: JobReason }
  | { readonly type: 'parked'; readonly reason: JobReason; readonly state: ParkState };

/** Moves a job with its results; its new folder, or null when the job belongs to another now. */
export async function arrive(
  folders: InboxFolders,
  job: Job,
  end: Arrival,
  now: number,
): Promise<string | null> {
  const isGone = async () => (await lookAt(job.folder)) === null;
  if (await isGone()) return null;
  const reason = end.type === 'done' ? null : end.reason;
  const path = join(job.folder, REASON_FILE);
  if (job.file !== REASON_FILE)
    await (reason === null ? rm(path, { force: true }) : replaceFile(path, `${reasonText(reason)}\n`));
  const isWaiting = end.type === 'parked';
  const known = (await readNoted(job.folder)) ?? job.record;
  // It was read to its end; one that never was begins to count anew, and is read alone.
  const deaths = isWaiting && { deaths: end.state.why === 'crashed' ? 0 : undefined };
  const parked = isWaiting ? { at: now, since: known.parked?.since ?? now, state: end.state } : known.parked;
  if (parked !== known.parked || reason !== known.reason)
    await writeRecord(job.folder, { ...known, ...deaths, reason, parked });
  const place = isWaiting ? 'waiting' : end.type;
  // A file that was parked before keeps its name among the waiting ones.
  const name = isWaiting && job.record.parked !== null ? basename(job.folder) : jobName(job.file, now);
  makeFolder(folders[place]);
  return moveTo(folders[place], job.folder, name).catch((error) => nullIfGone(error, isGone));
}

/** Emits the name of a watched folder where a job waits for its turn. */
export const queued = new EventEmitter();

/** Moves a job to the waiting ones, where it waits only for its turn; returns its folder there. */
export async function queueJob(
  root: string,
  folder: string,
  record: JobRecord,
  headline: string,
  now: number,
): Promise<string> {
  const since = record.parked?.since ?? now;
  const parked = { at: now, since, state: { why: 'again', capMark: null } } as const;
  await writeRecord(folder, { ...record, reason: { headline, details: '' }, parked });
  const moved = await moveTo(join(root, 'waiting'), folder, jobName(record.file, now));
  queued.emit(root);
  return moved;
}

/** Puts an interrupted job among the waiting ones, with the results so far. */
export async function putBack(folders: InboxFolders, job: Job, now: number): Promise<void> {
  const record = (await readNoted(job.folder)) ?? job.record;
  if (record.parked !== null) await moveTo(folders.waiting, job.folder);
  else await queueJob(folders.root, job.folder, record, 'It was interrupted, and goes on in its turn.', now);
}

export function reasonText({ headline, details }: JobReason): string {
  return [headline, details].filter((each) => each !== '').join('\n\n');
}

/** Returns the folders of jobs in one place, oldest name first; none when the place is gone. */
export async function jobFoldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(place, name))
    .sort();
}

/** Writes a record, flushed to the disk: after a power loss it still names the original. */
export async function writeRecord(folder: string, record: JobRecord): Promise<void> {
  await replaceFile(join(folder, NOTE), `${JSON.stringify(record)}\n`);
}

/** Returns the record as it was written, or null if none can be read. */
export async function readNoted(folder: string): Promise<JobRecord | null> {
  return readJson(await readPlainFile(join(folder, NOTE)).catch(() => ''), recordShape);
}

/**
 * Reads a record for a person: without a readable one it is derived from the files. Returns null
 * without an original. Throws errors of the file system.
 */
export async function readRecord(folder: string): Promise<JobRecord | null> {
  const names = await readdir(folder);
  const noted = await readNoted(folder);
  if (noted !== null) return names.includes(noted.file) ? noted : null;
  const file = originalAmong(names);
  return file === null ? null : { id: derivedId(folder), run: null, file, reason: null, parked: null };
}

/** Returns an id for a job without a readable record. */
export function derivedId(folder: string): string {
  return `j-${createHash('sha256').update(basename(folder)).digest('hex').slice(0, 16)}`;
}

/** Returns the only name that may be an original; null without one, or with several. */
export function originalAmong(names: readonly string[]): string | null {
  const [file = null, ...others] = names.filter(
    (name) => !isOurs(name) && !names.some((each) => sideFileOf(each) === name),
  );
  return others.length > 0 ? null : file;
}

/** Types of files of a job, in the order of pages. The last that fits a name counts. */
const TYPES = {
  page: /\.report\.html$/,
  output: /\.enriched\.[^.]+(\.gz)?$/,
  partial: /\.enriched\.partial\.[^.]+(\.gz)?$/,
  errors: /\.errors\.[^.]+(\.gz)?$/,
  report: /\.report\.json$/,
  original: /(?!)/,
  reason: /^reason\.txt$/,
  other: /(?!)/,
};
export type FileType = keyof typeof TYPES;
export const FILE_TYPES = Object.keys(TYPES) as FileType[];

/** The type of a file, by its name: no setting of an inbox names files. Pure. */
export function typeOf(name: string, original: string | null): FileType {
  if (name === original) return 'original';
  return FILE_TYPES.findLast((type) => TYPES[type].test(name)) ?? 'other';
}

/** True for our files beside an original. */
export function isOurs(name: string): boolean {
  return name.startsWith('.') || typeOf(name, null) !== 'other';
}
