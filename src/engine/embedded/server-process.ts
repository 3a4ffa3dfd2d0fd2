/** One start of the private server, and checks of a silent one. Callers hold the start lock. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { constants, existsSync, fchmodSync, fchownSync } from 'node:fs';
import { rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { RunError } from '../../core/errors.js';
import { inFolder, makeFolder } from '../../core/folders.js';
import { phrase } from '../../core/phrase.js';
import { openPlainFile, readPlainFile } from '../../core/plain-file.js';
import { machineIdentity } from '../../core/process-identity.js';
import { systemWords } from '../../core/system-error.js';
import { unfit } from '../stores/store-calls.js';
import { DRAFT, LOG_FILE, OWNER_FILE, type ServerFolders } from './data-folder.js';
import { LONGEST_PATH } from './folder-lock.js';
import { SERVER_ENV, type ServerBinaries } from './server-binaries.js';
import { grantFile, type ServerUser, STATE } from './server-user.js';

/** Part of the name of the socket's file: nothing listens on a port. */
export const SOCKET_PORT = 5432;
const LOG_BYTES_AT_MOST = 1_048_576;

function serverSettings(major: number): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: '200',
    // No server is a copy of this one, and its log need not hold what a second one would want.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '128MB',
    shared_buffers: '24MB',
    huge_pages: 'off',
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    max_logical_replication_workers: '0',
    // In containers /dev/shm has 64 MB.
    dynamic_shared_memory_type: 'mmap',
    // So a package that is replaced under a running server breaks no session.
    shared_preload_libraries: 'plpgsql',
    fsync: 'on',
    synchronous_commit: 'on',
    ...(process.platform === 'darwin' ? { wal_sync_method: 'fsync_writethrough' } : {}),
    // Helpers that read ahead for large scans, from 18 on.
    ...(major >= 18 ? { io_method: 'sync' } : {}),
    // Starts, stops and crashes. Statements hold identifiers, which do not belong into a log.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_min_error_statement: 'panic',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}

/**
 * Returns the folder of the socket: that of the data, or a short one in `/tmp`. Throws
 * `engine-unfit` when another user made that one.
 */
export function socketFolder({ data }: ServerFolders, user: ServerUser | null): string {
  if (Buffer.byteLength(join(data, `.s.PGSQL.${SOCKET_PORT}.lock`)) <= LONGEST_PATH) return data;
  const uid = process.getuid?.() ?? 0;
  // This user's: no other can replace what is in it.
  const base = `/tmp/brand-enrich-${uid}`;
  const folder = join(base, createHash('sha256').update(data).digest('hex').slice(0, 16));
  try {
    ownFolder(base, uid, user === null ? 0o700 : 0o711, null);
    ownFolder(folder, user?.uid ?? uid, 0o700, user);
  } catch (error) {
    const what = `the socket folder of the embedded engine cannot be used (${systemWords(error)})`;
    const todo = phrase`remove ${base}, or use a state folder with a shorter path with ${STATE}`;
    throw unfit(what, folder, todo, error);
  }
  return folder;
}

/** Makes a folder that only its owner uses. Throws for a link, and for a folder of another user. */
function ownFolder(path: string, owner: number, mode: number, user: ServerUser | null): void {
  makeFolder(path, mode);
  inFolder(path, (descriptor, uid) => {
    // Another process of this user may be making it.
    if (uid !== owner && uid !== process.getuid?.()) throw new Error('it belongs to another user');
    if (user !== null) fchownSync(descriptor, user.uid, user.gid);
    fchmodSync(descriptor, mode);
  });
}

/**
 * `running`: the process lives on. `ended`: without a reason of its own; it may start at another
 * try. `damaged`: PostgreSQL itself refuses these files, or the machine keeps it from using them.
 */
export type StartResult =
  | { readonly type: 'running' }
  | { readonly type: 'ended' | 'failed' | 'damaged'; readonly reason: string };

/** Written to every {@link HEARTBEAT_MS} as long as the server lives. */
export const HEARTBEAT_FILE = 'heartbeat';
export const HEARTBEAT_MS = 5_000;
/** A server that is ready and that nothing watches is ended after this time. */
const UNWATCHED_MS = 45_000;

/**
 * A shell that leaves a guard behind and becomes the server: its starter may be killed before it
 * has a session to watch from. The guard touches the heartbeat, and ends a server whose watch
 * writes no new text there; an empty text is that of a full disk. It is no child of the server,
 * which would take its end for a crash.
 */
const GUARDED_START = `
umask 077
exec >>../${LOG_FILE} 2>&1
echo unwatched >../${HEARTBEAT_FILE}
( (
  seen=unwatched looks=0
  while sleep ${HEARTBEAT_MS / 1000} && kill -0 $$; do
    touch ../${HEARTBEAT_FILE}
    text=$(cat ../${HEARTBEAT_FILE})
    [ "$text" = "$seen" ] || looks=0
    seen=$text
    [ "$text" ] || { looks=0; echo unwatched >../${HEARTBEAT_FILE}; }
    case $(cat postmaster.pid) in "$$
"*"
ready"*) looks=$((looks + 1)) ;; esac
    [ $looks -le ${UNWATCHED_MS / HEARTBEAT_MS} ] || kill -INT $$
  done
) >/dev/null 2>&1 & )
exec "$@"`;

/** Starts the server and waits until `answers` is true, or until it has ended. */
export async function startServer(
  folders: ServerFolders,
  sockets: string,
  binaries: ServerBinaries,
  user: ServerUser | null,
  answers: () => Promise<boolean>,
): Promise<StartResult> {
  const { data, log, home } = folders;
  // For other machines and containers that see the same folder. Replaced, not opened.
  const draft = join(home, `${DRAFT}${OWNER_FILE}-${randomBytes(6).toString('hex')}`);
  await writeFile(draft, `${machineIdentity()}\n`, { flag: 'wx', mode: 0o600 });
  await rename(draft, join(home, OWNER_FILE));
  const size = await openLog(folders, user);
  // A list: without quotes a comma in the path would end it.
  const quoted = `"${sockets.replaceAll('"', '""')}"`;
  const settings = { ...serverSettings(binaries.major), unix_socket_directories: quoted };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // It opens its log as its own user. A reader of our output to its end would wait for the server.
  const child = spawn('/bin/sh', ['-c', GUARDED_START, 'sh', binaries.postgres, '-D', data, ...args], {
    ...user,
    cwd: data,
    env: SERVER_ENV,
    detached: true,
    stdio: 'ignore',
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  child.unref();
  for (;;) {
    if (await answers()) return { type: 'running' };
    const end = await Promise.race([ended, wait(10, null)]);
    if (end === null) continue;
    return judgeStart(await readFrom(log, size), end);
  }
}

/** Makes log and heartbeat, as files of the server's user alone. Returns the size of the log. */
async function openLog({ log, home }: ServerFolders, user: ServerUser | null): Promise<number> {
  const { O_WRONLY, O_CREAT } = constants;
  const grant = (path: string) => {
    try {
      return grantFile(path, O_WRONLY | O_CREAT, user);
    } catch (error) {
      const what = `a file of the embedded engine cannot be used (${systemWords(error)})`;
      throw unfit(what, path, 'remove it, then run again: no answer is lost', error);
    }
  };
  grant(join(home, HEARTBEAT_FILE));
  const size = grant(log);
  if (size <= LOG_BYTES_AT_MOST) return size;
  await rename(log, `${log}.1`);
  return grant(log);
}

/** Returns what the log has beyond this size. */
async function readFrom(log: string, size: number): Promise<string> {
  const handle = await openPlainFile(log, { followsLinks: false }).catch(() => null);
  if (handle === null) return '';
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOG_BYTES_AT_MOST), { position: size });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Judges a start by its log and its end. Pure, for tests. */
export function judgeStart(log: string, end: string): StartResult {
  const isHeld = /lock file "[^"]*" (?:already exists|is empty)|bogus data in lock|pre-existing|is in use by/;
  // An abort follows a PANIC, which says why.
  const isKilled = /terminated by signal (?!6\b)/.test(log) || /SIG(?!ABRT)/.test(end);
  if (isHeld.test(log) || isKilled) return { type: 'ended', reason: end };
  // Not what it says to clients that came too early, or that it loses.
  const reason = /(?:FATAL|PANIC): {2}(?!the database system is |terminating )(.+)/g;
  const words = [...log.matchAll(reason)].at(-1)?.[1];
  const lastLine = log.trim().split('\n').at(-1) ?? '';
  if (words !== undefined || /^postgres: could not /m.test(log))
    return { type: 'damaged', reason: words ?? lastLine };
  // Outside of its log: the words of the loader, or of the shell.
  const isOfOthers = lastLine !== '' && !/^\d{4}-\d\d-\d\d /.test(lastLine);
  return isOfOthers ? { type: 'failed', reason: lastLine } : { type: 'ended', reason: end };
}

const FOREIGN_LOOK_MS = 3 * HEARTBEAT_MS;

/**
 * Throws `engine-held` for a server of another machine or container on these data: its processes
 * and locks cannot be seen from here, but its heartbeat can.
 */
export async function assertNoForeignServer({ home, data }: ServerFolders, onWait: () => void) {
  const owner = (await readPlainFile(join(home, OWNER_FILE)).catch(() => '')).trim();
  if (owner === '' || owner === machineIdentity()) return;
  // A server that was stopped leaves no such file.
  if (!existsSync(join(data, 'postmaster.pid'))) return;
  const heartbeatAt = async () => (await stat(join(home, HEARTBEAT_FILE)).catch(() => null))?.mtimeMs ?? 0;
  const before = await heartbeatAt();
  onWait();
  await wait(FOREIGN_LOOK_MS);
  if ((await heartbeatAt()) === before) return;
  const what =
    `a server on another machine or in another container (${owner.split(' ')[0] ?? owner}) is using ` +
    'this state folder';
  const shared = { choose: 'engine', example: 'redis://HOST' };
  const todo = phrase`stop it there, or share one server with ${shared} or postgres://HOST`;
  throw new RunError({ code: 'engine-held', what, subject: home, todo });
}
