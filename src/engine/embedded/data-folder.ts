/**
 * The files of the private server: `postgres/` in the state folder. An empty ledger and an empty
 * store would buy everything again, so nothing here begins empty where something was before.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, open, readdir, readFile, rename, rm, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { errorText } from '../../core/errors.js';
import { makeFolder } from '../../core/make-folder.js';
import { systemWords } from '../../core/system-error.js';
import { unfit } from '../store-calls.js';
import { SERVER_ENV, type ServerBinaries } from './server-binaries.js';
import {
  admitServerUser,
  changeOwner,
  namedUser,
  OR_A_SERVER,
  SERVER_ID,
  type ServerUser,
} from './server-user.js';

const run = promisify(execFile);
const DRAFT = 'new-';
const REMOVAL = { recursive: true, force: true, maxRetries: 3 } as const;
const INITDB_DEADLINE_MS = 120_000;

/** The role that owns everything; the socket's folder decides who may be it. */
export const SERVER_ROLE = 'brand_enrich';

export type ServerFolders = Readonly<ReturnType<typeof serverFolders>>;

/** `home` is ours, and in root's case the server's user's: lock, log and data. */
export function serverFolders(folder: string) {
  // The server, and what tries the folder in its name, would resolve a relative path elsewhere.
  const state = resolve(folder);
  const home = join(state, 'postgres');
  return { state, home, data: join(home, 'data'), log: join(home, 'server.log') };
}

/** Where root keeps its state when no folder is named: every user may enter it. */
const ROOT_STATE_FOLDER = '/var/lib/brand-enrich';

/**
 * Makes the folders, readable by the server's user alone. Throws {@link unfit} for a folder that
 * cannot be made, is on a network file system, or that the server's user cannot enter.
 */
export async function prepareServerFolders({ state, home }: ServerFolders, user: ServerUser | null) {
  try {
    // Root's server has no account, and its database is made by a user that has: both pass through.
    // What is inside stays closed.
    const mode = user !== null && user.uid === SERVER_ID ? 0o711 : 0o700;
    const isNew = makeFolder(state, mode);
    const names = await readdir(state);
    const isOurs = isNew || names.length === 0 || names.includes('postgres');
    if (isOurs) await chmod(state, mode);
    makeFolder(home, mode);
    await chmod(home, mode);
  } catch (error) {
    const what = `the state folder cannot be used (${systemWords(error)})`;
    throw unfit(what, state, 'make it writable for this user, or use another with --state', error);
  }
  await refuseNetwork(home);
  if (user !== null) await admitServerUser(home, user, ROOT_STATE_FOLDER);
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
  throw unfit(what, folder, `use a folder on a local disk with --state, ${OR_A_SERVER}`);
}

/** The state of the data; never replace `unusable` by an empty database. Pure, for tests. */
export function judgeData(facts: {
  /** Names in the data folder; null: there is no such folder. */
  readonly data: readonly string[] | null;
  /** The text of its `PG_VERSION`; null: it has none. */
  readonly version: string | null;
  /** Whether a server of this folder was started before. */
  readonly wasUsed: boolean;
  /** Where an engine of an earlier release left its database; null: nowhere. */
  readonly olderEngine: string | null;
}) {
  const { data, version, wasUsed, olderEngine } = facts;
  const unusable = (what: string) => ({ type: 'unusable', what }) as const;
  if (data === null) {
    if (wasUsed)
      return unusable('the database of this state folder is missing, although it was in use before');
    if (olderEngine === null) return { type: 'none' } as const;
    return unusable(
      `${olderEngine} contains answers and spending of an earlier release, which this release cannot read`,
    );
  }
  const major = /^(\d+)\s*$/.exec(version ?? '')?.[1];
  if (major !== undefined && data.includes('global') && data.includes('base'))
    return { type: 'ready', major: Number(major) } as const;
  return unusable('the data folder of the embedded engine is damaged, or belongs to another program');
}

/** In `home`: the machine that the server was started on last. */
export const OWNER_FILE = 'owner';

/** A file in the database folder of an earlier release: the database was used. */
const OLDER_MARK = 'database-complete';

/** Root's state was in its home then. */
function olderFolders(state: string): string[] {
  const ofRoot = join(homedir(), '.local', 'state', 'brand-enrich', 'embedded');
  return [join(state, 'embedded'), ...(state === ROOT_STATE_FOLDER ? [ofRoot] : [])];
}

export async function findData({ state, home, data }: ServerFolders) {
  return judgeData({
    data: await readdir(data).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? null : [])),
    version: await readFile(join(data, 'PG_VERSION'), 'utf8').catch(() => null),
    wasUsed: existsSync(join(home, OWNER_FILE)),
    olderEngine: olderFolders(state).find((path) => existsSync(join(path, OLDER_MARK))) ?? null,
  });
}

/** Sets the data aside; deletes nothing. Returns the new place, null when there were no data. */
export async function setAside({ state, home, data }: ServerFolders): Promise<string | null> {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  await rm(join(home, OWNER_FILE), { force: true });
  let aside: string | null = null;
  for (const from of [...olderFolders(state), data]) {
    const to = `${from}.${stamp}`;
    try {
      await rename(from, to);
      aside = to;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return aside;
}

/** Why `initdb` failed: its server's words, else its own, else its last line. Pure, for tests. */
export function initdbFailure(stderr: string): string {
  const reasons = [/(?:FATAL|PANIC|ERROR): {2}(.+)$/m, /^initdb: error: (.+)$/m];
  const known = reasons.flatMap((reason) => reason.exec(stderr)?.[1] ?? []);
  return known[0] ?? stderr.trim().split('\n').at(-1) ?? '';
}

/** Removes what earlier starts left that were killed while they made a database. */
export async function removeDrafts({ home }: ServerFolders): Promise<void> {
  for (const name of await readdir(home)) {
    // Its `initdb` may still be writing there; what cannot be removed yet is removed by a later
    // start.
    if (name.startsWith(DRAFT)) await rm(join(home, name), REMOVAL).catch(() => undefined);
  }
}

/** Makes an empty database, whole or not at all. Throws {@link unfit} with words of `initdb`. */
export async function makeData(folders: ServerFolders, binaries: ServerBinaries, user: ServerUser | null) {
  // It runs its own programs through a shell, in double quotes.
  if (/["$`\\]/.test(binaries.initdb)) {
    const what = 'PostgreSQL makes no database from a folder with one of " $ ` \\ in its path';
    throw unfit(what, binaries.initdb, 'use a folder without them with --state');
  }
  const draft = join(folders.home, `${DRAFT}${randomBytes(6).toString('hex')}`);
  const maker = user === null ? null : namedUser(user);
  const access = ['-U', SERVER_ROLE, '--auth-local=trust', '--auth-host=reject'];
  const args = ['-D', draft, ...access, '--locale=C', '--encoding=UTF8', '--no-instructions'];
  try {
    await mkdir(draft, { mode: 0o700 });
    if (maker !== null) await changeOwner(draft, maker);
    await run(binaries.initdb, args, { ...maker, env: SERVER_ENV, cwd: draft, timeout: INITDB_DEADLINE_MS });
    if (user !== null) await changeOwner(draft, user);
    await rename(draft, folders.data);
    // A name that was given in a folder stays after a loss of power.
    const home = await open(folders.home);
    await home.sync().finally(() => home.close());
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    const words = initdbFailure(stderr);
    const what = `the database of the embedded engine cannot be created (${words === '' ? errorText(error) : words})`;
    const todo = /could not look up effective user/.test(stderr)
      ? `run as a user that the machine knows by name (/etc/passwd), ${OR_A_SERVER}`
      : 'free disk space and allow this user to write there, or use another folder with --state';
    throw unfit(what, folders.data, todo, error);
  } finally {
    await rm(draft, REMOVAL).catch(() => undefined);
  }
}
