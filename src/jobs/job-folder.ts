/**
 * A job is a folder that moves, each time in one step: so a file is in one place at any time, and
 * one of several watchers gets it. Functions throw errors of the file system and then move nothing.
 *
 *   inbox/file --claim--> processing/<watcher>/<job>/ --arrive--> done/ | failed/ | waiting/
 *                               |        ^
 *                    putBack <--+        +---- take (from waiting/ or a dead watcher)
 *   .drafts/<job>/ or failed/<job>/ --start--> waiting/ (see `start-file.ts`)
 *
 * Only a file in `inbox/` is new. A job that goes back goes to `waiting/` and keeps its id.
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

/** The most characters of a reason; names and answers of a service have any length. */
export const REASON_AT_MOST = 4_000;

const reasonShape = z.object({
  headline: z.string().max(REASON_AT_MOST),
  details: z.string().max(REASON_AT_MOST),
  /** The code of an error, or `CANCELLED`. */
  code: z.string().optional(),
});
export type JobReason = z.infer<typeof reasonShape>;

export const CANCELLED = 'cancelled';

/** Reasons to wait that only a person can end. */
const FOR_PERSON = ['paused', 'tried', 'unmatched', 'crashed'] as const;
const FOR_OTHERS = ['limit', 'throttled', 'unreachable', 'credentials', 'lost', 'doubtful', 'again'] as const;

const parkStateShape = z.object({
  why: z.enum([...FOR_PERSON, ...FOR_OTHERS]),
  /** The caps of the file, if it waits for their change; null if it waits for the account. */
  capMark: z.string().nullable(),
  /** The pause by the engine's clock; absent after a resume. */
  pause: z.object({ by: z.string().max(200), at: z.number().int().nonnegative().max(8.64e15) }).optional(),
});
export type ParkState = z.infer<typeof parkStateShape>;

/** True if a person decides about the rest of a file, after a trial or too few matches. */
export const isUndecided = (why: ParkState['why'] | null): boolean => why === 'tried' || why === 'unmatched';
/** True if the page of a file offers "Go on". */
export const hasGoOn = (why: ParkState['why'] | null): boolean => why === 'limit' || why === 'crashed';
/** True if only a person can continue a file. */
export const waitsForPerson = (why: ParkState['why']): boolean => FOR_PERSON.some((each) => each === why);

/** Others may write a record, so it names only entries of its folder. */
const nameShape = z.string().refine((name) => name === basename(name) && !['', '.', '..'].includes(name));

const recordShape = z.object({
  id: z.string().refine(isJobId),
  /** The latest run, noted before it begins; null before the first. */
  run: z.string().nullable(),
  file: nameShape,
  /** The folder below `inbox` that it came from; absent for the inbox itself. */
  under: nameShape.optional(),
  /** Present while a watcher reads the file. */
  reading: z.enum(['alone', 'with others']).optional(),
  /** Deaths of watchers that read this file alone; with any number, even 0, it is a suspect. */
  deaths: z.number().int().nonnegative().optional(),
  reason: reasonShape.nullable(),
  /** `at`: the last try; `since`: the first parking; ms since 1970. */
  parked: z.object({ at: z.number(), since: z.number(), state: parkStateShape }).nullable(),
  sentBy: z.string().max(200).optional(),
  startedBy: z.string().max(200).optional(),
  isDismissed: z.literal(true).optional(),
  /** A person has seen the first answers and ordered the rest. */
  isTried: z.literal(true).optional(),
});
export type JobRecord = z.infer<typeof recordShape>;

/** A file alone in a folder with its results. */
export interface Job {
  readonly folder: string;
  readonly file: string;
  readonly path: string;
  readonly record: JobRecord;
}

export const newJobId = () => `j-${randomBytes(8).toString('hex')}`;
/** True for the id of a file's job; a run without a file has its own id as job. */
export function isJobId(id: string): boolean {
  return /^j-[0-9a-f]{16}$/.test(id);
}

/** Returns the job of a folder with this record. Pure. */
export function jobOf(folder: string, record: JobRecord): Job {
  return { folder, file: record.file, path: join(folder, record.file), record };
}

/** Takes a file; returns null if another watcher took it, or if it changed and went back. */
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
  const side = sideFileOf(job.path);
  await rename(sideFileOf(from), side).catch(() => undefined);
  const taken = await lookAt(job.path);
  if (taken !== null && isSameFile(taken, seen)) return job;
  // It goes back if its name is free and links are possible; else reading shows whether it changes.
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

/** Takes over the folder of a job; returns null if another watcher took it, or without a job. */
export async function take(folders: WatcherFolders, from: string): Promise<Job | null> {
  const { own, failed } = folders;
  const isOwnThere = async () => (await lookAt(own)) !== null;
  const folder = await moveTo(own, from).catch((error) => nullIfGone(error, isOwnThere));
  if (folder === null) return null;
  const noted = await readNoted(folder);
  const entries = await readdir(folder, { withFileTypes: true });
  const record = entries.some(({ name }) => name === noted?.file) ? noted : null;
  // Results would be written through a link that others gave their name.
  for (const entry of entries)
    if (entry.isSymbolicLink() && entry.name !== record?.file) await rm(join(folder, entry.name));
  if (record !== null) {
    const job = jobOf(folder, record);
    // A kill between the two moves of `claim` left the settings, without which it may cost more.
    const isNew = record.run === null && record.parked === null;
    const side = isNew ? await newerSettings(folders.inbox, record) : null;
    if (side !== null && (await lookAt(sideFileOf(job.path))) === null)
      await rename(side, sideFileOf(job.path));
    return job;
  }
  if (entries.every(({ name }) => name.startsWith('.'))) {
    // A watcher was killed before it moved the file here.
    await rm(folder, { recursive: true, force: true });
  } else {
    await replaceFile(join(folder, REASON_FILE), UNCLEAR);
    await moveTo(failed, folder);
  }
  return null;
}

/** Time since the last change after which nobody copies into a folder any more. */
const COPY_MS = 60_000;

/** Moves a folder without a record to `failed/`; returns false while it may still be copied. */
export async function failUnclear(folders: WatcherFolders, folder: string, now: number): Promise<boolean> {
  const { mtimeMs = now } = (await lookAt(folder)) ?? {};
  if (now - mtimeMs < COPY_MS || (await readNoted(folder)) !== null) return false;
  await take(folders, folder);
  return true;
}

/** Returns the path of settings in the inbox whose file has left it, or null. */
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

/** The place of a job after it was processed, and why. */
export type Arrival =
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly reason: JobReason }
  | { readonly type: 'parked'; readonly reason: JobReason; readonly state: ParkState };

/** Moves a job with its results; returns its new folder, or null if another watcher has the job. */
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
  // A file that was read to its end is no suspect; a crashed one is counted anew and read alone.
  const deaths = isWaiting && { deaths: end.state.why === 'crashed' ? 0 : undefined };
  const parked = isWaiting ? { at: now, since: known.parked?.since ?? now, state: end.state } : known.parked;
  if (parked !== known.parked || reason !== known.reason)
    await writeRecord(job.folder, { ...known, ...deaths, reason, parked });
  const place = isWaiting ? 'waiting' : end.type;
  // A file that is parked again keeps the name of its folder.
  const name = isWaiting && job.record.parked !== null ? basename(job.folder) : jobName(job.file, now);
  makeFolder(folders[place]);
  return moveTo(folders[place], job.folder, name).catch((error) => nullIfGone(error, isGone));
}

/** Emits the name of a watched folder when a job was queued there. */
export const queued = new EventEmitter();

/** Moves a job to `waiting/`, where it waits only for its turn; returns its folder. */
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

/** Moves an interrupted job to `waiting/` with the results so far. */
export async function putBack(folders: InboxFolders, job: Job, now: number): Promise<void> {
  const record = (await readNoted(job.folder)) ?? job.record;
  if (record.parked !== null) await moveTo(folders.waiting, job.folder);
  else await queueJob(folders.root, job.folder, record, 'It was interrupted; it continues in its turn.', now);
}

/** Returns the content of `reason.txt`. Pure. */
export function reasonText({ headline, details }: JobReason): string {
  return [headline, details].filter((each) => each !== '').join('\n\n');
}

/** Returns the folders of jobs in one place, sorted by name; an empty list without the place. */
export async function jobFoldersIn(place: string): Promise<string[]> {
  const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(place, name))
    .sort();
}

/** Writes a record and flushes it, so that it names the original after a power loss. */
export async function writeRecord(folder: string, record: JobRecord): Promise<void> {
  await replaceFile(join(folder, NOTE), `${JSON.stringify(record)}\n`);
}

/** Returns the record of a folder, or null if it cannot be read. */
export async function readNoted(folder: string): Promise<JobRecord | null> {
  return readJson(await readPlainFile(join(folder, NOTE)).catch(() => ''), recordShape);
}

/** Returns the record, else one derived from the files; null if the original is unclear. */
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

/** Returns the only name that may be an original; null without or with several such names. */
export function originalAmong(names: readonly string[]): string | null {
  const [file = null, ...others] = names.filter(
    (name) => !isOurs(name) && !names.some((each) => sideFileOf(each) === name),
  );
  return others.length > 0 ? null : file;
}

/** Patterns for names of each type, in the order of pages; the last that matches counts. */
const TYPES = {
  page: /\.report\.html$/,
  output: /\.enriched\.[^.]+(\.gz)?$/,
  partial: /\.enriched\.partial\.[^.]+(\.gz)?$/,
  errors: /\.errors\.[^.]+(\.gz)?$/,
  differences: /\.differences(\.partial)?\.csv$/,
  report: /\.report\.json$/,
  original: /(?!)/,
  reason: /^reason\.txt$/,
  other: /(?!)/,
};
export type FileType = keyof typeof TYPES;
export const FILE_TYPES = Object.keys(TYPES) as FileType[];

/** Returns the type of a file by its name, since inboxes have no settings for names. Pure. */
export function typeOf(name: string, original: string | null): FileType {
  if (name === original) return 'original';
  return FILE_TYPES.findLast((type) => TYPES[type].test(name)) ?? 'other';
}

/** True for files that the program writes beside an original. */
export function isOurs(name: string): boolean {
  return name.startsWith('.') || typeOf(name, null) !== 'other';
}
