/**
 * A lock on a folder for one process of a machine, made of sockets, which the kernel closes when
 * their process dies. Each candidate first listens on its own socket, then asks all others, so of
 * two candidates at least one sees the other. The lower name wins: a candidate waits for lower
 * names and silent sockets. It has the lock once all others gave way and it gave way to nobody
 * meanwhile. Sockets are renamed once they listen, so a socket that refuses is dead.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, lstat, readdir, rename, rm, symlink, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { RunError } from '../../core/errors.js';
import { makeTemporaryFolder } from '../../core/folders.js';
import { isErrorCode } from '../../core/system-error.js';

const PREFIX = 'lock-';
const SUFFIX = '.sock';
export const isLock = (name: string): boolean => name.startsWith(PREFIX);
/** Most bytes in a socket's path; the kernel's limit is 104 on macOS, 108 on Linux, with a zero. */
export const LONGEST_PATH = 100;
const ANSWER_DEADLINE_MS = 2_000;
/** Pause between two looks at another process. */
export const LOOK_AGAIN_MS = 25;

/** The answer to a candidate that sent its name; the process id follows. */
type Standing = 'holds' | 'stays' | 'gives-way';

/** Takes the lock, to be released. Throws {@link RunError} `engine-held` after `patienceMs`. */
export async function lockFolder(folder: string, patienceMs: number) {
  const name = `${PREFIX}${randomBytes(8).toString('hex')}${SUFFIX}`;
  let holds = false;
  let hasGivenWay = false;
  const standing = (other: string): Standing => {
    if (holds) return 'holds';
    if (other > name) return 'stays';
    hasGivenWay = true;
    return 'gives-way';
  };
  const server = await listenIn(folder, name, (other) => `${standing(other)} ${process.pid}`);
  const close = async () => {
    await unlink(join(folder, name)).catch(() => undefined);
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    const giveUpAt = performance.now() + patienceMs;
    for (;;) {
      hasGivenWay = false;
      const before = await whoIsBefore(folder, name);
      if (before === null && !hasGivenWay) break;
      if (performance.now() > giveUpAt) {
        const what =
          `${before ? `process ${before}` : 'a process'} has been starting the embedded engine for ` +
          'too long';
        const todo = 'end that process, then run again';
        throw new RunError({ code: 'engine-held', what, subject: folder, todo });
      }
      await wait(LOOK_AGAIN_MS);
    }
    holds = true;
  } catch (error) {
    await close();
    throw error;
  }
  return { release: close };
}

/** Removes sockets of processes that were killed while they waited or held the lock. */
export async function removeStaleSockets(folder: string): Promise<void> {
  // The highest name, so that no candidate gives way.
  await askOthers(folder, `${PREFIX}~`);
}

async function askOthers(folder: string, name: string): Promise<(string | null)[]> {
  const names = await readdir(folder);
  await removeUnfinished(folder, names);
  const others = names.filter((one) => one !== name && one.startsWith(PREFIX) && one.endsWith(SUFFIX));
  return Promise.all(others.map((other) => ask(folder, other, name)));
}

/** Returns the id of a process to wait for, empty if unknown; null if nobody is before us. */
async function whoIsBefore(folder: string, name: string): Promise<string | null> {
  const answers = await askOthers(folder, name);
  const before = answers.find((answer) => answer !== null && !answer.startsWith('gives-way'));
  return before === undefined || before === null ? null : (before.split(' ')[1] ?? '');
}

const UNFINISHED = '.new';
/** A socket gets its final name within milliseconds. */
const FINISHED_WITHIN_MS = 60_000;

/** Removes sockets whose process was killed before they got their final names. */
async function removeUnfinished(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (!name.startsWith(PREFIX) || !name.endsWith(SUFFIX + UNFINISHED)) continue;
    const path = join(folder, name);
    const madeAt = (await lstat(path).catch(() => null))?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (Date.now() - madeAt > FINISHED_WITHIN_MS) await unlink(path).catch(() => undefined);
  }
}

/** Returns the answer of a socket's process, empty if it is silent; null for a dead process. */
function ask(folder: string, other: string, name: string): Promise<string | null> {
  return withShortPath(folder, other, async (path) => {
    const socket = connect(path);
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), ANSWER_DEADLINE_MS);
    try {
      await once(socket, 'connect');
      socket.end(`${name}\n`);
      let line = '';
      for await (const part of socket.setEncoding('utf8')) line += part;
      return line;
    } catch (error) {
      if (isErrorCode(error, 'ECONNREFUSED')) await unlink(join(folder, other)).catch(() => undefined);
      return isErrorCode(error, 'ECONNREFUSED', 'ENOENT') ? null : '';
    } finally {
      clearTimeout(timer);
      socket.destroy();
    }
  });
}

async function listenIn(folder: string, name: string, answer: (other: string) => string): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.setEncoding('utf8').once('data', (text: string) => socket.end(answer(text.trim())));
  });
  await withShortPath(folder, name + UNFINISHED, async (path) => {
    server.listen(path);
    await once(server, 'listening');
    await chmod(path, 0o600);
  });
  await rename(join(folder, name + UNFINISHED), join(folder, name));
  // The lock must not keep the process running.
  server.unref();
  return server;
}

/** Calls `use` with a path that is short enough for a socket: if need be, through a link. */
async function withShortPath<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= LONGEST_PATH) return use(path);
  const bases = [tmpdir(), '/tmp'].filter((base) => Buffer.byteLength(base) <= 40);
  const link = await makeTemporaryFolder('be-', bases);
  try {
    await symlink(folder, join(link, 'f'));
    return await use(join(link, 'f', name));
  } finally {
    await rm(link, { recursive: true, force: true });
  }
}
