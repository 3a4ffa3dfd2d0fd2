/**
 * The jobs in inboxes, and the files in their folders. Others may write to an inbox, so no link is
 * followed, and only listed names are opened.
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

/** Places of started jobs. A copy by hand is usually in one of the last. */
const PLACES = ['processing', 'waiting', 'failed', 'done'] as const;
type Place = (typeof PLACES)[number] | 'drafts';

export interface JobFile {
  readonly name: string;
  readonly type: FileType;
  readonly size: number;
}

/** A folder of a job; `record` is null if it cannot be read. */
interface Listed {
  readonly id: string;
  readonly root: string;
  readonly inbox: number;
  readonly place: Place;
  readonly folder: string;
  readonly record: JobRecord | null;
}

/** A job with its file and results. */
export type FoundFile = Awaited<ReturnType<typeof readFound>>;

/** A sent or failed file that a person can start. */
export type Draft = FoundFile & { readonly file: string };

async function readFound({ id, root, inbox, place, folder, record }: Listed) {
  const names = await plainNamesIn(folder);
  const known = await readRecord(folder).catch(() => null);
  // A killed start may have renamed a draft before it wrote the record.
  const file = known?.file ?? (place === 'drafts' ? originalAmong(names) : null);
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
    /** The name of the original, or null if it is unclear. */
    file,
    path: join(folder, file ?? ''),
    size: original?.size ?? 0,
    changedAt: original?.mtimeMs ?? 0,
    endedAt: endedAtOf(folder),
    reason,
    /** Null outside `waiting/`. */
    waitsFor: place === 'waiting' ? (record?.parked?.state.why ?? 'limit') : null,
    isAtOwnCap: place === 'waiting' && record?.parked?.state.capMark != null,
    under: record?.under,
    /** The latest run; null before the first. */
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

/** Returns when a job ended or first waited, from its folder's name; 0 without a time. Pure. */
export function endedAtOf(folder: string): number {
  const [, day, hours, minutes, seconds] = TIME.exec(basename(folder)) ?? [];
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) || 0;
}

export type ResultType = 'output' | 'partial';

const FAILED_SHOWN = 20;

export type FileFinder = ReturnType<typeof createFileFinder>;

/** Creates a finder of jobs in the watched folders `roots`. */
export function createFileFinder(roots: readonly string[]) {
  const limit = pLimit(AT_ONCE);
  /** Records of ended jobs, which rarely change, by place and folder. */
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
      return { id: record?.id ?? derivedId(folder), root, inbox, place, folder, record };
    };
    const folders = (await foldersIn(root, place)).filter(isAsked);
    const listed = await Promise.all(folders.map(read));
    // A draft gets its record once it is received.
    if (place === 'drafts') return listed.filter(({ record }) => record !== null);
    ended.set(join(root, place), isAsked === ALL ? there : new Map([...known, ...there]));
    return listed;
  }

  async function list(places: readonly Place[] = PLACES, isAsked = ALL): Promise<Listed[]> {
    const listed: Listed[][] = [];
    // In the order of moves, so a file that moves meanwhile is seen at least once.
    for (const place of places)
      for (const [inbox, root] of roots.entries()) listed.push(await listPlace(inbox, root, place, isAsked));
    return listed.flat();
  }

  async function findNow(id: string, run: string | null): Promise<FoundFile | null> {
    const chosen = chosenOf(await list(), id, run);
    if (chosen === undefined) return null;
    const found = await readFound(chosen);
    return (await lookAt(chosen.folder)) === null ? null : found;
  }

  return {
    roots,

    /** Returns the file of a job, or null. `run` chooses among several copies. */
    async find(id: string, run: string | null = null): Promise<FoundFile | null> {
      // The file may move into a place that was listed just before, or while it is read.
      return (await findNow(id, run)) ?? findNow(id, run);
    },

    /** Returns a draft or failed file; null once it was started, discarded or removed. */
    async findDraft(id: string): Promise<Draft | null> {
      const listed = chosenOf(await list(['drafts', 'failed']), id, null);
      const found = listed === undefined ? null : await readFound(listed);
      return found !== null && isDraft(found) ? found : null;
    },

    /** Lists files that were sent and not started, newest first. */
    async listDrafts(): Promise<Draft[]> {
      const drafts = await Promise.all((await list(['drafts'])).map(readFound));
      return drafts.filter(isDraft).sort((a, b) => b.changedAt - a.changedAt);
    },

    /** Returns the type of the result of each run that has one here, by run id. */
    async results(
      runs: readonly Pick<RunRecord, 'id' | 'job' | 'label'>[],
    ): Promise<ReadonlyMap<string, ResultType>> {
      // Folders are named after their files, so most need not be opened.
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

    /** Lists the newest failed files of each watched folder, without dismissed ones. */
    async listFailed() {
      const all = (await list(['failed'])).filter(({ record }) => record?.isDismissed !== true);
      const ofInbox = roots.map(async (_, inbox) => {
        const its = all.filter((each) => each.inbox === inbox);
        its.sort((a, b) => endedAtOf(b.folder) - endedAtOf(a.folder));
        const files = await Promise.all(its.slice(0, FAILED_SHOWN).map((each) => limit(readFound, each)));
        const cancelled = its.filter(({ record }) => record?.reason?.code === CANCELLED).length;
        return { count: its.length, cancelled, files };
      });
      return Promise.all(ofInbox);
    },
  };
}

const ALL = (_path: string) => true;

const isDraft = (found: FoundFile): found is Draft => found.files.some(({ type }) => type === 'original');

/** Returns the folder of a job: among copies that of the run, else the first. Pure. */
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

/** Returns the number of rows of a job by status, or null without a report. */
export async function readRowCounts({ folder, files }: FoundFile): Promise<StatusCounts | null> {
  const report = files.find(({ type }) => type === 'report');
  if (report === undefined) return null;
  const text = await readPlainFile(join(folder, report.name)).catch(() => '');
  return attempt(() => reportShape(JSON.parse(text)).rows, null);
}

/** Opens a listed file, which the caller closes; null if it is not a plain file of its folder. */
export async function openJobFile({ folder }: FoundFile, { name }: JobFile) {
  const path = join(folder, name);
  const handle = await openPlainFile(path, { followsLinks: false }).catch(() => null);
  if (handle === null) return null;
  // A link could have replaced a folder of the path since the file was listed.
  const looks = [handle.stat(), lstat(path), realpath(path)] as const;
  const [opened, there, real] = (await Promise.all(looks).catch(() => null)) ?? [];
  if (opened && real === path && opened.ino === there?.ino && opened.dev === there.dev)
    return { handle, size: opened.size };
  await handle.close();
  return null;
}

/** Lists files in `inbox/`, files in progress, and tables that wrongly lie beside `inbox/`. */
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

/** The state of a job that a person moved to `waiting/`. */
const FOR_ACCOUNT: ParkedJob['parked'] = { at: 0, since: 0, state: { why: 'limit', capMark: null } };

/** Lists waiting jobs, suspects last, else oldest try first; adds unreadable ones to `unclear`. */
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
