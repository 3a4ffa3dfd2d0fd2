/**
 * Temporary files that only this user can read. One has no name as soon as it is open, so whatever
 * ends the process, nothing stays on disk. Where the system does not allow that, the name says
 * whose it is, and the next process removes it.
 */
import { randomBytes } from 'node:crypto';
import { openSync, rmSync } from 'node:fs';
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, isRunning, succeeds } from './lifecycle.js';

export type PrivateFile = Awaited<ReturnType<typeof openPrivateFile>>;

/** Creates a file in `folder`, which must be there. Throws errors of the file system. */
export async function openPrivateFile(folder: string, label: string) {
  const path = privatePath(folder, label);
  const handle = await open(path, 'wx+', 0o600);
  const isNamed = !(await succeeds(rm(path)));
  return {
    handle,
    /** Closes it and frees its disk space. Safe to call twice. */
    async drop(): Promise<void> {
      // A closed handle may be closed again.
      await handle.close();
      if (isNamed) await rm(path, { force: true });
    },
  };
}

/** The same by descriptor. `name`: to be removed after closing; null: it has none any more. */
export function openPrivateFileSync(folder: string, label: string): { fd: number; name: string | null } {
  const path = privatePath(folder, label);
  const fd = openSync(path, 'wx+', 0o600);
  const isNamed = attempt(() => [rmSync(path)], null) === null;
  return { fd, name: isNamed ? path : null };
}

function privatePath(folder: string, label: string): string {
  return join(folder, `${label}-${process.pid}-${randomBytes(6).toString('hex')}.spool`);
}

const FILE_NAME = /^[a-z]+-(\d+)-[0-9a-f]{12}\.spool$/;
/** Folders of earlier versions, one for each run, with files that kept their names. */
const FOLDER_NAME = /^(?:plan-)?(\d+)-[0-9a-f]{8}$/;

/**
 * Removes from `folder` what dead processes of this machine left there: private files that could
 * not lose their names, and whole folders of earlier versions. Links, and what belongs to another
 * user, are left alone. Never rejects.
 */
export async function removePrivateLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const facts = await lstat(path).catch(() => null);
    if (facts === null || facts.uid !== (process.getuid?.() ?? facts.uid)) continue;
    const pid = Number((facts.isFile() ? FILE_NAME : FOLDER_NAME).exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || !(facts.isFile() || facts.isDirectory())) continue;
    // In a container every process may have the same number; this version makes no such folder.
    const isOwnNumber = facts.isDirectory() && pid === process.pid;
    if (isOwnNumber || !isRunning(pid))
      await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}
