/**
 * The files of the private server: `postgres/` in the state folder. An empty ledger and an empty
 * store would buy everything again, so nothing here begins empty where something was before.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, fchmodSync, statSync } from 'node:fs';
import { mkdir, open, readdir, realpath, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BrandEnrichError, errorText, InterruptedError, type RunError } from '../../core/errors.js';
import { assertOwnState, inFolder, makeFolder, ofAnotherUser } from '../../core/folders.js';
import { attempt } from '../../core/lifecycle.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { readPlainFile } from '../../core/plain-file.js';
import { isErrorCode, systemWords } from '../../core/system-error.js';
import { unfit } from '../stores/store-calls.js';
import { isLock } from './folder-lock.js';
import { SERVER_ENV, type ServerBinaries, UnusableDataError } from './server-binaries.js';
import {
  giveFolder,
  giveFolders,
  grantAccess,
  namedUser,
  OR_A_SERVER,
  SERVER_ID,
  type ServerUser,
  STATE,
  takeFolders,
} from './server-user.js';

const run = promisify(execFile);
/** The first letters of what a start has not finished. */
export const DRAFT = 'new-';
export const LOG_FILE = 'server.log';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 } as const;
const INITDB_DEADLINE_MS = 120_000;

/** The role that owns everything; the socket's folder decides who may be it. */
export const SERVER_ROLE = 'brand_enrich';

export type ServerFolders = Readonly<ReturnType<typeof serverFolders>>;

/** `home` is this user's. In root's case its server's user owns data, log and heartbeat in it. */
export function serverFolders(folder: string) {
  // The server, and what tries the folder in its name, would resolve a relative path elsewhere.
  const state = resolve(folder);
  const home = join(state, 'postgres');
  return { state, home, data: join(home, 'data'), log: join(home, LOG_FILE) };
}

/** A state folder with a file of this name has a database that starts empty each time. */
export const FORGETFUL = '.forgets';

/** What runs on another engine leave in a state folder, which they made for their user alone. */
const MADE_BY_RUNS: ReadonlySet<string> = new Set(['runs', 'spool', 'notified', FORGETFUL]);

/** Where root keeps its state when no folder is named: every user may enter it. */
const ROOT_STATE_FOLDER = '/var/lib/brand-enrich';

/**
 * Makes the folders, closed to other users; returns them under their own names. Throws {@link
 * unfit} for a folder that cannot be made or entered, or is another user's or a network's.
 */
export async function prepareServerFolders(named: string, user: ServerUser | null): Promise<ServerFolders> {
  assertOwnState(named);
  let folders = serverFolders(named);
  try {
    // Root's server has no account, and its database is made by a user that has: both pass through.
    // What is inside stays closed.
    const mode = user !== null ? 0o711 : 0o700;
    const isNew = makeFolder(folders.state, mode);
    // One folder has one name for its socket, whatever links lead to it.
    folders = serverFolders(await realpath(folders.state));
    const { state, home } = folders;
    const names = await readdir(state);
    const isOurs =
      isNew || names.includes('postgres') || names.every((name) => MADE_BY_RUNS.has(name) || isLock(name));
    if (isOurs) closeToOthers(state, mode);
    makeFolder(home, mode);
    assertOwnHome(folders);
    // Left by a release whose server owned it.
    if (user !== null) giveFolder(home, { uid: 0, gid: 0 });
    closeToOthers(home, mode);
  } catch (error) {
    if (error instanceof BrandEnrichError) throw error;
    const what = `the state folder cannot be used (${systemWords(error)})`;
    const todo = phrase`make it writable for this user, or use another with ${STATE}`;
    throw unfit(what, folders.state, todo, error);
  }
  await refuseNetwork(folders.home);
  if (user !== null) await grantAccess(folders.home, user, ROOT_STATE_FOLDER);
  return folders;
}

/** A folder that root made for everybody stays as it is. */
function closeToOthers(path: string, mode: number): void {
  inFolder(path, (descriptor, uid) => {
    if (uid === (process.getuid?.() ?? uid)) fchmodSync(descriptor, mode);
  });
}

/** Throws {@link unfit} when another user made the folder of the server. */
export function assertOwnHome({ home }: ServerFolders): void {
  const us = process.getuid?.();
  if (us === undefined) return;
  const uid = inFolder(home, (_, owner) => owner);
  if (uid === us || (us === 0 && uid === SERVER_ID)) return;
  throw ofAnotherUser('the folder of the embedded engine', home, uid);
}

/** By `f_type` of statfs(2): file systems that other machines share, where local locks are void. */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  12805120: 'Ceph',
  1397113167: 'AFS',
};

async function refuseNetwork(folder: string): Promise<void> {
  const { type } = await statfs(folder);
  const name = process.platform === 'linux' ? NETWORK_FILE_SYSTEMS[type >>> 0] : undefined;
  if (name === undefined) return;
  const what = `the state folder is on a network file system (${name}), where a database can be damaged`;
  throw unfit(what, folder, phrase`use a folder on a local disk with ${STATE}, ${OR_A_SERVER}`);
}

/**
 * The state of the data; never replace `unusable` by an empty database. `names`: in the data
 * folder, null without one. `version`: the text of `PG_VERSION`. Pure, for tests.
 */
export function judgeData(names: readonly string[] | null, version: string, wasUsed: boolean) {
  const unusable = (what: string) => ({ type: 'unusable', what }) as const;
  if (names === null)
    return wasUsed
      ? unusable('the database of this state folder is missing, although it was in use before')
      : ({ type: 'none' } as const);
  const major = /^(\d+)\s*$/.exec(version)?.[1];
  if (major !== undefined && names.includes('global') && names.includes('base'))
    return { type: 'ready', major: Number(major) } as const;
  return unusable('the data folder of the embedded engine is damaged, or belongs to another program');
}

/** In `home`: the machine that the server was started on last. */
export const OWNER_FILE = 'owner';

/** In the state folder: it had a database, whatever becomes of `home`. */
const USED_FILE = 'database-in-use';

/** From now on this state folder never starts empty. */
export async function noteUse({ state }: ServerFolders): Promise<void> {
  const path = join(state, USED_FILE);
  const text = 'Without this file, and without the folder postgres, brand-enrich would start empty.\n';
  await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
}

export async function findData({ state, home, data }: ServerFolders) {
  // What this process may not, or cannot now, read is not damaged.
  const assertReadable = (error: unknown) => {
    if (!isErrorCode(error, 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO')) return;
    const what = `the data of the embedded engine cannot be read (${systemWords(error)})`;
    throw unfit(what, data, 'allow this user to read them, then run again');
  };
  const names = await readdir(data).catch((error: unknown) => {
    assertReadable(error);
    return isErrorCode(error, 'ENOENT') ? null : [];
  });
  const version = await readPlainFile(join(data, VERSION_FILE)).catch((error: unknown) => {
    assertReadable(error);
    return '';
  });
  return judgeData(names, version, existsSync(join(home, OWNER_FILE)) || existsSync(join(state, USED_FILE)));
}

const VERSION_FILE = 'PG_VERSION';

export const OR_EMPTY = phrase`${STATE}, or start empty with ${{ setting: 'startEmpty' }}`;
const EMPTY =
  'then all answers are bought again, and `brand-enrich ledger observe --usage N` corrects the usage of ' +
  'this period';
export const UNUSABLE_TODO = phrase`restore it from a backup, use another folder with ${OR_EMPTY}: ${EMPTY}`;

/** The error once the database of a running server has vanished; null while it is there. */
export function lossOfData({ data }: ServerFolders): RunError | null {
  try {
    statSync(join(data, VERSION_FILE));
    return null;
  } catch (error) {
    if (!isErrorCode(error, 'ENOENT', 'ENOTDIR')) return null;
  }
  const what = 'the database of the embedded engine was removed while it was in use';
  return new UnusableDataError(what, data, UNUSABLE_TODO);
}

/** Sets the data aside; deletes nothing. Returns the new place, null when there were no data. */
export async function setAside({ state, home, data }: ServerFolders): Promise<string | null> {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  for (const mark of [join(home, OWNER_FILE), join(state, USED_FILE)]) await rm(mark, { force: true });
  const aside = `${data}.${stamp}`;
  try {
    await rename(data, aside);
    return aside;
  } catch (error) {
    if (!isErrorCode(error, 'ENOENT')) throw error;
    return null;
  }
}

/** Why `initdb` failed: its server's words, else its own, else its last line. Pure, for tests. */
export function initdbFailure(stderr: string): string {
  const reasons = [/(?:FATAL|PANIC|ERROR): {2}(.+)$/m, /^initdb: error: (.+)$/m];
  const known = reasons.flatMap((reason) => reason.exec(stderr)?.[1] ?? []);
  return known[0] ?? stderr.trim().split('\n').at(-1) ?? '';
}

/** Removes what starts left that were killed while they made a database. */
export async function removeDrafts({ home }: ServerFolders, user: ServerUser | null): Promise<void> {
  for (const name of await readdir(home))
    if (name.startsWith(DRAFT)) await removeDraft(join(home, name), user);
}

/** Never rejects: its `initdb` may still be writing, and a later start removes the rest. */
async function removeDraft(path: string, user: ServerUser | null): Promise<void> {
  if (user !== null) attempt(() => takeFolders(path), undefined);
  await rm(path, REMOVAL).catch(() => undefined);
}

/** Makes an empty database, whole or not at all. Throws {@link unfit}, and `InterruptedError`. */
export async function makeData(
  folders: ServerFolders,
  binaries: ServerBinaries,
  user: ServerUser | null,
  stop: AbortSignal,
): Promise<void> {
  // It runs its own programs through a shell, in double quotes.
  if (/["$`\\]/.test(binaries.initdb)) {
    const what = 'PostgreSQL makes no database from a folder with one of " $ ` \\ in its path';
    throw unfit(what, binaries.initdb, phrase`use a folder without them with ${STATE}`);
  }
  const draft = join(folders.home, `${DRAFT}${randomBytes(6).toString('hex')}`);
  const maker = user === null ? null : namedUser();
  const access = ['-U', SERVER_ROLE, '--auth-local=trust', '--auth-host=reject'];
  const args = ['-D', draft, ...access, '--locale=C', '--encoding=UTF8', '--no-instructions'];
  try {
    await mkdir(draft, { mode: 0o700 });
    if (maker !== null) giveFolder(draft, maker);
    const how = { env: SERVER_ENV, cwd: draft, timeout: INITDB_DEADLINE_MS, signal: stop };
    await run(binaries.initdb, args, { ...maker, ...how });
    if (user !== null) {
      takeFolders(draft);
      giveFolders(draft, user);
    }
    await rename(draft, folders.data);
    // A name that was given in a folder stays after a loss of power.
    const home = await open(folders.home);
    await home.sync().finally(() => home.close());
  } catch (error) {
    await assertGoesOn(stop);
    throw initdbError(folders, error);
  } finally {
    await removeDraft(draft, user);
  }
}

/** Throws `InterruptedError` once `stop` is aborted. */
export async function assertGoesOn(stop: AbortSignal): Promise<void> {
  // Ctrl-C reaches the programs that we have started as well: their end may be seen first.
  await setImmediate();
  if (!stop.aborted) return;
  const subject = 'the start of the embedded engine';
  throw new InterruptedError({ code: 'interrupted', subject, todo: 'run the same command again' });
}

function initdbError({ data }: ServerFolders, error: unknown): RunError {
  const { stderr = '' } = error as { stderr?: string };
  const words = initdbFailure(stderr);
  const reason = words === '' ? errorText(error) : words;
  const what = `the database of the embedded engine cannot be created (${reason})`;
  const other = phrase`allow this user to write there, or use another folder with ${STATE}`;
  return unfit(what, data, todoForMachine(stderr) ?? other, error);
}

/** Faults of the machine, by PostgreSQL's words: its data are not to be blamed. */
const MACHINE_FAULTS: readonly (readonly [pattern: RegExp, todo: Phrase])[] = [
  [
    /could not look up effective user/,
    phrase`run as a user that the machine knows by name (/etc/passwd), ${OR_A_SERVER}`,
  ],
  // It opens files for 200 sessions; below about 100 it refuses to start.
  [
    /file descriptors|Too many open files/i,
    'allow this process more open files (ulimit -n 4096), then run again',
  ],
  [/terminated by signal/, 'run again'],
  [/No space left|quota exceeded/i, 'free space on that disk, then run again'],
  [/Read-only file system/i, phrase`use a writable folder with ${STATE}`],
  [
    /Cannot allocate memory|Resource temporarily unavailable|could not (?:fork|map)/i,
    'give this user more memory and processes (ulimit -v, ulimit -u), then run again',
  ],
  [
    /invalid permissions|Operation not permitted|could not (?:bind|create) Unix|could not create any Unix/i,
    phrase`this file system has neither file modes nor sockets: use a folder on a local disk with ${STATE}`,
  ],
  [/Permission denied|wrong ownership/i, 'give its files to the user that owns the folder, then run again'],
  [/could not (?:access|load) (?:file|library)/i, 'install PostgreSQL or brand-enrich again, then run again'],
];

/** The advice for a fault of the machine that PostgreSQL names; undefined for any other. */
export function todoForMachine(words: string): Phrase | undefined {
  return MACHINE_FAULTS.find(([pattern]) => pattern.test(words))?.[1];
}
