/**
 * The folders of an inbox, and their one engine, since two would buy every file twice. The first
 * watcher gives both the same random id; an emptied engine takes that of the inbox.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorText, RunError } from '../core/errors.js';
import { makeFolder } from '../core/folders.js';
import { succeeds } from '../core/lifecycle.js';
import { readPlainFile, replaceFile } from '../core/plain-file.js';
import { fileFault, isErrorCode, systemWords } from '../core/system-error.js';
import type { KeyValueStore } from '../engine/stores/key-value-store.js';

export const PLACES = ['inbox', 'processing', 'done', 'failed', 'waiting'] as const;

/** `root` is the watched folder, absolute and without symbolic links. */
export type InboxFolders = Readonly<Record<(typeof PLACES)[number] | 'root', string>>;

/** `own` is the folder of one watcher in `processing`. */
export type WatcherFolders = InboxFolders & { readonly own: string };

/**
 * Makes the missing folders of an inbox, and `folder` only if `isNew`: later it may be a share that
 * is away. Throws RunError: `input-missing` without `folder`; `output-unwritable` for a folder that
 * cannot be made, is a link, or is on another file system, where no file moves in one step.
 */
export async function openFolders(folder: string, isNew = false): Promise<InboxFolders> {
  let root: string;
  try {
    if (isNew) makeFolder(folder);
    root = await realpath(folder);
  } catch (error) {
    const what = 'the folder to watch cannot be opened';
    const subject = `${folder} (${systemWords(error)})`;
    const todo = 'allow this user to create it, or give another one';
    throw new RunError({ code: 'input-missing', what, subject, todo, cause: error });
  }
  const { dev } = await lstat(root);
  const folders: Record<string, string> = { root };
  for (const place of PLACES) {
    const path = join(root, place);
    folders[place] = path;
    try {
      makeFolder(path);
    } catch (error) {
      throw unfit(path, systemWords(error), 'allow this user to write to the folder', error);
    }
    const stat = await lstat(path);
    if (!stat.isDirectory()) throw unfit(path, 'it is a file or a symbolic link', 'replace it with a folder');
    if (stat.dev !== dev)
      throw unfit(path, 'it is on another file system', 'put all five folders on one file system');
  }
  return folders as InboxFolders;
}

/** Returns the error for a folder of an inbox that cannot be used. */
export function unfit(path: string, why: string, todo: string, cause?: unknown): RunError {
  const what = 'a folder of the inbox cannot be used';
  return new RunError({ code: 'output-unwritable', what, subject: `${path} (${why})`, todo, cause });
}

/** Returns a sentence about a fault of taking or moving files: the folder, and what helps. */
export async function whyBlocked(error: unknown): Promise<string> {
  const { path, dest = path } = Object(error) as NodeJS.ErrnoException & { readonly dest?: string };
  const fault = fileFault(error);
  if (fault === null || path === undefined || dest === undefined) return errorText(error);
  // The system does not say which of the two folders refused a move.
  const isFree = await succeeds(access(dirname(dest), constants.W_OK));
  const isBarred = isErrorCode(error, 'EACCES', 'EPERM');
  const advice = isBarred ? 'make it writable for this user' : fault.advice;
  const todo = `${advice}: then the inbox continues by itself`;
  return unfit(dirname(isFree ? path : dest), systemWords(error), todo).message;
}

const ID_FILE = '.brand-enrich-engine';
const SCOPE = 'inboxes';
const NAME = 'engine';

/** Throws `RunError` (`engine-unfit`) if the inbox belongs to another engine. */
export async function assertOneEngine(keyValues: KeyValueStore, root: string): Promise<void> {
  const path = join(root, ID_FILE);
  const ofEngine = async () => (await keyValues.list(SCOPE)).find(({ name }) => name === NAME)?.text;
  const known = await ofEngine();
  const found = await readId(path, known);
  const id = found ?? known ?? randomBytes(12).toString('hex');
  // Of two watchers that begin now, one gives the engine its id.
  if (known === undefined) await keyValues.claim(SCOPE, NAME, id, null);
  const agreed = known ?? (await ofEngine());
  if (found === null && agreed !== undefined) return replaceFile(path, `${agreed}\n`, { isShared: true });
  if (found === agreed) return;
  const todo = `start it with the engine that it had before; to move the inbox to this one: rm ${path}`;
  const what = 'this inbox belongs to another engine';
  throw new RunError({ code: 'engine-unfit', what, subject: root, todo });
}

/** Returns null without a file. A file of another user must have the id of the engine. */
async function readId(path: string, known: string | undefined): Promise<string | null> {
  const read = (options: { isOwn: boolean }) => readPlainFile(path, options).then((text) => text.trim());
  try {
    const id = await read({ isOwn: false });
    return id === known ? id : await read({ isOwn: true });
  } catch (error) {
    if (isErrorCode(error, 'ENOENT')) return null;
    throw error;
  }
}
