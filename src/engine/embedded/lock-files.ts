/**
 * The lock files of PostgreSQL: `postmaster.pid` with the data, and one beside the socket. Removing
 * one under a living server lets a second one destroy the data. Callers hold the start lock, and
 * know of no server on another machine.
 */
import { lstat, readdir, readlink, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isRunning } from '../../core/lifecycle.js';
import { readPlainFile } from '../../core/plain-file.js';
import { machineIdentity } from '../../core/process-identity.js';
import { unfit } from '../store-calls.js';
import type { ServerFolders } from './data-folder.js';
import { HEARTBEAT_MS, readOwner, SOCKET_PORT } from './server-process.js';

/** In the data folder: the process that uses it. */
const PID_FILE = 'postmaster.pid';
const lockFiles = (data: string, sockets: string) => [
  join(data, PID_FILE),
  join(sockets, `.s.PGSQL.${SOCKET_PORT}.lock`),
];

/** As PostgreSQL reads it: the number at the beginning; null: there is none. Pure, for tests. */
export function pidIn(text: string): number | null {
  const pid = Math.abs(Number.parseInt(text, 10));
  return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
}

/**
 * Ends what keeps the data of a server that does not answer. A server whose socket was removed is
 * stopped; a number of a process that is used again by another program after a crash of the machine
 * is forgotten. Only when no foreign server is there.
 */
export async function stopStaleServer({ data }: ServerFolders, sockets: string): Promise<void> {
  const files = lockFiles(data, sockets);
  const pid = pidIn(await readPlainFile(join(data, PID_FILE)).catch(() => ''));
  if (pid === null || pid === 1 || !isRunning(pid)) return;
  const isThere = await worksIn(`/proc/${pid}`, data);
  // Where the process cannot be looked at, PostgreSQL's own judgement stands.
  if (isThere === null) return;
  if (isThere) process.kill(pid, 'SIGINT');
  else for (const path of files) await rm(path, { force: true });
}

/** A server works in its data folder, whatever name it was started by; null: cannot be seen. */
async function worksIn(process: string, data: string): Promise<boolean | null> {
  const [cwd, own] = await Promise.all([`${process}/cwd`, data].map((path) => stat(path).catch(() => null)));
  return cwd && own ? cwd.ino === own.ino && cwd.dev === own.dev : null;
}

/** The guard of a server looks this often whether it has ended, and leaves the folder then. */
const LEFT_WITHIN_MS = 2 * HEARTBEAT_MS;

/**
 * Removes lock files without the number of a process, as a loss of power leaves them: PostgreSQL
 * would never start again. Only when this machine was the last to start a server there and none of
 * its processes has the data open. Callers hold the start lock, and know of no foreign server.
 * Throws {@link unfit} where that cannot be known.
 */
export async function removeEmptyLocks({ home, data }: ServerFolders, sockets: string): Promise<void> {
  const empty: string[] = [];
  for (const path of lockFiles(data, sockets)) {
    const facts = await lstat(path).catch(() => null);
    if (facts === null || facts.isDirectory()) continue;
    if (pidIn(await readPlainFile(path).catch(() => '')) === null) empty.push(path);
  }
  const [first] = empty;
  if (first === undefined) return;
  const refusal = (why: string, todo: string) =>
    unfit(`a lock file of the embedded engine is damaged, and ${why}`, first, todo);
  const remove = `then remove ${empty.join(' and ')} and run again: no answer is lost`;
  if (placeOf(await readOwner(home)) !== placeOf(machineIdentity())) {
    const why = 'the server may run on another machine or in another container';
    throw refusal(why, `make sure that no server uses the folder anywhere, ${remove}`);
  }
  const giveUpAt = performance.now() + LEFT_WITHIN_MS;
  for (;;) {
    const user = await usersOf(data);
    if (user === null) break;
    if (performance.now() > giveUpAt) {
      const who =
        user === '' ? 'whether a process uses the data cannot be seen' : `process ${user} uses the data`;
      throw refusal(who, `end ${user === '' ? 'every postgres process' : 'it'}, ${remove}`);
    }
    await wait(100);
  }
  for (const path of empty) await rm(path, { force: true });
}

/** Boot and namespace of process identifiers; a machine may be given another name. */
const placeOf = (identity: string) => identity.split(' ').slice(1).join(' ');

/** A process that has the folder, or a file in it, open; null: none has; empty: it is unknown. */
async function usersOf(data: string): Promise<string | null> {
  const names = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (names.length === 0) return '';
  const owner = (await stat(data)).uid;
  let isUnknown = false;
  for (const pid of names) {
    const process = `/proc/${pid}`;
    const uid = (await stat(process).catch(() => null))?.uid;
    // Others cannot enter the folder.
    if (uid === undefined || (uid !== owner && uid !== 0)) continue;
    if ((await worksIn(process, data)) === true) return pid;
    const files = await readdir(`${process}/fd`).catch((error: NodeJS.ErrnoException) => error.code ?? '');
    // It has ended meanwhile; or it is root's, whose server has other data.
    if (typeof files === 'string') isUnknown ||= files === 'EACCES' && uid === owner;
    else
      for (const file of files) {
        const target = await readlink(`${process}/fd/${file}`).catch(() => '');
        if (target.startsWith(`${data}/`)) return pid;
      }
  }
  return isUnknown ? '' : null;
}
