/** Makes folders, and checks who owns them. */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { RunError } from './errors.js';
import { attempt } from './lifecycle.js';
import { phrase } from './phrase.js';
import { isErrorCode, systemWords } from './system-error.js';

/** Makes a folder and its parents; false if it was there. A recursive `mkdir` hangs below /proc. */
export function makeFolder(path: string, mode = 0o777): boolean {
  try {
    mkdirSync(path, mode);
    return true;
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
    const parent = dirname(path);
    if (!isErrorCode(error, 'ENOENT') || existsSync(parent)) throw error;
    makeFolder(parent, mode);
    return makeFolder(path, mode);
  }
}

/** Makes a private temporary folder in the first usable base. Throws `output-unwritable`. */
export async function makeTemporaryFolder(prefix: string, bases = [tmpdir()]): Promise<string> {
  const failures: string[] = [];
  for (const base of bases) {
    try {
      return await mkdtemp(join(base, prefix));
    } catch (error) {
      failures.push(`${base} (${systemWords(error)})`);
    }
  }
  const what = 'the temporary folder cannot be used';
  const todo = 'set TMPDIR to a folder that exists and that this user may write to';
  throw new RunError({ code: 'output-unwritable', what, subject: failures.join(', '), todo });
}

/** Throws `engine-unfit` for a state folder of another user, who could put links into it. */
export function assertOwnState(state: string): void {
  const us = process.getuid?.();
  const owner = attempt(() => statSync(state).uid, null);
  if (us === undefined || owner === null || owner === us || owner === 0) return;
  throw ofAnotherUser('the state folder', resolve(state), owner);
}

/** Returns the error for a folder of another user: `what` names it, `uid` owns it. */
export function ofAnotherUser(what: string, folder: string, uid: number): RunError {
  const name = nameOf(uid);
  const account = name ?? `'#${uid}'`;
  return new RunError({
    code: 'engine-unfit',
    what: `${what} belongs to another user, ${name ?? `number ${uid}`}`,
    subject: folder,
    todo: phrase`run as that user (sudo -u ${account} brand-enrich ...; in a container --user ${
      uid
    }), or use another folder with ${{ setting: 'state' }}`,
  });
}

function nameOf(uid: number): string | null {
  const lines = attempt(() => readFileSync('/etc/passwd', 'utf8').split('\n'), []);
  const line = lines.find((each) => Number(each.split(':')[2] || Number.NaN) === uid);
  return line?.split(':')[0] ?? null;
}

/** Makes a folder for this user alone. Throws for a link, and for a folder of another user. */
export function makePrivateFolder(path: string): void {
  makeFolder(path, 0o700);
  inFolder(path, (descriptor, uid) => {
    if (uid !== (process.getuid?.() ?? uid)) throw new Error('it belongs to another user');
    fchmodSync(descriptor, 0o700);
  });
}

/** Calls `use` with the open folder and its owner. Throws for a link. */
export function inFolder<T>(path: string, use: (descriptor: number, uid: number) => T): T {
  const descriptor = openFolder(path);
  try {
    return use(descriptor, fstatSync(descriptor).uid);
  } finally {
    closeSync(descriptor);
  }
}

function openFolder(path: string): number {
  const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    if (!attempt(() => lstatSync(path).isSymbolicLink(), false)) throw error;
    throw new Error('it is a symbolic link', { cause: error });
  }
}
