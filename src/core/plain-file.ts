/** Small files of others: only regular ones are read, since a named pipe waits without end. */
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

/** Such files are far smaller. */
export const PLAIN_BYTES_AT_MOST = 1_048_576;

/** The descriptor of this process that the path names, as a shell's `<(command)`; else null. */
export function ownDescriptor(path: string): number | null {
  if (path === '/dev/stdin') return 0;
  const number = /^(?:\/dev\/fd\/|\/proc\/self\/fd\/)(\d+)$/.exec(path)?.[1];
  return number === undefined ? null : Number(number);
}

/** Whether opening the path to write would block, ignoring signals, until it has a reader. */
export function isNamedPipe(path: string): boolean {
  return ownDescriptor(path) === null && statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

/** Opens a regular file. `followsLinks`: the path is the user's own, not where others may write. */
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

/** Reads a file where others may write; no link is followed. `isOwn`: it must be this user's. */
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
 * Reads a file that the user named, or a pipe of this process. `isFound`: nobody named it, so it
 * and a link to it must be the user's or root's.
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

/** Systems without one of these have no such links and pipes. */
function flagsFor(followsLinks: boolean): number {
  return constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (followsLinks ? 0 : (constants.O_NOFOLLOW ?? 0));
}

function refuseOthers(stat: Stats): void {
  if (!stat.isFile()) throw new Error(stat.isDirectory() ? 'it is a folder' : NOT_A_FILE);
}

/** Whether its owner is neither root nor the user of this process. */
export function isOfStranger({ uid }: Pick<Stats, 'uid'>): boolean {
  const us = process.getuid?.();
  return us !== undefined && uid !== us && uid !== 0;
}

const OF_ANOTHER = 'it belongs to another user';
const NOT_A_FILE = 'it is not a regular file';

function inWords(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ELOOP' || code === 'EMLINK') return new Error('it is a symbolic link', { cause: error });
  return code === 'ENXIO' ? new Error(NOT_A_FILE) : error;
}

function tooLarge(): Error {
  return new Error('it is larger than 1 MB');
}

/**
 * Replaces any entry of this name in one step, also a link, through which others could have it
 * written elsewhere. The text is on the disk then. What a kill leaves is written anew by the next
 * call; `isShared`: others may replace it at the same moment, so the name of the draft is random.
 * Throws errors of the file system.
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
