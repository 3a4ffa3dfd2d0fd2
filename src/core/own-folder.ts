/**
 * Whose folders we work in. The owner of a folder, or of one above it, can replace what is in it by
 * links to other files while we open, change and remove it, and root would do that to any file.
 */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FailFileError } from './errors.js';
import { attempt } from './lifecycle.js';
import { makeFolder } from './make-folder.js';
import { phrase } from './phrase.js';

interface OwnedPath {
  readonly path: string;
  readonly uid: number;
}

/** The owner that another user namespace's files have for us (kernel.overflowuid). */
const UNMAPPED = 65_534;

/**
 * The owner who makes a state folder unusable for user `us`; null: it can be used. Root's has no
 * owner but root on the whole way to it, another user's belongs to that user or root. Pure.
 *
 * @param folder null: it is not there yet.
 * @param above Of the folders above it, and of links on the way.
 */
export function strangerIn(
  us: number,
  folder: OwnedPath | null,
  above: readonly OwnedPath[],
): OwnedPath | null {
  if (folder !== null && folder.uid !== us && folder.uid !== 0) return folder;
  if (us !== 0) return null;
  return above.find(({ uid }) => uid !== 0 && uid !== UNMAPPED) ?? null;
}

/** Throws FailFileError `engine-unfit` for a state folder that is another user's to change. */
export function assertOwnState(state: string): void {
  const us = process.getuid?.();
  if (us === undefined) return;
  const path = resolve(state);
  const target = attempt(() => realpathSync(path), null);
  const [folder] = target === null ? [] : ownersOf(target);
  const above = [...(target === null ? [] : ownersOf(target).slice(1)), ...ownersOf(path)];
  const stranger = strangerIn(us, folder ?? null, above);
  if (stranger !== null) throw ofAnotherUser('the state folder', path, stranger);
}

/** The path and each folder above it, as far as they exist. Links are not followed. */
function ownersOf(path: string): OwnedPath[] {
  const facts = attempt(() => lstatSync(path), null);
  const own = facts === null ? [] : [{ path, uid: facts.uid }];
  const parent = dirname(path);
  return parent === path ? own : [...own, ...ownersOf(parent)];
}

/** `what`: a folder of ours, for the sentence. `stranger`: what belongs to another user there. */
export function ofAnotherUser(what: string, folder: string, stranger: OwnedPath): FailFileError {
  const { path, uid } = stranger;
  const name = nameOf(uid);
  const where = path === folder ? 'belongs' : `is at a place that belongs (${path})`;
  const account = name ?? `'#${uid}'`;
  return new FailFileError({
    code: 'engine-unfit',
    what: `${what} ${where} to another user, ${name ?? `number ${uid}`}`,
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

/**
 * Makes a folder for files of this user alone, and those above it. Throws errors of the file
 * system, and an `Error` for a link and for what belongs to another user.
 */
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
