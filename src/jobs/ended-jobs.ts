/**
 * The folders in `done/`, `failed/` and `waiting/` of an inbox, for people: which job is where, and
 * its files. Others may write to an inbox, so no link is followed, and only names that were listed
 * are opened.
 */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { attempt } from '../core/lifecycle.js';
import { OUTCOME_STATUSES, type OutcomeStatus, type StatusCounts } from '../core/outcome.js';
import { openPlainFile, readPlainFile } from '../core/plain-file.js';
import { count, object, type Shape } from '../core/shapes.js';
import { isErrorCode } from '../core/system-error.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { isSideFile, lookAt, sideFileOf, stemOf } from './inbox-file.js';
import {
  CANCELLED,
  type JobReason,
  type JobRecord,
  jobFoldersIn,
  originalOf,
  REASON_AT_MOST,
  REASON_FILE,
  readNoted,
  readRecord,
} from './job-folder.js';
import type { Upload } from './uploads.js';

export const JOB_PLACES = ['done', 'failed', 'waiting'] as const;
export type JobPlace = (typeof JOB_PLACES)[number];

/** In the order in which they are shown. */
const FILE_TYPES = ['page', 'output', 'partial', 'errors', 'report', 'original', 'reason', 'other'] as const;
type FileType = (typeof FILE_TYPES)[number];

export interface JobFile {
  readonly name: string;
  readonly type: FileType;
  readonly size: number;
}

/** Where the folder of a job is; `inbox`: the number of its watched folder. */
export interface JobAddress {
  readonly inbox: number;
  readonly place: JobPlace;
  readonly folder: string;
}

export type EndedJob = NonNullable<Awaited<ReturnType<typeof readJob>>>;

/** `roots`: the watched folders. null: there is no such job. */
export async function readJob(roots: readonly string[], { inbox, place, folder }: JobAddress) {
  const root = roots[inbox];
  const folders = root === undefined ? [] : await foldersIn(root, place);
  const path = folders.find((each) => basename(each) === folder);
  if (root === undefined || path === undefined) return null;
  const names = await plainNamesIn(path);
  const [noted, file] = await Promise.all([readNoted(path).catch(() => null), originalOf(path)]);
  const reason = place === 'done' ? NO_REASON : await reasonOf(path, noted);
  const sizes = await Promise.all(names.map((name) => sizeOf(join(path, name))));
  const files = names.map((name, index): JobFile => {
    return { name, type: typeOf(name, file), size: sizes[index] ?? 0 };
  });
  files.sort((a, b) => FILE_TYPES.indexOf(a.type) - FILE_TYPES.indexOf(b.type));
  return {
    root,
    inbox,
    place,
    folder,
    /** The name of the original; null: unclear. */
    file,
    endedAt: endedAtOf(folder),
    reason,
    /** What a file in `waiting/` waits for; null: it is elsewhere. */
    waitsFor: place === 'waiting' ? (noted?.parked?.state.why ?? 'limit') : null,
    /** It waits at a limit, which is a cap of its own. */
    isAtOwnCap: place === 'waiting' && noted?.parked?.state.capMark != null,
    /** Its original folder below `inbox`; absent: the inbox itself. */
    under: noted?.under,
    /** Its latest run; null: none has begun. */
    runId: noted?.run ?? null,
    sentBy: noted?.sentBy,
    startedBy: noted?.startedBy,
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

/** Files that are read at the same time. */
const AT_ONCE = 8;

/**
 * The type of a file in the folder of a job, by its name: no setting of an inbox names files (see
 * `outputNames`). Pure.
 */
export function typeOf(name: string, original: string | null): FileType {
  if (name === original) return 'original';
  if (name === REASON_FILE) return 'reason';
  if (/\.report\.html$/.test(name)) return 'page';
  if (/\.report\.json$/.test(name)) return 'report';
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

/** Records in the folders of jobs; one in `done/` or `failed/` is read once until that changes. */
function createRecordReader() {
  const arrived = new Map<string, { readonly changedAt: number; readonly record: JobRecord }>();
  const limit = pLimit(AT_ONCE);
  return {
    async read(path: string, place: JobPlace): Promise<JobRecord | null> {
      const changedAt = (await lookAt(path))?.mtimeMs ?? 0;
      const known = arrived.get(path);
      if (known?.changedAt === changedAt) return known.record;
      const record = await limit(() => readNoted(path).catch(() => null));
      if (record !== null && place !== 'waiting') arrived.set(path, { changedAt, record });
      return record;
    },
    /** Folders that are gone are forgotten. */
    keepOnly(there: ReadonlySet<string>): void {
      for (const path of arrived.keys()) if (!there.has(path)) arrived.delete(path);
    },
  };
}

type RecordReader = ReturnType<typeof createRecordReader>;

/** All jobs in these watched folders with their records; `isAsked`: of those with this folder. */
async function listJobs(roots: readonly string[], records: RecordReader, isAsked = (_path: string) => true) {
  const listed: { inbox: number; place: JobPlace; path: string; record: JobRecord | null }[][] = [];
  for (const [inbox, root] of roots.entries()) {
    for (const place of JOB_PLACES) {
      const paths = (await foldersIn(root, place)).filter(isAsked);
      const read = async (path: string) => ({ inbox, place, path, record: await records.read(path, place) });
      listed.push(await Promise.all(paths.map(read)));
    }
  }
  const jobs = listed.flat();
  records.keepOnly(new Set(jobs.map(({ path }) => path)));
  return jobs;
}

/**
 * Finds the folder of a run's job in these watched folders by the record that moves with it; all
 * starts of one job share it.
 */
export function createJobFinder(roots: readonly string[]) {
  const records = createRecordReader();

  /** null: none there is of this run. */
  return async (run: Pick<RunRecord, 'id' | 'job'>): Promise<EndedJob | null> => {
    const its = (await listJobs(roots, records)).filter(({ record }) => record?.id === run.job);
    // Where people made a copy, either is right.
    const chosen = its.find(({ record }) => record?.run === run.id) ?? its[0];
    return chosen === undefined ? null : readJob(roots, { ...chosen, folder: basename(chosen.path) });
  };
}

/**
 * `processing`: it is read, and then its run begins; `run`: the latest one, null before the first.
 * `ended`: it is in `waiting/` (perhaps for its turn), `done/` or `failed/`.
 */
export type Started =
  | {
      readonly place: 'processing';
      readonly root: string;
      readonly file: string;
      readonly run: string | null;
    }
  | { readonly place: 'ended'; readonly job: EndedJob };

/** Finds the file of a job in these watched folders; null if it is gone. */
export function createStartedFinder(roots: readonly string[]) {
  const findJob = createJobFinder(roots);

  async function look(id: string): Promise<Started | null> {
    for (const root of roots) {
      const watchers = await jobFoldersIn(join(root, 'processing'));
      for (const folder of (await Promise.all(watchers.map(jobFoldersIn))).flat()) {
        const record = await readNoted(folder).catch(() => null);
        if (record?.id === id) return { place: 'processing', root, file: record.file, run: record.run };
      }
    }
    const job = await findJob({ id: '', job: id });
    return job && { place: 'ended', job };
  }

  // It may have moved to a place that was looked at just before.
  return async (id: string): Promise<Started | null> => (await look(id)) ?? look(id);
}

/** What there is to download of a run. */
export type ResultType = 'output' | 'partial';

/** Finds the results of many runs, by their ids; without those that have none there. */
export function createResultFinder(roots: readonly string[]) {
  const records = createRecordReader();

  return async (
    runs: readonly Pick<RunRecord, 'id' | 'job' | 'label'>[],
  ): Promise<ReadonlyMap<string, ResultType>> => {
    // Named after the file: most folders need not be opened.
    const stems = new Set(runs.map(({ label }) => stemOf(label.name)));
    const types = new Map<string, ResultType>();
    const isAsked = (path: string) => stems.has(basename(path).replace(TIME, ''));
    for (const { path, record } of await listJobs(roots, records, isAsked)) {
      const its = runs.filter(({ job }) => job === record?.id);
      if (its.length === 0) continue;
      const files = (await plainNamesIn(path)).map((name) => typeOf(name, record?.file ?? null));
      const type = (['output', 'partial'] as const).find((each) => files.includes(each));
      if (type !== undefined) for (const { id } of its) types.set(id, type);
    }
    return types;
  };
}

const NO_REASON: JobReason = { headline: '', details: '' };

/** Without one in a record, what `reason.txt` says. */
async function reasonOf(folder: string, noted: JobRecord | null): Promise<JobReason> {
  if (noted !== null && noted.reason !== null) return noted.reason;
  const text = await readPlainFile(join(folder, REASON_FILE)).catch(() => '');
  return { headline: '', details: text.slice(0, REASON_AT_MOST).trim() };
}

const statuses = Object.fromEntries(OUTCOME_STATUSES.map((each) => [each, count]));
const reportShape = object({ rows: object(statuses as Record<OutcomeStatus, Shape<number>>) });

/** The rows of a job by status, as its report has them; null: it has none. */
export async function readRowCounts(job: EndedJob): Promise<StatusCounts | null> {
  const { root, place, folder, files } = job;
  const report = files.find(({ type }) => type === 'report');
  if (report === undefined) return null;
  const text = await readPlainFile(join(root, place, folder, report.name)).catch(() => '');
  return attempt(() => reportShape(JSON.parse(text)).rows, null);
}

export type FailedFile = Awaited<ReturnType<ReturnType<typeof createFailedLister>>>[number]['files'][number];

const FAILED_SHOWN = 20;

/**
 * Lists, for each of these watched folders, its newest failed files that nobody put away, how many
 * there are, and how many of them were cancelled.
 */
export function createFailedLister(roots: readonly string[]) {
  const records = createRecordReader();
  const limit = pLimit(AT_ONCE);

  async function list(paths: readonly string[]) {
    const dated = await Promise.all(
      paths.map(async (path) => {
        return { path, failedAt: endedAtOf(basename(path)), noted: await records.read(path, 'failed') };
      }),
    );
    const shown = dated.filter(({ noted }) => noted?.isDismissed !== true);
    const newest = shown.sort((a, b) => b.failedAt - a.failedAt).slice(0, FAILED_SHOWN);
    const read = async ({ path, failedAt, noted }: (typeof newest)[number]) => {
      const [file, reason] = await Promise.all([originalOf(path), reasonOf(path, noted)]);
      return { file, folder: basename(path), failedAt, reason };
    };
    const files = await Promise.all(newest.map((each) => limit(read, each)));
    const cancelled = shown.filter(({ noted }) => noted?.reason?.code === CANCELLED).length;
    return { count: shown.length, cancelled, files };
  }

  return async () => {
    const folders = await Promise.all(roots.map((root) => foldersIn(root, 'failed')));
    records.keepOnly(new Set(folders.flat()));
    return Promise.all(folders.map(list));
  };
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
  const failed = { changedAt: facts.mtimeMs };
  return { id, root, folder, name: file, under, path, size: facts.size, at: endedAtOf(name), failed };
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
