/**
 * The files of the private server, `postgres/` in the state folder. An empty database would buy
 * every answer again, so a folder that had one never starts empty unasked.
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
/** Prefix of unfinished files and folders. */
export const DRAFT = 'new-';
export const LOG_FILE = 'server.log';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 } as const;
const INITDB_DEADLINE_MS = 120_000;

/** The role that owns everything. Whoever may enter the socket's folder may use it. */
export const SERVER_ROLE = 'brand_enrich';

export type ServerFolders = Readonly<ReturnType<typeof serverFolders>>;

/** Returns the paths. This user owns `home`; for root, the server's user owns the files in it. */
export function serverFolders(folder: string) {
  // Absolute, because the server has another working folder.
  const state = resolve(folder);
  const home = join(state, 'postgres');
  return { state, home, data: join(home, 'data'), log: join(home, LOG_FILE) };
}

/** With a file of this name in the state folder the database starts empty each time. */
export const FORGETFUL = '.forgets';

/** Files in the state folder from runs on other engines, which made it for their user alone. */
const MADE_BY_RUNS: ReadonlySet<string> = new Set(['runs', 'spool', 'notified', FORGETFUL]);

/** Root's default state folder, which every user may enter. */
const ROOT_STATE_FOLDER = '/var/lib/brand-enrich';

/**
 * Makes the folders, closed to other users, and returns their real paths. Throws {@link unfit} for
 * a folder that cannot be made or entered, that another user owns or that is on a network.
 */
export async function prepareServerFolders(named: string, user: ServerUser | null): Promise<ServerFolders> {
  assertOwnState(named);
  let folders = serverFolders(named);
  try {
    // Root's server and the maker of its database run as other users, who must pass through.
    const mode = user !== null ? 0o711 : 0o700;
    const isNew = makeFolder(folders.state, mode);
    // The socket's path comes from the real path, whatever links lead to the folder.
    folders = serverFolders(await realpath(folders.state));
    const { state, home } = folders;
    const names = await readdir(state);
    const isOurs =
      isNew || names.includes('postgres') || names.every((name) => MADE_BY_RUNS.has(name) || isLock(name));
    if (isOurs) closeToOthers(state, mode);
    makeFolder(home, mode);
    assertOwnHome(folders);
    // In an earlier release the server owned it.
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

/** Sets the mode of our own folder. A folder that root made for everybody keeps its mode. */
function closeToOthers(path: string, mode: number): void {
  inFolder(path, (descriptor, uid) => {
    if (uid === (process.getuid?.() ?? uid)) fchmodSync(descriptor, mode);
  });
}

/** Throws {@link unfit} if another user made the folder of the server. */
export function assertOwnHome({ home }: ServerFolders): void {
  const us = process.getuid?.();
  if (us === undefined) return;
  const uid = inFolder(home, (_, owner) => owner);
  if (uid === us || (us === 0 && uid === SERVER_ID)) return;
  throw ofAnotherUser('the folder of the embedded engine', home, uid);
}

/** Network file systems by `f_type` of statfs(2), where locks of this machine do not hold. */
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
 * Judges the data. Never replace `unusable` data by an empty database. `names`: files in the data
 * folder; null if it is missing. `version`: the text of `PG_VERSION`. Pure, for tests.
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

/** A file in `home` that names the machine of the last start. */
export const OWNER_FILE = 'owner';

/** A file in the state folder that says that it had a database, even if `home` is lost. */
const USED_FILE = 'database-in-use';

/** Notes that this state folder has a database, so it never starts empty unasked. */
export async function noteUse({ state }: ServerFolders): Promise<void> {
  const path = join(state, USED_FILE);
  const text = 'Without this file, and without the folder postgres, brand-enrich would start empty.\n';
  await writeFile(path, text, { flag: 'wx', mode: 0o600 }).catch((error: unknown) => {
    if (!isErrorCode(error, 'EEXIST')) throw error;
  });
}

/** Reads and judges the data. Throws {@link unfit} if this process cannot read them. */
export async function findData({ state, home, data }: ServerFolders) {
  // Unreadable data may be intact.
  const assertReadable = (error: unknown) => {
    if (!isErrorCode(error, 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO')) return;
    const what = `the data of the embedded engine cannot be read (${systemWords(error)})`;
    throw unfit(what, data, 'allow this user to read that folder, then run again');
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

/** Returns an error once the database of a running server has vanished, else null. */
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

/** Renames the data folder and deletes nothing. Returns its new path; null if it was missing. */
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

/** Returns why `initdb` failed: the server's words, else its own, else the last line. Pure. */
export function initdbFailure(stderr: string): string {
  const reasons = [/(?:FATAL|PANIC|ERROR): {2}(.+)$/m, /^initdb: error: (.+)$/m];
  const known = reasons.flatMap((reason) => reason.exec(stderr)?.[1] ?? []);
  return known[0] ?? stderr.trim().split('\n').at(-1) ?? '';
}

/** Removes drafts of databases whose makers were killed. */
export async function removeDrafts({ home }: ServerFolders, user: ServerUser | null): Promise<void> {
  for (const name of await readdir(home))
    if (name.startsWith(DRAFT)) await removeDraft(join(home, name), user);
}

/** Never rejects: if `initdb` still writes there, a later start removes the rest. */
async function removeDraft(path: string, user: ServerUser | null): Promise<void> {
  if (user !== null) attempt(() => takeFolders(path), undefined);
  await rm(path, REMOVAL).catch(() => undefined);
}

/** Makes an empty database, whole or not at all. Throws {@link unfit} and `InterruptedError`. */
export async function makeData(
  folders: ServerFolders,
  binaries: ServerBinaries,
  user: ServerUser | null,
  stop: AbortSignal,
): Promise<void> {
  // `initdb` runs its programs through a shell, with their paths in double quotes.
  if (/["$`\\]/.test(binaries.initdb)) {
    const what = 'PostgreSQL cannot be used from a folder with one of " $ ` \\ in its path';
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
    // Makes the rename survive a loss of power.
    const home = await open(folders.home);
    await home.sync().finally(() => home.close());
  } catch (error) {
    await assertNotStopped(stop);
    throw initdbError(folders, error);
  } finally {
    await removeDraft(draft, user);
  }
}

/** Throws `InterruptedError` once `stop` is aborted. */
export async function assertNotStopped(stop: AbortSignal): Promise<void> {
  // Ctrl-C also ends the programs that we started, and we may see their end before the signal.
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

/** Faults of the machine rather than of the data, by PostgreSQL's words. */
const MACHINE_FAULTS: readonly (readonly [pattern: RegExp, todo: Phrase])[] = [
  [
    /could not look up effective user/,
    phrase`run as a user that the machine knows by name (/etc/passwd), ${OR_A_SERVER}`,
  ],
  // PostgreSQL needs files for 200 sessions, and refuses to start with fewer than about 100.
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

/** Returns the remedy for a fault of the machine that PostgreSQL names, else undefined. */
export function todoForMachine(words: string): Phrase | undefined {
  return MACHINE_FAULTS.find(([pattern]) => pattern.test(words))?.[1];
}
