/**
 * The embedded engine's part of the state folder: `embedded/`, with the lock's sockets, the database's files and a
 * mark that the database was once made completely.
 */
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FailFileError } from '../../errors.js';
import { systemWords } from '../../system-error.js';

/** Where the sockets of the lock are. */
export function lockFolderOf(stateFolder: string): string {
  return join(stateFolder, 'embedded');
}

/**
 * Makes the folders, readable by this user alone. A state folder that was there and holds other things keeps its mode;
 * ours inside it is closed all the same. Throws {@link FailFileError} `engine-unfit`.
 */
export async function prepareStateFolder(stateFolder: string): Promise<void> {
  try {
    await mkdir(stateFolder, { recursive: true, mode: 0o700 });
    const names = await readdir(stateFolder);
    if (names.length === 0 || names.includes('embedded')) await chmod(stateFolder, 0o700);
    await mkdir(lockFolderOf(stateFolder), { recursive: true, mode: 0o700 });
    await chmod(lockFolderOf(stateFolder), 0o700);
  } catch (error) {
    throw new FailFileError({
      code: 'engine-unfit',
      what: `the state folder cannot be used (${systemWords(error)})`,
      subject: stateFolder,
      todo: 'make it writable for this user, or name another with --state',
      cause: error,
    });
  }
}

export interface DatabaseFolder {
  readonly path: string;
  readonly isNew: boolean;
  /** Notes that the database is complete. What has no mark was cut short while it was made, and is made again. */
  markComplete(): Promise<void>;
}

/** Only for who holds the lock: the rest of an unfinished database is removed. */
export async function openDatabaseFolder(stateFolder: string): Promise<DatabaseFolder> {
  const path = join(lockFolderOf(stateFolder), 'database');
  const mark = join(lockFolderOf(stateFolder), 'database-complete');
  const isNew = !(await exists(mark));
  if (isNew) await rm(path, { recursive: true, force: true });
  return {
    path,
    isNew,
    async markComplete() {
      if (isNew) await writeFile(mark, '', { mode: 0o600 });
    },
  };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
