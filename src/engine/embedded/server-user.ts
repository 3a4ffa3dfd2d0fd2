/**
 * The user that the private server runs as. PostgreSQL refuses to run as root, so for root it runs
 * under a number that no account of the machine has: nobody but root and the server itself can then
 * read its files or reach its socket.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chown, lchown, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemWords } from '../../core/system-error.js';
import { unfit } from '../store-calls.js';

const run = promisify(execFile);

export const OR_A_SERVER = 'or use a server with --engine redis://...';

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Above the numbers that are given to people and below those that system services and containers
 * use (systemd, Users, Groups, UIDs and GIDs on systemd Systems).
 */
export const SERVER_ID = 54_329;

/**
 * null: the server runs as the user of this process. Root's server runs as the owner of a folder
 * that an ordinary user has, so that one look by root does not take the folder away from its owner.
 *
 * @param folders From the innermost: the first that exists decides.
 */
export async function serverUser(folders: readonly string[]): Promise<ServerUser | null> {
  if (process.getuid?.() !== 0) return null;
  const known = await Promise.all(folders.map((folder) => stat(folder).catch(() => null)));
  const first = known.find((facts) => facts !== null);
  if (first && first.uid !== 0) return { uid: first.uid, gid: first.gid };
  return { uid: SERVER_ID, gid: SERVER_ID };
}

/**
 * An account for `initdb`, which wants a name for its user and runs before there is anything to
 * protect: the server's own user where it has a name. Throws {@link FailFileError} `engine-unfit`
 * on a machine without one.
 */
export function namedUser({ uid: ownUid }: ServerUser): ServerUser {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && Number.isSafeInteger(uid) && Number.isSafeInteger(gid));
  const account =
    accounts.find(({ uid }) => uid === ownUid) ??
    accounts.find(({ name }) => name === 'daemon' || name === 'bin') ??
    accounts[0];
  if (account !== undefined) return { uid: account.uid, gid: account.gid };
  const what = 'PostgreSQL does not run as root, and this machine has no other account';
  throw unfit(what, '/etc/passwd', `run as another user (docker run --user 1000), ${OR_A_SERVER}`);
}

/** Gives a folder and all in it to a user. A link itself changes hands, never what it points to. */
export async function changeOwner(folder: string, { uid, gid }: ServerUser): Promise<void> {
  const entries = await readdir(folder, { recursive: true });
  for (const name of entries) await lchown(join(folder, name), uid, gid);
  await lchown(folder, uid, gid);
}

/**
 * Gives one of our folders to the server's user and checks that it can work there. Throws {@link
 * FailFileError} `engine-unfit`: root may not become another user here, or the folder lies below
 * one that only root may enter.
 */
export async function admitServerUser(folder: string, user: ServerUser, fallback: string): Promise<void> {
  try {
    await chown(folder, user.uid, user.gid);
    await run('/bin/sh', ['-c', 'exit 0'], { ...user, cwd: '/' });
  } catch (error) {
    const what = `root is not allowed to start a server as another user here (${systemWords(error)})`;
    throw unfit(what, folder, `run as an ordinary user (docker run --user 1000), ${OR_A_SERVER}`, error);
  }
  const looked = run('/bin/sh', ['-c', 'cd "$1" && test -w .', 'sh', folder], { ...user, cwd: '/' });
  await looked.catch(() => {
    const what = 'PostgreSQL does not run as root, and no other user can enter this state folder';
    const todo = `use --state ${fallback}, or allow others to enter the folders above it (chmod o+x)`;
    throw unfit(what, folder, todo);
  });
}
