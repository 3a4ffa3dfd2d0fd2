/**
 * The user of the private server. PostgreSQL refuses to run as root. For root the server runs under
 * a user id without an account, so only root and the server reach its files and socket.
 */
import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inFolder } from '../../core/folders.js';
import { phrase } from '../../core/phrase.js';
import { systemWords } from '../../core/system-error.js';
import { unfit } from '../stores/store-calls.js';

const run = promisify(execFile);

export const STATE = { setting: 'state' };
export const OR_A_SERVER = phrase`or use a server with ${{ choose: 'engine', example: 'redis://HOST' }}`;

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** Above the ids of people, below those of system services and containers (systemd). */
export const SERVER_ID = 54_329;
const ROOT: ServerUser = { uid: 0, gid: 0 };

/** Returns the server's user; null if the server runs as the user of this process. */
export function serverUser(): ServerUser | null {
  return process.getuid?.() === 0 ? { uid: SERVER_ID, gid: SERVER_ID } : null;
}

/** Returns an account for `initdb`, which needs a user with a name. Throws `engine-unfit`. */
export function namedUser(): ServerUser {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && Number.isSafeInteger(uid) && Number.isSafeInteger(gid));
  const account = accounts.find(({ name }) => name === 'daemon' || name === 'bin') ?? accounts[0];
  if (account !== undefined) return { uid: account.uid, gid: account.gid };
  const what = 'PostgreSQL does not run as root, and this machine has no other account';
  throw unfit(what, '/etc/passwd', phrase`run as another user (docker run --user 1000), ${OR_A_SERVER}`);
}

/** Gives a folder, without its contents, to a user. Throws for a link. */
export function giveFolder(path: string, { uid, gid }: ServerUser): void {
  inFolder(path, (descriptor) => fchownSync(descriptor, uid, gid));
}

/** Gives folders to root, the outermost first, so that nobody can add links while root works. */
export function takeFolders(path: string): void {
  inFolder(path, (descriptor) => {
    fchownSync(descriptor, ROOT.uid, ROOT.gid);
    fchmodSync(descriptor, 0o700);
  });
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) takeFolders(join(path, entry.name));
}

/** Gives root's folders and the files in them to a user, the innermost first. */
export function giveFolders(path: string, user: ServerUser): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) giveFolders(join(path, entry.name), user);
    else grantFile(join(path, entry.name), constants.O_RDONLY, user);
  }
  giveFolder(path, user);
}

/**
 * Makes a file private, gives it to `user` unless null, and returns its size. Throws for anything
 * but a regular file with one name: a link, a pipe, a hard link.
 */
export function grantFile(path: string, flags: number, user: ServerUser | null): number {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const descriptor = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const facts = fstatSync(descriptor);
    if (!facts.isFile()) throw new Error('it is not a regular file');
    if (facts.nlink !== 1) throw new Error('it has a second name, a hard link');
    fchmodSync(descriptor, 0o600);
    if (user !== null) fchownSync(descriptor, user.uid, user.gid);
    return facts.size;
  } finally {
    closeSync(descriptor);
  }
}

/** Throws `engine-unfit` if the server's user cannot enter the folder. */
export async function grantAccess(folder: string, user: ServerUser, fallback: string): Promise<void> {
  try {
    await run('/bin/sh', ['-c', 'exit 0'], { ...user, cwd: '/' });
  } catch (error) {
    const what = `root is not allowed to start a server as another user here (${systemWords(error)})`;
    const todo = phrase`run as an ordinary user (docker run --user 1000), ${OR_A_SERVER}`;
    throw unfit(what, folder, todo, error);
  }
  const looked = run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...user, cwd: '/' });
  await looked.catch(() => {
    const what = 'PostgreSQL does not run as root, and no other user can enter this state folder';
    const other = { set: { state: fallback } };
    const todo = phrase`use ${other}, or allow others to enter the folders above it (chmod o+x)`;
    throw unfit(what, folder, todo);
  });
}
