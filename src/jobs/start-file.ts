/**
 * What a person does with a file: start, discard, dismiss, continue with other caps, send again.
 * A start prepares the folder and moves it to `waiting/` in one step, so a kill leaves it in place.
 */
import { chmod, lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import pLimit from 'p-limit';
import type { DaemonContext } from '../app/daemon-context.js';
import { BrandEnrichError, ConfigError, RunError, usageProblem } from '../core/errors.js';
import { withinDeadline } from '../core/lifecycle.js';
import { replaceFile } from '../core/plain-file.js';
import { isErrorCode, systemWords } from '../core/system-error.js';
import type { RunSettings } from '../engine/stores/run-store.js';
import { runSettingsOf } from '../run/enrich-request.js';
import type { ConfigFile } from '../settings/load-settings.js';
import { liftOrders, type OrderStores } from './file-orders.js';
import { type FoundFile, openJobFile } from './find-files.js';
import { lookAt, sideFileOf } from './inbox-file.js';
import {
  applyFolderSettings,
  INBOX_KEYS,
  readFolderSettings,
  readOwnSettings,
  settingsFilesOf,
} from './inbox-folder-settings.js';
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
import { fieldsOf } from './plan-upload.js';
import type { Uploads } from './uploads.js';

/** Two pages may start the same file. */
const oneAtATime = pLimit(1);

/** Longest wait for the engine: the person may have left by then. */
const PATIENCE_MS = 3_000;

const GONE = 'it was started or discarded, or is no longer there';
const BY_HAND = 'put the file into the inbox yourself';
const IN_TURN = 'as soon as there is room for it.';

interface Start {
  /** Settings chosen on the plan of the file; without them newer settings in the inbox apply. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly by?: string;
  /** The new name of a draft. */
  readonly name?: string;
}

/**
 * Moves a draft or a failed file to `waiting/` of `root`, the watched folder. A failed file keeps
 * its id, and the settings that were not chosen. Throws `ConfigError` if the file must stay,
 * and what the engine throws.
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
    // The settings may differ, so a person sees a trial again.
    const { isTried: _, isDismissed: __, ...record } = known;
    const { id, under } = record;
    const file = name ?? record.file;
    const named = join(folder, file);
    // A killed start may have renamed the file before it wrote the record.
    const path = (await lookAt(named)) === null ? join(folder, record.file) : named;
    if ((await lookAt(path))?.kind !== 'file')
      throw stays(file, 'it is not a file', 'put the file itself into the inbox');
    const inbox = join(root, 'inbox');
    // Without the settings of its folder, the file could cost more than they allow.
    if (under !== undefined && (await lookAt(join(inbox, under)))?.kind !== 'folder')
      throw stays(file, 'its folder in the inbox is gone', `create ${join(inbox, under)}`);
    if (!isSent) await assertLifted(engine, id, file);
    const side = sideFileOf(named);
    const newer = settings === undefined ? await newerSettings(inbox, { file, under }) : null;
    if (newer !== null) await rename(newer, side);
    const kept = isSent || settings === undefined ? {} : await ownValues(side);
    if (settings !== undefined) await replaceFile(side, `${JSON.stringify({ ...kept, ...settings })}\n`);
    const anew = { ...record, file, run: null, deaths: undefined, parked: null, startedBy };
    if (isSent) {
      await rename(path, named);
      await writeRecord(folder, anew);
      // Whoever may read the inbox may read this file.
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

/** Lifts orders before the move, since nobody looks for orders after it. */
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

/** Removes a draft. Throws as `startFile` does. */
export function discard({ folder }: Pick<FoundFile, 'folder'>): Promise<void> {
  return orStays(folder, async () => {
    if (!isDraft(folder)) throw stays(basename(folder), 'it was started', 'dismiss it if it failed');
    await rm(folder, { recursive: true });
  });
}

/** Hides a failed file from the lists. Throws `ConfigError` if the file is gone. */
export async function dismiss(folder: string): Promise<string> {
  const record = await readRecord(folder).catch(() => null);
  if (record === null) throw stays(basename(folder), 'it is no longer there', 'reload the page');
  await writeRecord(folder, { ...record, isDismissed: true });
  return record.file;
}

async function ownValues(side: string): Promise<ConfigFile['values']> {
  return (await readOwnSettings(side))?.values ?? {};
}

/** Caps by their keys: null removes a cap, an absent one stays. */
export type GivenCaps = Readonly<Record<string, string | null>>;

/** The cap of a file, and the highest that its inbox allows; null without a cap. */
export type FileCap = Readonly<Record<'own' | 'most', string | null>>;

/** Caps for a page; `maxCost` is null if no extra cost is possible. */
export type ShownCaps = Readonly<{ maxRequests: FileCap; maxCost: FileCap | null }>;

export type FileCaps = ReturnType<typeof createFileCaps>;

type CappedFile = Pick<FoundFile, 'root' | 'folder' | 'file' | 'under'>;

const textOf = (cap: unknown) => (cap == null ? null : String(cap));

/** Reads and checks the caps of waiting files. */
export function createFileCaps({ loaded, service }: Pick<DaemonContext, 'loaded' | 'service'>) {
  async function settingsOf({ root, under, folder, file }: CappedFile) {
    const inbox = await readFolderSettings(settingsFilesOf(root, under), loaded);
    return { inbox, own: await ownValues(sideFileOf(join(folder, file ?? ''))) };
  }

  return {
    /** Returns null if settings of the inbox or of the file cannot be read. */
    async read(file: CappedFile): Promise<ShownCaps | null> {
      try {
        const { inbox, own } = await settingsOf(file);
        const maxRequests = { own: textOf(own.maxRequests), most: textOf(inbox.maxRequests) };
        const maxCost = { own: textOf(own.maxCost), most: textOf(inbox.maxCost) };
        const isPaid = runSettingsOf(inbox, service).overage > 0 || maxCost.own !== null;
        return { maxRequests, maxCost: isPaid ? maxCost : null };
      } catch (error) {
        if (error instanceof BrandEnrichError) return null;
        throw error;
      }
    },

    /** Returns the settings of the next run. Throws `ConfigError` for caps that are not allowed. */
    async check(file: CappedFile, caps: GivenCaps): Promise<RunSettings> {
      const { inbox, own } = await settingsOf(file);
      const form = { path: 'this form', values: withCaps(own, caps) };
      const settings = applyFolderSettings(form, { ...loaded, settings: inbox });
      for (const key of ['maxRequests', 'maxCost'] as const) {
        const [given, most] = [caps[key] ?? null, inbox[key]];
        if (given === null || most === null || Number(given) <= Number(most)) continue;
        const what = `this inbox allows at most ${most}`;
        const todo = 'choose less, or ask the administrator of the inbox to raise it for all files';
        throw new ConfigError(usageProblem(what, `${key} ${given}`, todo));
      }
      return runSettingsOf(settings, service);
    },
  };
}

function withCaps(values: ConfigFile['values'], caps: GivenCaps): ConfigFile['values'] {
  const all = Object.entries({ ...values, ...caps });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** Continues a file that waits for a person. Throws `ConfigError` if it no longer does. */
export async function goOn(root: string, folder: string, caps: GivenCaps = {}): Promise<JobRecord> {
  const gone = () => stays(basename(folder), 'it does not wait for that any more', 'reload the page');
  const went = await oneAtATime(async () => {
    const record = await readRecord(folder).catch(() => null);
    const why = record?.parked?.state.why ?? null;
    if (record?.parked == null || !(isUndecided(why) || hasGoOn(why))) throw gone();
    // Caps first: a kill between the two writes leaves caps that the watcher sees.
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
  const values = withCaps(await ownValues(side), caps);
  if (Object.keys(values).length === 0) return rm(side, { force: true });
  await replaceFile(side, `${JSON.stringify(values)}\n`);
}

/** Settings that are not copied: a person sees the cost and decides anew. */
const OF_ITS_RUN = ['try', 'maxCost'];
/** Answers of the ended run are not bought again while they are kept. */
const KEEPING = { maxAge: '30d', maxAgeMissing: '30d', refresh: 'false' };

/**
 * Copies the original of a file in `done/` into a draft; returns its settings as fields of a form.
 * Throws `ConfigError` if the original is gone, and what `Uploads.receive` throws.
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
  const kept = Object.entries({ ...(await ownValues(side)), ...KEEPING }).filter(
    ([key]) => INBOX_KEYS.has(key) && !OF_ITS_RUN.includes(key),
  );
  return { upload, fields: fieldsOf(Object.fromEntries(kept)) };
}

function stays(subject: string, why: string, todo: string): ConfigError {
  return new ConfigError(usageProblem(`the file stays where it is: ${why}`, subject, todo));
}
