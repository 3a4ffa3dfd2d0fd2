/**
 * The folders of an inbox, and the watch on one of them. The watch is a hint only: events get lost,
 * so whoever is woken looks at the folder, and looks now and then without being woken.
 *
 *   inbox/                          where people put files
 *   processing/<watcher>/<job>/     what a watcher is working on
 *   done/<name>-<time>/             the original with its results
 *   waiting/<name>-<time>/          stopped by quota or budget, with the results so far
 *   failed/<name>-<time>/           cannot be processed; reason.txt says why
 */
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { watch } from 'chokidar';
import { errorText, FailFileError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { systemWords } from '../../core/system-error.js';

export const PLACES = ['inbox', 'processing', 'done', 'failed', 'waiting'] as const;
type Place = (typeof PLACES)[number];

export type InboxFolders = Readonly<Record<Place, string>> & {
  /** The watched folder itself, absolute and without symbolic links. */
  readonly root: string;
};

/**
 * Makes what is missing of the folders in `folder`, which must be there.
 * @throws FailFileError `input-missing` when it is not, `output-unwritable` when one of the five
 * cannot be made, is no
 * folder of its own (a link could lead anywhere), or lies on another file system (a file could not
 * be moved in one step).
 */
export async function openFolders(folder: string): Promise<InboxFolders> {
  const root = await realpath(folder).catch((error: unknown) => {
    throw new FailFileError({
      code: 'input-missing',
      what: 'the folder to watch cannot be opened',
      subject: `${folder} (${systemWords(error)})`,
      todo: 'create it, or name another one',
      cause: error,
    });
  });
  const folders = foldersIn(root);
  const { dev } = await lstat(root);
  for (const place of PLACES) {
    const path = folders[place];
    await mkdir(path, { recursive: true }).catch((error: unknown) => {
      throw unfit(path, systemWords(error), 'allow this user to write to the folder', error);
    });
    const stat = await lstat(path);
    if (!stat.isDirectory()) {
      throw unfit(path, 'it is no folder of its own', 'replace the link or file by a folder');
    }
    if (stat.dev !== dev) {
      throw unfit(path, 'it lies on another file system', 'put all five folders on one file system');
    }
  }
  return folders;
}

function foldersIn(root: string): InboxFolders {
  const [inbox, processing, done, failed, waiting] = PLACES.map((place) => join(root, place)) as [
    string,
    string,
    string,
    string,
    string,
  ];
  return { root, inbox, processing, done, failed, waiting };
}

function unfit(path: string, why: string, todo: string, cause?: unknown): FailFileError {
  return new FailFileError({
    code: 'output-unwritable',
    what: 'a folder of the inbox cannot be used',
    subject: `${path} (${why})`,
    todo,
    cause,
  });
}

export interface FolderWatch {
  close(): Promise<void>;
}

interface FolderWatchOptions {
  /** How often to look where there are no events (network shares); null: the system's events. */
  readonly pollMs: number | null;
  readonly log: Log;
  readonly onChange: () => void;
}

export function watchFolder(folder: string, { pollMs, log, onChange }: FolderWatchOptions): FolderWatch {
  let isReported = false;
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
    ...(pollMs === null ? {} : { usePolling: true, interval: pollMs, binaryInterval: pollMs }),
  });
  watcher.on('all', onChange);
  watcher.on('error', (error) => {
    // Such as a system that allows too few watches: looking now and then finds the files all the
    // same.
    if (!isReported)
      log.warn({ folder, reason: errorText(error) }, 'changes of the folder may be noticed late');
    isReported = true;
  });
  return { close: () => watcher.close() };
}
