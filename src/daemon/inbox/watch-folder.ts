/**
 * Notices that something changed in a folder, by the system's events or by polling. A hint and no more: events get lost,
 * so whoever is woken looks for himself, and looks now and then without being woken.
 */
import { watch } from 'chokidar';
import { errorText } from '../../core/errors.js';
import type { Log } from '../../core/log.js';

export interface FolderWatch {
  close(): Promise<void>;
}

export interface FolderWatchOptions {
  /** How often to look where there are no events (network shares); null: the system's events. */
  readonly pollMs: number | null;
  readonly log: Log;
  readonly onChange: () => void;
}

export function watchFolder(folder: string, { pollMs, log, onChange }: FolderWatchOptions): FolderWatch {
  let isTold = false;
  const watcher = watch(folder, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: false,
    ignorePermissionErrors: true,
    ...(pollMs === null ? {} : { usePolling: true, interval: pollMs, binaryInterval: pollMs }),
  });
  watcher.on('all', onChange);
  watcher.on('error', (error) => {
    // Such as a system that allows too few watches: looking now and then finds the files all the same.
    if (!isTold) log.warn({ folder, reason: errorText(error) }, 'changes of the folder may be noticed late');
    isTold = true;
  });
  return { close: () => watcher.close() };
}
