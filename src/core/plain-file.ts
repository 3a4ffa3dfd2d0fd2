/** Small files of others. Only regular ones are read: opening a named pipe could block forever. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { type FileHandle, open, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The most bytes that are read; real files of this sort are far smaller. */
export const PLAIN_BYTES_AT_MOST = 1_048_576;

/** Returns the descriptor of this process that a path names, as `<(command)` does; else null. */
export function ownDescriptor(path: string): number | null {
  if (path === '/dev/stdin') return 0;
  const number = /^(?:\/dev\/fd\/|\/proc\/self\/fd\/)(\d+)$/.exec(path)?.[1];
  return number === undefined ? null : Number(number);
}

/** True for a named pipe: opening one to write blocks, deaf to signals, until it has a reader. */
export function isNamedPipe(path: string): boolean {
  return ownDescriptor(path) === null && statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/** Opens a regular file. `followsLinks` is for paths of the user, not where others may write. */
export async function openPlainFile(path: string, options: { followsLinks: boolean }): Promise<FileHandle> {
  const handle = await open(path, flagsFor(options.followsLinks)).catch((error: unknown) => {
    throw inWords(error);
  });
  try {
    refuseOthers(await handle.stat());
  } catch (error) {
    await handle.close();
    throw error;
  }
  return handle;
}

/** Reads a file where others may write, following no link; `isOwn` requires this user as owner. */
export async function readPlainFile(path: string, { isOwn = false } = {}): Promise<string> {
  const handle = await openPlainFile(path, { followsLinks: false });
  try {
    const { size, uid } = await handle.stat();
    if (isOwn && uid !== (process.getuid?.() ?? uid)) throw new Error(OF_ANOTHER);
    const buffer = Buffer.allocUnsafe(Math.min(size, PLAIN_BYTES_AT_MOST) + 1);
    let length = 0;
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
      length += bytesRead;
      if (length > PLAIN_BYTES_AT_MOST) throw tooLarge();
      if (bytesRead === 0 || length === buffer.length) return buffer.toString('utf8', 0, length);
    }
  } finally {
    await handle.close();
  }
}

/**
 * Reads a file that the user named, or a pipe of this process. `isFound` is for a file that nobody
 * named: the file, and a link to it, must belong to this user or root.
 */
export function readPlainFileSync(path: string, { isFound = false } = {}): string {
  const isOwn = ownDescriptor(path) !== null;
  const descriptor = openSync(path, isOwn ? 'r' : flagsFor(true));
  try {
    const facts = fstatSync(descriptor);
    if (!isOwn) refuseOthers(facts);
    if (isFound && [facts, lstatSync(path)].some(isOfStranger)) throw new Error(OF_ANOTHER);
    const buffer = Buffer.allocUnsafe(PLAIN_BYTES_AT_MOST + 1);
    let length = 0;
    for (;;) {
      const bytesRead = readSync(descriptor, buffer, length, buffer.length - length, null);
      if (bytesRead === 0) return buffer.toString('utf8', 0, length);
      length += bytesRead;
      if (length > PLAIN_BYTES_AT_MOST) throw tooLarge();
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Systems without one of these flags have no such links or pipes. */
function flagsFor(followsLinks: boolean): number {
  return constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (followsLinks ? 0 : (constants.O_NOFOLLOW ?? 0));
}

function refuseOthers(stat: Stats): void {
  if (!stat.isFile()) throw new Error(stat.isDirectory() ? 'it is a folder' : NOT_A_FILE);
}

/** True if neither this process's user nor root owns the file. */
export function isOfStranger({ uid }: Pick<Stats, 'uid'>): boolean {
  const us = process.getuid?.();
  return us !== undefined && uid !== us && uid !== 0;
}

const OF_ANOTHER = 'it belongs to another user';
const NOT_A_FILE = 'it is not a regular file';

function inWords(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ELOOP' || code === 'EMLINK') return new Error('it is a symbolic link');
  return code === 'ENXIO' ? new Error(NOT_A_FILE) : error;
}

function tooLarge(): Error {
  return new Error('it is larger than 1 MB');
}

/**
 * Replaces a file in one step, flushed to disk; a link is replaced and never written through. The
 * next call removes the draft of a killed one. `isShared` gives drafts random names, for files that
 * others may replace at the same moment. Throws errors of the file system.
 */
export async function replaceFile(
  path: string,
  text: string,
  { mode = 0o666, isShared = false }: { readonly mode?: number; readonly isShared?: boolean } = {},
): Promise<void> {
  const unique = isShared ? randomBytes(6).toString('hex') : 'new';
  const draft = join(dirname(path), `.${basename(path)}.${unique}`);
  try {
    if (!isShared) await rm(draft, { force: true });
    await writeFile(draft, text, { flag: 'wx', mode, flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}
