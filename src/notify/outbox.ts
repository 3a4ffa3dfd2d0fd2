/**
 * Keeps messages as files until they arrive. A file belongs to the process that touched it within
 * the last minute; then another one with the same receiver takes it over. After a kill, a message
 * may go twice under one id. Receivers are hashes, since an address may hold a secret.
 */
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../core/clock.js';
import { makePrivateFolder } from '../core/folders.js';
import { readJson } from '../core/json-text.js';
import { isErrorCode } from '../core/system-error.js';
import { type Deliveries, KEPT_MS } from './deliveries.js';

interface OutboxOptions {
  readonly folder: string;
  readonly deliveries: Deliveries;
  readonly clock: Clock;
  /** Returns how to send a message; null if this process does not know its receiver. */
  readonly sendOf: (message: OutboxMessage) => (() => Promise<unknown>) | null;
  readonly factsOf: (message: OutboxMessage) => Readonly<Record<string, unknown>>;
}

/** Marks outlive the longest period for which a notice is sent once: a month and a day. */
const MARK_KEPT_MS = 32 * 86_400_000;
const ROUND_MS = 20_000;
/** Three rounds, so that an owner that was held up keeps its files. */
const LEASE_MS = 60_000;

const messageSchema = z.object({
  id: z.string(),
  channel: z.enum(['webhook', 'e-mail']),
  to: z.string(),
  /** When the message was written, in milliseconds. */
  at: z.number(),
  content: z.unknown(),
});
export type OutboxMessage = Readonly<z.infer<typeof messageSchema>>;

/** Opens the outbox, and begins at once with messages of dead processes. */
export function openOutbox(options: OutboxOptions) {
  const { folder, deliveries, clock, sendOf, factsOf } = options;
  const owned = new Map<string, string>();
  const closing = new AbortController();

  const begin = (message: OutboxMessage, path: string | null) => {
    const send = sendOf(message);
    if (send === null) return;
    if (path !== null) owned.set(message.id, path);
    void deliveries.persist(message.channel, factsOf(message), send, message.at).then(async (end) => {
      if (path === null || end === 'stopped') return;
      await rm(path, { force: true }).catch(() => undefined);
      owned.delete(message.id);
    });
  };

  /** Removes an expired mark, or takes over a message without an owner. */
  const tend = async (name: string): Promise<void> => {
    const path = join(folder, name);
    const age = clock.now() - (await stat(path)).mtimeMs;
    if (name.endsWith('.told') && age > MARK_KEPT_MS) await rm(path, { force: true });
    const [, id, owners] = /^([\w-]+)\.(\d+)\.json$/.exec(name) ?? [];
    if (id === undefined || owned.has(id) || Math.abs(age) < LEASE_MS) return;
    const message = readJson(await readFile(path, 'utf8'), messageSchema);
    if (message === null || clock.now() - message.at > KEPT_MS) return rm(path, { force: true });
    if (sendOf(message) === null || closing.signal.aborted) return;
    const ownPath = join(folder, `${id}.${Number(owners) + 1}.json`);
    // Of two processes that try, one finds the file gone; later ones find it touched.
    await touch(path);
    await rename(path, ownPath);
    begin(message, ownPath);
  };

  const touch = (path: string, at = clock.now()) => utimes(path, at / 1_000, at / 1_000);

  const goRound = async (): Promise<void> => {
    for (const path of owned.values()) await touch(path).catch(() => undefined);
    const names = await readdir(folder).catch(() => []);
    for (const name of names) await tend(name).catch(() => undefined);
  };

  const firstRound = goRound();
  const rounds = (async () => {
    await firstRound;
    while (!closing.signal.aborted) {
      await clock.sleep(ROUND_MS, closing.signal).catch(() => undefined);
      if (!closing.signal.aborted) await goRound();
    }
  })();

  return {
    /** Keeps a message, if possible, and begins to deliver it; `isOnce` sends an id only once. */
    async post(message: OutboxMessage, isOnce: boolean): Promise<void> {
      const path = join(folder, `${message.id}.0.json`);
      const mark = join(folder, `${message.id}.told`);
      try {
        if (isOnce && (await stat(mark).catch(() => null))) return;
        makePrivateFolder(folder);
        if (!(await createFile(path, JSON.stringify(message)))) return;
        await touch(path);
        // Marked before sending: once the message file is gone, the mark is there.
        if (isOnce && !(await createFile(mark, ''))) {
          await rm(path, { force: true });
          return;
        }
        begin(message, path);
      } catch {
        begin(message, null);
      }
    },
    /** Stops taking over messages and waits up to `atMostMs` for deliveries. Never rejects. */
    async close(atMostMs: number): Promise<void> {
      // Even the shortest command tries each message once.
      await firstRound;
      closing.abort();
      await rounds;
      await deliveries.close(atMostMs);
      for (const path of owned.values()) await touch(path, 0).catch(() => undefined);
    },
  };
}

/** Creates a file; returns false if it exists. */
async function createFile(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (isErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
}
