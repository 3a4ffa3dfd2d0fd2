/**
 * Questions and answers over a Unix socket in a folder: one JSON line there, one back. Who may ask what, and what
 * an answer means for the lock, is `folder-lock.ts`'s.
 *
 * A socket gets its final name only once it listens, so a socket that refuses is one whose process is gone. Names
 * are random and never used twice, so removing such a socket can never hit a living one.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rename, rm, symlink, unlink } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'lock-';
const SUFFIX = '.sock';
/** The kernel's limit is 104 bytes on macOS and 108 on Linux, the closing zero included. */
const LONGEST_PATH = 100;
/** A line longer than this, in bytes, is not one of ours: answers keep to a few of them. */
const LONGEST_LINE = 16 * 1024 * 1024;
const LINE_END = 0x0a;

export interface LockSocket {
  readonly name: string;
  close(): Promise<void>;
}

/**
 * `gone`: nobody listens any more. `cut`: somebody did and ended without an answer. `silent`: somebody listens and does
 * not answer in time.
 */
export type SocketReply =
  | { readonly type: 'answer'; readonly value: unknown }
  | { readonly type: 'gone' }
  | { readonly type: 'cut' }
  | { readonly type: 'silent' };

/** Listens on a socket of its own in the folder; `answer` is asked for each line that arrives. */
export async function openLockSocket(
  folder: string,
  answer: (question: unknown) => unknown | Promise<unknown>,
): Promise<LockSocket> {
  const name = `${PREFIX}${randomBytes(8).toString('hex')}${SUFFIX}`;
  const path = join(folder, name);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    void readLine(socket)
      .then(async (line) => socket.end(`${JSON.stringify(await answer(JSON.parse(line)))}\n`))
      .catch(() => socket.destroy());
  });
  await withShortPath(folder, `${name}.new`, (short) => listen(server, short));
  await rename(`${path}.new`, path);
  // The lock alone does not keep a process running.
  server.unref();
  return {
    name,
    async close() {
      await unlink(path).catch(() => undefined);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Names of the sockets in the folder, living or dead. */
export async function listLockSockets(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX)).sort();
}

/** Asks the process behind a socket. A dead socket is removed. */
export async function askLockSocket(
  folder: string,
  name: string,
  question: unknown,
  deadlineMs: number,
): Promise<SocketReply> {
  return withShortPath(folder, name, async (short) => {
    const socket = connect(short);
    socket.on('error', () => socket.destroy());
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      socket.destroy();
    }, deadlineMs);
    try {
      await once(socket, 'connect');
      const line = readLine(socket);
      socket.write(`${JSON.stringify(question)}\n`);
      return { type: 'answer', value: JSON.parse(await line) as unknown };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (isLate) return { type: 'silent' };
      if (code === 'ECONNREFUSED') await unlink(join(folder, name)).catch(() => undefined);
      if (code === 'ECONNREFUSED' || code === 'ENOENT') return { type: 'gone' };
      // A full queue of connections, or no right to connect: somebody is there.
      return { type: code === 'EAGAIN' || code === 'EACCES' || code === 'EPERM' ? 'silent' : 'cut' };
    } finally {
      clearTimeout(timer);
      socket.destroy();
    }
  });
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** A path that the kernel accepts: through a link of this process's own when the folder's name is long. */
async function withShortPath<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) <= LONGEST_PATH) return use(path);
  const base = Buffer.byteLength(tmpdir()) <= 40 ? tmpdir() : '/tmp';
  const link = await mkdtemp(join(base, 'be-'));
  try {
    await symlink(folder, join(link, 'f'));
    return await use(join(link, 'f', name));
  } finally {
    await rm(link, { recursive: true, force: true });
  }
}

function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    socket.on('data', (part: Buffer) => {
      const end = part.indexOf(LINE_END);
      parts.push(end < 0 ? part : part.subarray(0, end));
      length += part.length;
      if (end >= 0) resolve(Buffer.concat(parts).toString('utf8'));
      else if (length > LONGEST_LINE) socket.destroy(new Error('the line is too long'));
    });
    socket.once('close', () => reject(new Error('the connection was closed')));
  });
}
