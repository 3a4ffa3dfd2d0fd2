/** One start of the private server, and checks of a silent one. Callers hold the start lock. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { FailFileError } from '../../core/errors.js';
import { isRunning } from '../../core/lifecycle.js';
import { machineIdentity } from '../../core/process-identity.js';
import { unfit } from '../store-calls.js';
import { OWNER_FILE, type ServerFolders } from './data-folder.js';
import { LONGEST_PATH } from './folder-lock.js';
import { SERVER_ENV, type ServerBinaries } from './server-binaries.js';
import type { ServerUser } from './server-user.js';

/** The name of the socket's file ends in the port's number, though nothing listens on a port. */
export const SOCKET_PORT = 5432;
const LOG_BYTES_AT_MOST = 1_048_576;

/** The settings of the server, besides its folders. Sizes are in PostgreSQL's notation. */
function serverSettings(major: number): Record<string, string> {
  return {
    listen_addresses: '',
    unix_socket_permissions: '0700',
    max_connections: '200',
    // Nobody copies this server, and its log need not hold what a second one would want.
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
    // Loaded once: an installation that replaces the package under a running server breaks no
    // session.
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
 * The folder of the socket: that of the data, or a short one for this user and these data in the
 * system's temporary folder. Throws {@link FailFileError} `engine-unfit` when somebody else made
 * that one.
 */
export async function socketFolder({ data }: ServerFolders, user: ServerUser | null): Promise<string> {
  if (Buffer.byteLength(join(data, `.s.PGSQL.${SOCKET_PORT}.lock`)) <= LONGEST_PATH) return data;
  const uid = user?.uid ?? process.getuid?.() ?? 0;
  const base = `/tmp/brand-enrich-${uid}`;
  const folder = join(base, createHash('sha256').update(data).digest('hex').slice(0, 16));
  for (const path of [base, folder]) {
    try {
      await mkdir(path, { mode: 0o700 });
      if (user !== null) await chown(path, user.uid, user.gid);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const facts = await lstat(path);
    if (!facts.isDirectory() || facts.uid !== uid) {
      const what = 'the socket folder of the embedded engine belongs to another user';
      throw unfit(what, path, 'remove it, or use a state folder with a shorter path with --state');
    }
    await chmod(path, 0o700);
  }
  await utimes(folder, new Date(), new Date());
  await removeUnused(base);
  return folder;
}

/** A folder without a socket is used by a server that starts, or by none. */
const UNUSED_AFTER_MS = 86_400_000;

/** Removes the empty folders of state folders that are not used any more. Never rejects. */
async function removeUnused(base: string): Promise<void> {
  for (const name of await readdir(base).catch(() => [])) {
    const path = join(base, name);
    const usedAt = (await lstat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - usedAt > UNUSED_AFTER_MS) await rmdir(path).catch(() => undefined);
  }
}

/** `running`: the process lives on. `taken`: it had to end, and may start at another try. */
export type StartResult =
  | { readonly type: 'running' | 'taken' }
  | { readonly type: 'failed'; readonly reason: string };

/** Written to every {@link HEARTBEAT_MS} as long as the server lives. */
export const HEARTBEAT_FILE = 'heartbeat';
export const HEARTBEAT_MS = 5_000;
/** A server that is ready and that nothing watches is ended after this time. */
const UNWATCHED_MS = 45_000;

/**
 * A shell that leaves a guard behind and becomes the server: who starts a server may be killed
 * before it has a session to watch it from. The guard touches the heartbeat from the first moment
 * on, and ends a server whose watch writes no new text there. A text that is empty is that of a
 * full disk. The guard is no child of the server, which would take its end for a crash.
 */
const GUARDED_START = `
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
  // For other machines and containers that see the same folder.
  const ownerFile = join(home, OWNER_FILE);
  await writeFile(ownerFile, `${machineIdentity()}\n`, { mode: 0o600 });
  const { size } = await stat(log).catch(() => ({ size: 0 }));
  const isFull = size > LOG_BYTES_AT_MOST;
  if (isFull) await rename(log, `${log}.1`);
  const handle = await open(log, 'a', 0o600);
  try {
    if (user !== null) await handle.chown(user.uid, user.gid);
    if (user !== null) await chown(ownerFile, user.uid, user.gid);
    // A list: without quotes a comma in the path would end it.
    const quoted = `"${sockets.replaceAll('"', '""')}"`;
    const settings = { ...serverSettings(binaries.major), unix_socket_directories: quoted };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // Its output goes to a file and never to ours: whoever waits for the end of our output would
    // wait for the server.
    const child = spawn('/bin/sh', ['-c', GUARDED_START, 'sh', binaries.postgres, '-D', data, ...args], {
      ...user,
      cwd: data,
      env: SERVER_ENV,
      detached: true,
      stdio: ['ignore', handle.fd, handle.fd],
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
      const text = await readFile(log).catch(() => Buffer.alloc(0));
      return judgeStart(text.subarray(isFull ? 0 : size).toString('utf8'), end);
    }
  } finally {
    await handle.close();
  }
}

/** The meaning of the log of a failed start. Pure, for tests. */
export function judgeStart(log: string, end: string): StartResult {
  if (/lock file "[^"]*" already exists|pre-existing shared memory block|is in use by/.test(log))
    return { type: 'taken' };
  // Somebody killed a part of it: it starts at another try.
  if (/terminated by signal 9\b/.test(log)) return { type: 'taken' };
  // Not what it says to clients that came too early.
  const reason = /(?:FATAL|PANIC|ERROR): {2}(?!the database system is )(.+)/g;
  const words = [...log.matchAll(reason)].map(([, text]) => text ?? '');
  const lastLine = log.trim().split('\n').at(-1) ?? '';
  return { type: 'failed', reason: words.at(-1) ?? (lastLine === '' ? end : lastLine) };
}

const FOREIGN_LOOK_MS = 3 * HEARTBEAT_MS;

/**
 * Sees that no server of another machine or container works on these data: neither its processes
 * nor its locks can be seen from here, but its heartbeat can. Throws {@link FailFileError}
 * `engine-held`.
 */
export async function assertNoForeignServer({ home, data }: ServerFolders, onWait: () => void) {
  const owner = (await readFile(join(home, OWNER_FILE), 'utf8').catch(() => '')).trim();
  if (owner === '' || owner === machineIdentity()) return;
  // A server that was stopped leaves no such file.
  if (!existsSync(join(data, 'postmaster.pid'))) return;
  const beat = async () => (await stat(join(home, HEARTBEAT_FILE)).catch(() => null))?.mtimeMs ?? 0;
  const before = await beat();
  onWait();
  await wait(FOREIGN_LOOK_MS);
  if ((await beat()) === before) return;
  const what = `a server on another machine or in another container (${owner.split(' ')[0]}) is using this state folder`;
  const todo = 'stop it there, or share one server with --engine redis://... or postgres://...';
  throw new FailFileError({ code: 'engine-held', what, subject: home, todo });
}

/**
 * Ends what keeps the data of a server that does not answer. A server whose socket was removed is
 * stopped; a number of a process that is used again by another program after a crash of the machine
 * is forgotten. Only when no foreign server is there.
 */
export async function clearTheWay({ data }: ServerFolders, sockets: string): Promise<void> {
  const pidFile = join(data, 'postmaster.pid');
  const text = await readFile(pidFile, 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isRunning(pid)) return;
  // A server works in its data folder, whatever name it was started by.
  const [cwd, own] = await Promise.all(
    [`/proc/${pid}/cwd`, data].map((path) => stat(path).catch(() => null)),
  );
  // Where the process cannot be looked at, PostgreSQL's own judgement stands.
  if (!cwd || !own) return;
  if (cwd.ino === own.ino && cwd.dev === own.dev) process.kill(pid, 'SIGINT');
  else
    for (const path of [pidFile, join(sockets, `.s.PGSQL.${SOCKET_PORT}.lock`)])
      await rm(path, { force: true });
}
