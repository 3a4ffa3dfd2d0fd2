/**
 * What a person does with a file. A start makes its folder ready and moves it to `waiting/` in one
 * step: killed before, it is where it was. A finished file is sent once more.
 */
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import pLimit from 'p-limit';
import { BrandEnrichError, ConfigError, RunError, usageProblem } from '../core/errors.js';
import { withinDeadline } from '../core/lifecycle.js';
import { readPlainFile, replaceFile } from '../core/plain-file.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import { parseConfigFile } from '../settings/load-settings.js';
import { liftOrders, type OrderStores } from './file-orders.js';
import { type FoundFile, openJobFile } from './find-files.js';
import { lookAt, sideFileOf } from './inbox-file.js';
import { INBOX_KEYS, readOwnSettings } from './inbox-folder-settings.js';
import {
  DRAFTS_FOLDER,
  hasGoOn,
  isOurs,
  isUndecided,
  type JobRecord,
  NOTE,
  newerSettings,
  queued,
  queueJob,
  readNoted,
  readRecord,
  writeRecord,
} from './job-folder.js';
import type { Uploads } from './uploads.js';

type Chosen = Readonly<Record<string, unknown>>;

/** One after the other: two pages may start the same file. */
const oneAtATime = pLimit(1);

/** How long the engine is waited for: a person could have left. */
const PATIENCE_MS = 3_000;

const GONE = 'it was started or discarded, or is no longer there';

interface Start {
  /** What was chosen on its plan; without it newer settings in the inbox count. */
  readonly settings?: Chosen;
  readonly by?: string;
  /** The name of a draft from now on. */
  readonly name?: string;
}

/**
 * Moves a draft or a failed file to the waiting ones of `root`, the watched folder. A failed file
 * keeps its id, and settings that were not chosen. Throws `ConfigError` when it must stay where
 * it is, and what the engine throws.
 */
export function startFile(
  engine: OrderStores,
  root: string,
  folder: string,
  now: number,
  { settings, by: startedBy, name }: Start = {},
): Promise<JobRecord> {
  const isSent = isDraft(folder);
  return orStays(folder, async () => {
    const known = isSent ? await readNoted(folder) : await readRecord(folder);
    if (known === null) throw stays(basename(folder), 'it is unclear which file is the original', BY_HAND);
    // A trial is to be seen again: the settings may be other ones.
    const { isTried: _, isDismissed: __, ...record } = known;
    const { id, under } = record;
    const file = name ?? record.file;
    const named = join(folder, file);
    // A start that was killed may have renamed it, and not its record.
    const path = (await lookAt(named)) === null ? join(folder, record.file) : named;
    if ((await lookAt(path))?.kind !== 'file')
      throw stays(file, 'it is not a file', 'put the file itself into the inbox');
    const inbox = join(root, 'inbox');
    // Without its settings it could cost more than they allow.
    if (under !== undefined && (await lookAt(join(inbox, under)))?.kind !== 'folder')
      throw stays(
        file,
        'the folder of the inbox where it was dropped is gone',
        `create ${join(inbox, under)}`,
      );
    if (!isSent) await assertLifted(engine, id, file);
    const side = sideFileOf(named);
    const newer = settings === undefined ? await newerSettings(inbox, { file, under }) : null;
    if (newer !== null) await rename(newer, side);
    const kept = isSent || settings === undefined ? {} : await valuesIn(side);
    if (settings !== undefined) await replaceFile(side, `${JSON.stringify({ ...kept, ...settings })}\n`);
    const anew = { ...record, file, run: null, deaths: undefined, parked: null, startedBy };
    if (isSent) {
      await rename(path, named);
      await writeRecord(folder, anew);
      // As readable as the inbox: people put their own files there too.
      const { mode } = await lstat(inbox);
      await Promise.all([side, named].map((each) => chmod(each, mode & 0o666)));
      await chmod(folder, mode & 0o777);
    }
    const results = (await readdir(folder)).filter((each) => isOurs(each) && each !== NOTE && each !== file);
    await Promise.all(results.map((each) => rm(join(folder, each), { force: true })));
    await queueJob(root, folder, anew, `It is ${isSent ? 'started' : 'tried again'} ${IN_TURN}`, now);
    return anew;
  });
}

const isDraft = (folder: string) => basename(dirname(folder)) === DRAFTS_FOLDER;

const IN_TURN = 'as soon as there is room for it.';

/** Takes back orders before the move: later, no order is looked for. */
async function assertLifted(engine: OrderStores, id: string, file: string): Promise<void> {
  const lifted = liftOrders(engine, id).then(() => true);
  if ((await withinDeadline(lifted, PATIENCE_MS)) === undefined)
    throw stays(file, 'the engine does not answer', 'try again when it does');
}

function orStays<T>(folder: string, act: () => Promise<T>): Promise<T> {
  const name = basename(folder);
  return oneAtATime(act).catch(async (error: unknown) => {
    if ((await lookAt(folder)) === null) throw stays(name, GONE, 'see the runs on the dashboard');
    if (error instanceof BrandEnrichError) throw error;
    const isFull = isErrorCode(error, 'ENOSPC', 'EDQUOT', 'EFBIG');
    const todo = isFull ? 'free disk space, then try again' : BY_HAND;
    const { detail } = stays(name, systemWords(error), todo);
    throw new RunError({ ...detail, code: isFull ? 'disk-low' : 'output-unwritable', cause: error });
  });
}

/** Removes a draft, and nothing else. Throws as `startFile` does. */
export function discard({ folder }: Pick<FoundFile, 'folder'>): Promise<void> {
  return orStays(folder, async () => {
    if (!isDraft(folder)) throw stays(basename(folder), 'it was started', 'dismiss it if it failed');
    await rm(folder, { recursive: true });
  });
}

/** Puts away a failed file: it stays where it is. Throws `ConfigError` where it is gone. */
export async function dismiss(folder: string): Promise<string> {
  const record = await readRecord(folder).catch(() => null);
  if (record === null) throw stays(basename(folder), 'it is no longer there', 'reload the page');
  await writeRecord(folder, { ...record, isDismissed: true });
  return record.file;
}

async function valuesIn(side: string): Promise<Chosen> {
  const text = await readPlainFile(side).catch(() => '{}');
  return parseConfigFile(side, text).values;
}

/** Caps of a file by their keys: null removes one, what is absent stays. */
export type GivenCaps = Readonly<Record<string, string | null>>;

/**
 * Continues a waiting file by a person's word, with the rest after its first answers, else with
 * these caps. Throws `ConfigError` where it does not wait for that any more.
 */
export async function goOn(root: string, folder: string, caps: GivenCaps = {}): Promise<JobRecord> {
  const gone = () => stays(basename(folder), 'it does not wait for that any more', 'reload the page');
  const went = await oneAtATime(async () => {
    const record = await readRecord(folder).catch(() => null);
    const why = record?.parked?.state.why ?? null;
    if (record?.parked == null || !(isUndecided(why) || hasGoOn(why))) throw gone();
    // First, so that killed between the two it has its caps, which the watcher sees.
    await writeCaps(sideFileOf(join(folder, record.file)), caps);
    const next = isUndecided(why) ? 'The rest is looked up' : 'It goes on';
    await writeRecord(folder, {
      ...record,
      ...(isUndecided(why) && { isTried: true }),
      reason: { headline: `${next} ${IN_TURN}`, details: '' },
      parked: { ...record.parked, state: { why: 'again', capMark: null } },
    });
    return record;
  }).catch((error: unknown) => {
    throw isErrorCode(error, 'ENOENT') ? gone() : error;
  });
  queued.emit(root);
  return went;
}

async function writeCaps(side: string, caps: GivenCaps): Promise<void> {
  if (Object.keys(caps).length === 0) return;
  const own = await readOwnSettings(side);
  const values = { ...own?.values, ...caps };
  const left = Object.entries(values).filter(([, value]) => value !== null);
  if (left.length === 0) return rm(side, { force: true });
  await replaceFile(side, `${JSON.stringify(Object.fromEntries(left))}\n`);
}

/** Settings of the ended run that are left out: a person sees the cost and decides anew. */
const OF_ITS_RUN = ['try', 'maxCost'];
/** As long as answers are kept: what the file has is not bought again. */
const KEEPING = { maxAge: '30d', maxAgeMissing: '30d', refresh: 'false' };

/**
 * Copies the original of a file in `done/`; returns its settings as fields of a form. Throws
 * `ConfigError` where it is gone, and what `Uploads.receive` throws.
 */
export async function sendAgain(uploads: Uploads, found: FoundFile) {
  const { inbox, folder, file, under } = found;
  const original = found.files.find(({ type }) => type === 'original');
  const opened = original && (await openJobFile(found, original));
  if (original === undefined || !opened) {
    const what = 'the file is no longer there';
    throw new ConfigError(usageProblem(what, file ?? basename(folder), 'send it again'));
  }
  const { handle, size } = opened;
  const bytes = handle.createReadStream({ start: 0, end: Math.max(0, size - 1) });
  const upload = await uploads
    .receive({ inbox, name: original.name, under, length: size }, bytes)
    .finally(() => bytes.destroy());
  const side = sideFileOf(join(folder, original.name));
  const kept = Object.entries({ ...(await valuesIn(side)), ...KEEPING }).filter(
    ([key]) => INBOX_KEYS.has(key) && !OF_ITS_RUN.includes(key),
  );
  const fields = kept.flatMap(([key, value]) =>
    [value].flat().map((each): [string, string] => [key, String(each)]),
  );
  return { upload, fields };
}

const BY_HAND = 'put the file into the inbox yourself';

function stays(subject: string, why: string, todo: string): ConfigError {
  return new ConfigError(usageProblem(`the file stays where it is: ${why}`, subject, todo));
}
