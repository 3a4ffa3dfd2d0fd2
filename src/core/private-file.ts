/** Temporary files of this user: nameless once open, or else removed by the next process. */
import { randomBytes } from 'node:crypto';
import { openSync, rmSync } from 'node:fs';
import { lstat, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { attempt, isRunning, succeeds } from './lifecycle.js';

/** Creates a file in `folder`, which must exist. Throws errors of the file system. */
export async function openPrivateFile(folder: string, label: string) {
  const path = privatePath(folder, label);
  const handle = await open(path, 'wx+', 0o600);
  const isNamed = !(await succeeds(rm(path)));
  return {
    handle,
    /** Closes the file and frees its disk space. Safe to call twice. */
    async drop(): Promise<void> {
      await handle.close();
      if (isNamed) await rm(path, { force: true });
    },
  };
}

/** Like {@link openPrivateFile}. Remove `name` after closing; null if the file lost it at once. */
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

/** Removes from `folder` the private files that dead processes left. */
export function removePrivateLeftovers(folder: string): Promise<void> {
  return removeLeftovers(folder, FILE_NAME, 'isFile');
}

/** Removes what dead processes of this user left; `pattern` finds their number. Never rejects. */
export async function removeLeftovers(folder: string, pattern: RegExp, kind: 'isFile' | 'isDirectory') {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = pattern.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    const path = join(folder, name);
    const facts = await lstat(path).catch(() => null);
    if (!facts?.[kind]() || facts.uid !== (process.getuid?.() ?? facts.uid)) continue;
    await rm(path, { recursive: kind === 'isDirectory', force: true }).catch(() => undefined);
  }
}
