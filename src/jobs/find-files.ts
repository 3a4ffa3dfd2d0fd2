/**
 * The jobs in inboxes, and what their folders hold. Others may write to an inbox, so no link is
 * followed, and only names that were listed are opened.
 */
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import pLimit from 'p-limit';
import { attempt } from '../core/lifecycle.js';
import { OUTCOME_STATUSES, type OutcomeStatus, type StatusCounts } from '../core/outcome.js';
import { openPlainFile, readPlainFile } from '../core/plain-file.js';
import { count, object, type Shape } from '../core/shapes.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import { isLeftAlone, isSideFile, isTable, lookAt, stemOf } from './inbox-file.js';
import {
  CANCELLED,
  DRAFTS_FOLDER,
  derivedId,
  FILE_TYPES,
  type FileType,
  type Job,
  type JobReason,
  type JobRecord,
  jobFoldersIn,
  jobOf,
  originalAmong,
  REASON_AT_MOST,
  REASON_FILE,
  readNoted,
  readRecord,
  typeOf,
} from './job-folder.js';

/** Where the folder of a started job can be; a copy by hand is in one of the last. */
const PLACES = ['processing', 'waiting', 'failed', 'done'] as const;
type Place = (typeof PLACES)[number] | 'drafts';

export interface JobFile {
  readonly name: string;
  readonly type: FileType;
  readonly size: number;
}

/** The folder of a job. `record` is null if unreadable. */
interface Listed {
  readonly id: string;
  readonly inbox: number;
  readonly place: Place;
  readonly folder: string;
  readonly record: JobRecord | null;
}

/** A file with a job, and what there is of it. */
export type FoundFile = Awaited<ReturnType<typeof readFound>>;

/** The name of the original; null: unclear, or the folder is gone. */
const originalOf = async (folder: string) => (await readRecord(folder).catch(() => null))?.file ?? null;

/** A file that can be started: one that was sent, or one that failed. */
export type Draft = FoundFile & { readonly file: string };

async function readFound(root: string, { id, inbox, place, folder, record }: Listed) {
  const names = await plainNamesIn(folder);
  // A start that was killed may have renamed a draft, and not its record.
  const file = (await originalOf(folder)) ?? (place === 'drafts' ? originalAmong(names) : null);
  const reason = place === 'done' ? NO_REASON : await reasonOf(folder, record);
  const original = file === null ? null : await lookAt(join(folder, file));
  const seen = await Promise.all(names.map((name) => lookAt(join(folder, name))));
  const files = names.map((name, index): JobFile => {
    return { name, type: typeOf(name, file), size: seen[index]?.size ?? 0 };
  });
  files.sort((a, b) => FILE_TYPES.indexOf(a.type) - FILE_TYPES.indexOf(b.type));
  return {
    id,
    root,
    inbox,
    place,
    folder,
    /** The original; null and empty if that is unclear. */
    file,
    path: join(folder, file ?? ''),
    size: original?.size ?? 0,
    changedAt: original?.mtimeMs ?? 0,
    /** When it ended, or first waited; 0 if not known. */
    endedAt: endedAtOf(basename(folder)),
    reason,
    /** What a file in `waiting/` waits for, or null elsewhere. */
    waitsFor: place === 'waiting' ? (record?.parked?.state.why ?? 'limit') : null,
    isAtOwnCap: place === 'waiting' && record?.parked?.state.capMark != null,
    under: record?.under,
    /** Its latest run, or null before the first. */
    runId: record?.run ?? null,
    sentBy: record?.sentBy,
    startedBy: record?.startedBy,
    isDismissed: record?.isDismissed === true,
    files: files as readonly JobFile[],
  };
}

async function plainNamesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
}

const AT_ONCE = 8;

const TIME = /-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z(?:-\d+)?$/;

/** When a job ended, or first waited, by the name of its folder; 0: not in its name. Pure. */
export function endedAtOf(folder: string): number {
  const [, day, hours, minutes, seconds] = TIME.exec(folder) ?? [];
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) || 0;
}

export type ResultType = 'output' | 'partial';

const FAILED_SHOWN = 20;

export type FileFinder = ReturnType<typeof createFileFinder>;
export type FailedFile = Awaited<ReturnType<FileFinder['listFailed']>>[number]['files'][number];

/** `roots`: the watched folders. */
export function createFileFinder(roots: readonly string[]) {
  const limit = pLimit(AT_ONCE);
  /** Records of folders that do not change any more, by place. */
  const ended = new Map<string, Map<string, { readonly changedAt: number; readonly record: JobRecord }>>();

  async function listPlace(inbox: number, root: string, place: Place, isAsked: (path: string) => boolean) {
    const known = ended.get(join(root, place)) ?? new Map();
    const there: typeof known = new Map();
    const read = async (folder: string): Promise<Listed> => {
      const changedAt = (await lookAt(folder))?.mtimeMs ?? 0;
      const before = known.get(folder);
      const isSame = before?.changedAt === changedAt;
      const record = isSame ? before.record : await limit(() => readNoted(folder).catch(() => null));
      if (record !== null && (place === 'done' || place === 'failed'))
        there.set(folder, { changedAt, record });
      return { id: record?.id ?? derivedId(folder), inbox, place, folder, record };
    };
    const folders = (await foldersIn(root, place)).filter(isAsked);
    const listed = await Promise.all(folders.map(read));
    // Without a record a file is still being received.
    if (place === 'drafts') return listed.filter(({ record }) => record !== null);
    ended.set(join(root, place), isAsked === ALL ? there : new Map([...known, ...there]));
    return listed;
  }

  async function list(places: readonly Place[] = PLACES, isAsked = ALL): Promise<Listed[]> {
    const listed: Listed[][] = [];
    // One after the other: a file that moves meanwhile is seen where it was, or where it is.
    for (const place of places)
      for (const [inbox, root] of roots.entries()) listed.push(await listPlace(inbox, root, place, isAsked));
    return listed.flat();
  }

  const read = (listed: Listed) => readFound(roots[listed.inbox] ?? '', listed);

  async function findNow(id: string, run: string | null): Promise<FoundFile | null> {
    const chosen = chosenOf(await list(), id, run);
    if (chosen === undefined) return null;
    const found = await read(chosen);
    return (await lookAt(chosen.folder)) === null ? null : found;
  }

  async function readFailed({ id, folder, record }: Listed) {
    const [file, reason] = await Promise.all([originalOf(folder), reasonOf(folder, record)]);
    return { id, file, folder: basename(folder), failedAt: endedAtOf(basename(folder)), reason };
  }

  return {
    roots,

    /** Returns the file of a job, or null. `run`: of several copies, that of this run. */
    async find(id: string, run: string | null = null): Promise<FoundFile | null> {
      // It may have moved to a place that was looked at just before, or while it was read.
      return (await findNow(id, run)) ?? findNow(id, run);
    },

    /** Returns the draft or failed file; null once it was started, discarded or removed. */
    async findDraft(id: string): Promise<Draft | null> {
      const listed = chosenOf(await list(['drafts', 'failed']), id, null);
      const found = listed === undefined ? null : await read(listed);
      return found !== null && isDraft(found) ? found : null;
    },

    /** Files that were sent and not started, the newest first. */
    async listDrafts(): Promise<Draft[]> {
      const drafts = await Promise.all((await list(['drafts'])).map(read));
      return drafts.filter(isDraft).sort((a, b) => b.changedAt - a.changedAt);
    },

    /** The results of many runs, by their ids; without those that have none here. */
    async results(
      runs: readonly Pick<RunRecord, 'id' | 'job' | 'label'>[],
    ): Promise<ReadonlyMap<string, ResultType>> {
      // Named after the file: most folders need not be opened.
      const stems = new Set(runs.map(({ label }) => stemOf(label.name)));
      const isAsked = (path: string) => stems.has(basename(path).replace(TIME, ''));
      const listed = await list(['waiting', 'failed', 'done'], isAsked);
      const types = runs.map(async ({ id, job }): Promise<[string, ResultType][]> => {
        const chosen = chosenOf(listed, job, id);
        const names = chosen === undefined ? [] : await plainNamesIn(chosen.folder);
        const files = names.map((name) => typeOf(name, chosen?.record?.file ?? null));
        const type = (['output', 'partial'] as const).find((each) => files.includes(each));
        return type === undefined ? [] : [[id, type]];
      });
      return new Map((await Promise.all(types)).flat());
    },

    /** Lists for each watched folder its newest failed files that nobody put away. */
    async listFailed() {
      const all = (await list(['failed'])).filter(({ record }) => record?.isDismissed !== true);
      const ofInbox = roots.map(async (_, inbox) => {
        const its = all.filter((each) => each.inbox === inbox);
        its.sort((a, b) => endedAtOf(basename(b.folder)) - endedAtOf(basename(a.folder)));
        const files = await Promise.all(its.slice(0, FAILED_SHOWN).map((each) => limit(readFailed, each)));
        const cancelled = its.filter(({ record }) => record?.reason?.code === CANCELLED).length;
        return { count: its.length, cancelled, files };
      });
      return Promise.all(ofInbox);
    },
  };
}

const ALL = (_path: string) => true;

const isDraft = (found: FoundFile): found is Draft => found.files.some(({ type }) => type === 'original');

/** Returns the folder of a job; of several copies that of the run, else the first. Pure. */
function chosenOf(listed: readonly Listed[], id: string, run: string | null): Listed | undefined {
  const its = listed.filter((each) => each.id === id);
  return (run === null ? undefined : its.find(({ record }) => record?.run === run)) ?? its[0];
}

async function foldersIn(root: string, place: Place): Promise<string[]> {
  const path = join(root, place === 'drafts' ? DRAFTS_FOLDER : place);
  if ((await lookAt(path))?.kind !== 'folder') return [];
  const folders = await jobFoldersIn(path);
  return place === 'processing' ? (await Promise.all(folders.map(jobFoldersIn))).flat() : folders;
}

const NO_REASON: JobReason = { headline: '', details: '' };

async function reasonOf(folder: string, noted: JobRecord | null): Promise<JobReason> {
  if (noted !== null && noted.reason !== null) return noted.reason;
  const text = await readPlainFile(join(folder, REASON_FILE)).catch(() => '');
  return { headline: '', details: text.slice(0, REASON_AT_MOST).trim() };
}

const statuses = Object.fromEntries(OUTCOME_STATUSES.map((each) => [each, count]));
const reportShape = object({ rows: object(statuses as Record<OutcomeStatus, Shape<number>>) });

/** Returns the rows of a job by status, or null without a report. */
export async function readRowCounts({ folder, files }: FoundFile): Promise<StatusCounts | null> {
  const report = files.find(({ type }) => type === 'report');
  if (report === undefined) return null;
  const text = await readPlainFile(join(folder, report.name)).catch(() => '');
  return attempt(() => reportShape(JSON.parse(text)).rows, null);
}

/** Opens a listed file, for the caller to close; null if it is no regular file of its folder. */
export async function openJobFile({ folder }: FoundFile, { name }: JobFile) {
  const path = join(folder, name);
  const handle = await openPlainFile(path, { followsLinks: false }).catch(() => null);
  if (handle === null) return null;
  // A folder above it could have been replaced by a link since it was listed.
  const looks = [handle.stat(), lstat(path), realpath(path)] as const;
  const [opened, there, real] = (await Promise.all(looks).catch(() => null)) ?? [];
  if (opened && real === path && opened.ino === there?.ino && opened.dev === there.dev)
    return { handle, size: opened.size };
  await handle.close();
  return null;
}

/**
 * Lists the files in `inbox/` that are not taken yet, those in progress, and the tables beside the
 * folder `inbox/`, which nobody takes.
 */
export async function listQueued(root: string) {
  const filesIn = async (folder: string) => {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    return entries.flatMap((entry) => (entry.isFile() && !isLeftAlone(entry.name) ? [entry.name] : []));
  };
  const names = await filesIn(join(root, 'inbox'));
  const jobs = await foldersIn(root, 'processing');
  const records = await Promise.all(jobs.map((folder) => readRecord(folder).catch(() => null)));
  return {
    queued: names.filter((name) => !isSideFile(name)).sort(),
    misplaced: (await filesIn(root)).filter((name) => isTable(name)).sort(),
    inProgress: records.flatMap((record) => record?.file ?? []).sort(),
    jobs: records.flatMap((record) => record?.id ?? []),
  };
}

/** A job in `waiting/`. */
export interface ParkedJob extends Job {
  readonly parked: NonNullable<JobRecord['parked']>;
}

/** A job that a person moved there waits for the account. */
const FOR_ACCOUNT: ParkedJob['parked'] = { at: 0, since: 0, state: { why: 'limit', capMark: null } };

/**
 * Lists all jobs in `waiting/`: those that may have ended their watcher last, else the oldest try
 * first. `unclear` gets the folders without a record.
 */
export async function listWaiting(waiting: string, unclear: string[] = []): Promise<ParkedJob[]> {
  const limit = pLimit(AT_ONCE);
  const readParked = async (folder: string): Promise<ParkedJob[]> => {
    const record = await readNoted(folder);
    if (record !== null) return [{ ...jobOf(folder, record), parked: record.parked ?? FOR_ACCOUNT }];
    unclear.push(folder);
    return [];
  };
  const parked = await Promise.all((await jobFoldersIn(waiting)).map((folder) => limit(readParked, folder)));
  const deathsOf = ({ record }: Job) => record.deaths ?? 0;
  return parked.flat().sort((a, b) => deathsOf(a) - deathsOf(b) || a.parked.at - b.parked.at);
}
