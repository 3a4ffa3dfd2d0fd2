/**
 * One process of a machine meters an accounts file at a time: two would serve a quota twice. The
 * lock is a listening socket named after the file, which the kernel frees when its owner dies.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { realpath, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FailFileError } from '../core/errors.js';
import type { Release } from '../core/lifecycle.js';

/** Takes the lock of a file that exists. Throws `FailFileError` when another process has it. */
export async function lockUsage(accountsPath: string): Promise<Release> {
  const name = socketName(await realpath(accountsPath));
  const server = (await tryListen(name)) ?? ((await removeIfDead(name)) ? await tryListen(name) : null);
  if (server === null) {
    const what = 'another service counts the usage of these accounts';
    const todo = 'stop it, or use a copy of the accounts file';
    throw new FailFileError({ code: 'engine-held', what, subject: accountsPath, todo });
  }
  return () => new Promise<void>((resolve) => server.close(() => resolve()));
}

/** No file on Linux and Windows; elsewhere a file that a killed owner leaves behind. */
function socketName(path: string): string {
  const name = `brand-enrich-usage-${createHash('sha256').update(path).digest('hex').slice(0, 24)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
}

/** null: the name is taken. */
async function tryListen(name: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy()).listen(name);
  try {
    await once(server, 'listening');
    return server.unref();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
}

/** Whether the name was a file without a listener; then it is removed. */
async function removeIfDead(name: string): Promise<boolean> {
  const socket = connect(name);
  const isDead = await once(socket, 'connect').then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
  );
  socket.destroy();
  if (isDead) await rm(name, { force: true });
  return isDead;
}
