/**
 * The folders in `done/`, `failed/` and `waiting/` of an inbox, for people: which job is where, and
 * its files. Others may write to an inbox, so no link is followed, and only names that were listed
 * are opened.
 */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { z } from 'zod';
import { readJson } from '../../core/json-text.js';
import { openPlainFile, readPlainFile } from '../../core/plain-file.js';
import type { RunRecord } from '../../stores/run-store.js';
import { isErrorCode, isSideFile, lookAt, sideFileOf, stemOf } from './inbox-file.js';
import { jobFoldersIn, originalOf, REASON_FILE, readRecord } from './job-folder.js';
import type { Upload } from './uploads.js';

export const JOB_PLACES = ['done', 'failed', 'waiting'] as const;
export type JobPlace = (typeof JOB_PLACES)[number];

/** In the order in which they are shown. */
const FILE_TYPES = ['page', 'output', 'partial', 'errors', 'report', 'original', 'reason', 'other'] as const;
type FileType = (typeof FILE_TYPES)[number];

export interface JobFile {
  readonly name: string;
  readonly type: FileType;
  /** In bytes. */
  readonly size: number;
}

export type EndedJob = NonNullable<Awaited<ReturnType<typeof readJob>>>;

const reportShape = z.object({
  run: z.object({ id: z.string(), isComplete: z.boolean() }),
  input: z.object({ name: z.string() }),
  files: z.object({ output: z.string(), errors: z.string().nullable() }),
});
type Report = z.infer<typeof reportShape>;

/** `root`: the watched folder. `folder`: a name that need not exist: null. */
export async function readJob(root: string, place: JobPlace, folder: string) {
  const path = (await foldersIn(root, place)).find((each) => basename(each) === folder);
  if (path === undefined) return null;
  const names = await plainNamesIn(path);
  const [report, file, reason] = await Promise.all([
    readReport(path, names),
    originalOf(path),
    place === 'done' ? '' : readReason(path),
  ]);
  const sizes = await Promise.all(names.map((name) => sizeOf(join(path, name))));
  const files = names.map((name, index): JobFile => {
    return { name, type: typeOf(name, file, report), size: sizes[index] ?? 0 };
  });
  files.sort((a, b) => FILE_TYPES.indexOf(a.type) - FILE_TYPES.indexOf(b.type));
  return {
    root,
    place,
    folder,
    /** The name of the original; null: unclear. */
    file,
    endedAt: endedAtOf(folder),
    reason,
    /** Of the run that wrote its report; null: there is none. */
    runId: report?.run.id ?? null,
    files: files as readonly JobFile[],
  };
}

async function foldersIn(root: string, place: JobPlace): Promise<string[]> {
  const path = join(root, place);
  return (await lookAt(path))?.kind === 'folder' ? jobFoldersIn(path) : [];
}

/** The regular files of a folder, without hidden ones. */
async function plainNamesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

async function sizeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

const REPORTS_READ = 3;

async function readReport(folder: string, names: readonly string[]): Promise<Report | null> {
  for (const name of names.filter((each) => each.endsWith('.report.json')).slice(0, REPORTS_READ)) {
    const text = await readPlainFile(join(folder, name)).catch(() => '');
    const report = readJson(text, reportShape);
    if (report !== null) return report;
  }
  return null;
}

/** The type of a file in the folder of a job. Pure. */
export function typeOf(name: string, original: string | null, report: Report | null): FileType {
  if (name === original) return 'original';
  if (name === REASON_FILE) return 'reason';
  if (/\.report\.html$/.test(name)) return 'page';
  if (/\.report\.json$/.test(name)) return 'report';
  if (report !== null && name === basename(report.files.output))
    return report.run.isComplete ? 'output' : 'partial';
  if (report !== null && name === basename(report.files.errors ?? '')) return 'errors';
  if (/\.enriched\.partial\.[^.]+(\.gz)?$/.test(name)) return 'partial';
  if (/\.enriched\.[^.]+(\.gz)?$/.test(name)) return 'output';
  return /\.errors\.[^.]+(\.gz)?$/.test(name) ? 'errors' : 'other';
}

/** What the name of a job's folder ends with: see `jobName`. */
const TIME = /-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z(?:-\d+)?$/;

/** When a job ended, or first waited, by the name of its folder; 0: not in its name. Pure. */
export function endedAtOf(folder: string): number {
  const [, day, hours, minutes, seconds] = TIME.exec(folder) ?? [];
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) || 0;
}

/** Clocks of machines that share an inbox differ. */
const CLOCKS_APART_MS = 86_400_000;
const JOBS_READ = 30;

/** The job of a run, by the report in its folder; null: none in this inbox. */
export async function findJobOf(
  root: string,
  run: Pick<RunRecord, 'id' | 'label' | 'asOf'>,
): Promise<EndedJob | null> {
  // Labels read `host: file`.
  const start = `${stemOf(run.label.replace(/^.*?: /s, ''))}-`;
  for (const place of JOB_PLACES) {
    const names = (await foldersIn(root, place)).map((path) => basename(path));
    for (const folder of chooseFolders(names, place, start, run.asOf)) {
      const path = join(root, place, folder);
      if ((await readReport(path, await plainNamesIn(path)))?.run.id !== run.id) continue;
      return readJob(root, place, folder);
    }
  }
  return null;
}

/** The folders worth a look, the likeliest first. Pure. */
export function chooseFolders(
  names: readonly string[],
  place: JobPlace,
  start: string,
  asOf: number,
): string[] {
  const named = names.filter((name) => name.startsWith(start) && name.replace(TIME, '-') === start);
  // A waiting file keeps the name of its first try.
  const after = (name: string) => endedAtOf(name) - asOf;
  const late = place === 'waiting' ? named : named.filter((name) => after(name) > -CLOCKS_APART_MS);
  return late.sort((a, b) => Math.abs(after(a)) - Math.abs(after(b))).slice(0, JOBS_READ);
}

/** Reasons are short; what is longer was put there by others. */
const REASON_AT_MOST = 4_000;

async function readReason(folder: string): Promise<string> {
  const text = await readPlainFile(join(folder, REASON_FILE)).catch(() => '');
  return text.slice(0, REASON_AT_MOST).trim();
}

/** A file in `failed/`. */
export type FailedFile = Awaited<ReturnType<typeof listFailed>>['files'][number];

const FAILED_SHOWN = 20;
const AT_ONCE = 8;

/** The newest failed files of an inbox, and how many there are. */
export async function listFailed(root: string) {
  const folders = await foldersIn(root, 'failed');
  const dated = folders.map((path) => ({ path, failedAt: endedAtOf(basename(path)) }));
  const newest = dated.sort((a, b) => b.failedAt - a.failedAt).slice(0, FAILED_SHOWN);
  const limit = pLimit(AT_ONCE);
  const read = async ({ path, failedAt }: (typeof newest)[number]) => {
    const [file, reason] = await Promise.all([originalOf(path), readReason(path)]);
    return { file, folder: basename(path), failedAt, reason };
  };
  const files = await Promise.all(newest.map((each) => limit(read, each)));
  return { count: folders.length, files };
}

/** The id of a failed file among uploads. `inbox`: its number. */
export function failedId(inbox: number, folder: string): string {
  return `failed-${inbox}-${folder}`;
}

/**
 * A failed file, to be read differently and started again like an upload. null: it is not there,
 * or no settings file can be named after it.
 */
export async function findFailed(roots: readonly string[], id: string): Promise<Upload | null> {
  const [, inbox, name = ''] = /^failed-(\d{1,4})-(.+)$/s.exec(id) ?? [];
  const root = inbox === undefined ? undefined : roots[Number(inbox)];
  if (root === undefined) return null;
  const folder = (await foldersIn(root, 'failed')).find((each) => basename(each) === name);
  const record = folder === undefined ? null : await readRecord(folder).catch(() => null);
  if (folder === undefined || record === null || !isSideFile(sideFileOf(record.file))) return null;
  const path = join(folder, record.file);
  const facts = await lookAt(path);
  if (facts?.kind !== 'file') return null;
  const { file, under } = record;
  const failed = { under, changedAt: facts.mtimeMs };
  return { id, root, folder, name: file, path, size: facts.size, at: endedAtOf(name), failed };
}

/**
 * Opens a listed file of a job. null: it is not there any more, or not a regular file of the job's
 * own folder. The caller closes it.
 */
export async function openJobFile({ root, place, folder }: EndedJob, { name }: JobFile) {
  const path = join(root, place, folder, name);
  const handle = await openPlainFile(path, { followsLinks: false }).catch(() => null);
  if (handle === null) return null;
  try {
    // A folder above it could have been replaced by a link since it was listed.
    const [opened, there, real] = await Promise.all([handle.stat(), lstat(path), realpath(path)]);
    if (real === path && opened.ino === there.ino && opened.dev === there.dev)
      return { handle, size: opened.size };
    await handle.close();
    return null;
  } catch (error) {
    await handle.close();
    if (isErrorCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return null;
    throw error;
  }
}
