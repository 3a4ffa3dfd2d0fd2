/** Whose folders we work in, and folders for this user alone. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { FailFileError } from './errors.js';
import { attempt } from './lifecycle.js';
import { makeFolder } from './make-folder.js';
import { phrase } from './phrase.js';

/** Throws `engine-unfit` for a state folder of another user, who can put links into it. */
export function assertOwnState(state: string): void {
  const us = process.getuid?.();
  const owner = attempt(() => statSync(state).uid, null);
  if (us === undefined || owner === null || owner === us || owner === 0) return;
  throw ofAnotherUser('the state folder', resolve(state), owner);
}

/** `what`: a folder of ours, for the sentence. `uid`: its owner. */
export function ofAnotherUser(what: string, folder: string, uid: number): FailFileError {
  const name = nameOf(uid);
  const account = name ?? `'#${uid}'`;
  return new FailFileError({
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

/** Makes a folder for this user alone. Throws for a link, and for what belongs to another user. */
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
