/**
 * The lock files of PostgreSQL: `postmaster.pid` in the data folder, and one beside the socket. If
 * one is removed while its server lives, a second server can destroy the data. So callers hold the
 * start lock and have checked that no other machine runs a server here.
 */
import { lstat, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isRunning } from '../../core/lifecycle.js';
import { readPlainFile } from '../../core/plain-file.js';
import { unfit } from '../stores/store-calls.js';
import type { ServerFolders } from './data-folder.js';
import { SOCKET_PORT } from './server-process.js';

const PID_FILE = 'postmaster.pid';
const lockFiles = (data: string, sockets: string) => [
  join(data, PID_FILE),
  join(sockets, `.s.PGSQL.${SOCKET_PORT}.lock`),
];

/** Returns the process id in a lock file, or null. Pure, for tests. */
export function pidIn(text: string): number | null {
  const pid = Math.abs(Number.parseInt(text, 10));
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}

/**
 * Ends a server whose socket was removed. If the process id of the lock belongs to another program
 * since a crash of the machine, removes the lock files instead.
 */
export async function stopStaleServer({ data }: ServerFolders, sockets: string): Promise<void> {
  const files = lockFiles(data, sockets);
  const pid = pidIn(await readPlainFile(join(data, PID_FILE)).catch(() => ''));
  if (pid === null || pid === 1 || !isRunning(pid)) return;
  const isServer = await worksIn(`/proc/${pid}`, data);
  // If the process cannot be examined, PostgreSQL decides.
  if (isServer === null) return;
  if (isServer) process.kill(pid, 'SIGINT');
  else for (const path of files) await rm(path, { force: true });
}

/** True if `data` is the working folder of a process, as of a server; null if it is hidden. */
async function worksIn(process: string, data: string): Promise<boolean | null> {
  const [cwd, own] = await Promise.all([`${process}/cwd`, data].map((path) => stat(path).catch(() => null)));
  return cwd && own ? cwd.ino === own.ino && cwd.dev === own.dev : null;
}

/** Even on a slow disk, a new server writes its process id within this time. */
const WRITTEN_WITHIN_MS = 5_000;

/** Throws {@link unfit} for a lock file that stays empty, as after a loss of power. */
export async function refuseEmptyLocks({ data }: ServerFolders, sockets: string): Promise<void> {
  const giveUpAt = performance.now() + WRITTEN_WITHIN_MS;
  for (;;) {
    const empty: string[] = [];
    for (const path of lockFiles(data, sockets)) {
      const facts = await lstat(path).catch(() => null);
      if (facts === null || facts.isDirectory()) continue;
      if (pidIn(await readPlainFile(path).catch(() => '')) === null) empty.push(path);
    }
    if (empty.length === 0) return;
    if (performance.now() > giveUpAt) {
      const what = 'a lock file of the embedded engine is empty, as after a power cut';
      const remove = `rm ${empty.join(' ')} and run again: no answer is lost`;
      throw unfit(what, data, `make sure that no postgres process is running, then ${remove}`);
    }
    await wait(100);
  }
}
