/** Starts the private server, and detects one on another machine. Callers hold the start lock. */
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

/** Only a part of the socket's file name: the server listens on no port. */
export const SOCKET_PORT = 5432;
const LOG_BYTES_AT_MOST = 1_048_576;

function serverSettings(major: number): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: '200',
    // The write-ahead log is short, because no replica reads it.
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
    // Loaded at the start, because `npm ci` may replace the package while the server runs.
    shared_preload_libraries: 'plpgsql',
    fsync: 'on',
    synchronous_commit: 'on',
    ...(process.platform === 'darwin' ? { wal_sync_method: 'fsync_writethrough' } : {}),
    // PostgreSQL 18 and later would start processes that read ahead for large scans.
    ...(major >= 18 ? { io_method: 'sync' } : {}),
    // Logs starts, stops and crashes, but no statements, which contain identifiers.
    log_min_messages: 'log',
    log_checkpoints: 'off',
    log_min_error_statement: 'panic',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}

/** Returns the socket's folder: `data`, or one in `/tmp` if too long. Throws `engine-unfit`. */
export function socketFolder({ data }: ServerFolders, user: ServerUser | null): string {
  if (Buffer.byteLength(join(data, `.s.PGSQL.${SOCKET_PORT}.lock`)) <= LONGEST_PATH) return data;
  const uid = process.getuid?.() ?? 0;
  // Nobody but this user can replace the contents.
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
    // Another process of this user may have made it and not given it away yet.
    if (uid !== owner && uid !== process.getuid?.()) throw new Error('it belongs to another user');
    if (user !== null) fchownSync(descriptor, user.uid, user.gid);
    fchmodSync(descriptor, mode);
  });
}

/**
 * The result of a start. `ended`: the server was killed or held up, and may start at the next try.
 * `failed`: it could not be loaded. `damaged`: it cannot use these files.
 */
export type StartResult =
  | { readonly type: 'running' }
  | { readonly type: 'ended' | 'failed' | 'damaged'; readonly reason: string };

/** A file that the living server writes every {@link HEARTBEAT_MS}. */
export const HEARTBEAT_FILE = 'heartbeat';
export const HEARTBEAT_MS = 5_000;
/** Time after which a ready server without a watch loop is ended. */
const UNWATCHED_MS = 45_000;

/**
 * A shell script that starts a guard and then becomes the server. The guard ends a server whose
 * starter was killed before it began the watch loop, which writes new text to the heartbeat (an
 * empty text comes from a full disk). The guard is not the server's child, because PostgreSQL takes
 * the end of an unknown child for a crash.
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

/** Starts the server and waits until `answers` returns true or the server has ended. */
export async function startServer(
  folders: ServerFolders,
  sockets: string,
  binaries: ServerBinaries,
  user: ServerUser | null,
  answers: () => Promise<boolean>,
): Promise<StartResult> {
  const { data, log, home } = folders;
  // Other machines and containers may see this folder. A rename follows no link.
  const draft = join(home, `${DRAFT}${OWNER_FILE}-${randomBytes(6).toString('hex')}`);
  await writeFile(draft, `${machineIdentity()}\n`, { flag: 'wx', mode: 0o600 });
  await rename(draft, join(home, OWNER_FILE));
  const size = await openLog(folders, user);
  // The setting is a list: without quotes a comma in the path would separate two folders.
  const quoted = `"${sockets.replaceAll('"', '""')}"`;
  const settings = { ...serverSettings(binaries.major), unix_socket_directories: quoted };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  // The server inherits no output of ours: `brand-enrich | tee` would wait for its end.
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

/** Makes log and heartbeat as files of the server's user alone. Returns the size of the log. */
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

/** Returns the part of the log after its first `size` bytes. */
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
  // An abort (signal 6) follows a PANIC, which gives the reason below.
  const isKilled = /terminated by signal (?!6\b)/.test(log) || /SIG(?!ABRT)/.test(end);
  if (isHeld.test(log) || isKilled) return { type: 'ended', reason: end };
  // Lines about clients that connect too early or get disconnected are no reason.
  const reason = /(?:FATAL|PANIC): {2}(?!the database system is |terminating )(.+)/g;
  const words = [...log.matchAll(reason)].at(-1)?.[1];
  const lastLine = log.trim().split('\n').at(-1) ?? '';
  if (words !== undefined || /^postgres: could not /m.test(log))
    return { type: 'damaged', reason: words ?? lastLine };
  // A line without a date comes from the loader or the shell.
  const isOfOthers = lastLine !== '' && !/^\d{4}-\d\d-\d\d /.test(lastLine);
  return isOfOthers ? { type: 'failed', reason: lastLine } : { type: 'ended', reason: end };
}

const FOREIGN_LOOK_MS = 3 * HEARTBEAT_MS;

/** Throws `engine-held` if the heartbeat shows a server of another machine or container. */
export async function assertNoForeignServer({ home, data }: ServerFolders, onWait: () => void) {
  const owner = (await readPlainFile(join(home, OWNER_FILE)).catch(() => '')).trim();
  if (owner === '' || owner === machineIdentity()) return;
  // A stopped server has removed this file.
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
