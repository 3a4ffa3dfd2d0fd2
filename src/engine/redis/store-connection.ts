/**
 * The stores' way to Redis: one script is one call, sent by its hash, and by its text where the server does not know it yet.
 * Adds what makes a write durable, counts round trips, and turns the client's errors into ours.
 *
 * A call is sent once. When its answer is lost it fails, and whoever asked repeats the same request.
 */
import type { Redis } from 'ioredis';
import type { Script, ScriptArgument } from './script.js';
import { argumentText, RULES_ARGUMENT } from './script.js';
import { isReply, storeFailure } from './store-failure.js';

/** `on-disk`: resolves when the write is as durable as the server can make it. `answered`: when Redis has answered. */
type Durability = 'answered' | 'on-disk';

export interface StoreConnection {
  readonly address: string;
  /** What every key begins with. */
  readonly root: string;
  readonly roundTrips: { readonly count: number };
  /** Runs one operation of a script; `FailFileError` when Redis is out of reach or refuses. */
  call(
    script: Script,
    operation: string,
    list: readonly ScriptArgument[],
    durability?: Durability,
  ): Promise<unknown>;
  /** The values of these keys, as bytes, null where there is none. */
  readAll(names: readonly string[]): Promise<(Buffer | null)[]>;
}

export interface StoreConnectionOptions {
  readonly redis: Redis;
  readonly address: string;
  readonly root: string;
  /** Added to the store's clock: 0 outside tests. Milliseconds. */
  readonly clockOffsetMs: () => number;
  /** Redis has `WAITAOF`, keeps an append-only file, and does not sync it with every write by itself. */
  readonly waitsForDisk: boolean;
}

/** How long a write may wait for the disk: Redis syncs once a second. After that the call has failed. */
const DISK_TIMEOUT_MS = 3_000;

type Answer = [error: Error | null, result: unknown];

export function createStoreConnection(options: StoreConnectionOptions): StoreConnection {
  const { redis, address, root, clockOffsetMs, waitsForDisk } = options;
  const roundTrips = { count: 0 };

  async function send(script: Script, texts: readonly (string | Buffer)[], isKnown: boolean, waits: boolean) {
    roundTrips.count += 1;
    const named = isKnown ? script.sha : script.source;
    if (!waits)
      return isKnown ? redis.evalsha(named, 1, root, ...texts) : redis.eval(named, 1, root, ...texts);
    const pipeline = redis.pipeline();
    if (isKnown) pipeline.evalsha(named, 1, root, ...texts);
    else pipeline.eval(named, 1, root, ...texts);
    pipeline.call('WAITAOF', 1, 0, DISK_TIMEOUT_MS);
    return onDisk((await pipeline.exec()) ?? []);
  }

  async function guarded<T>(action: () => Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      throw storeFailure(address, error);
    }
  }

  return {
    address,
    root,
    roundTrips,
    call(script, operation, list, durability = 'answered') {
      const texts = [RULES_ARGUMENT, clockOffsetMs(), operation, ...list].map(argumentText);
      const waits = waitsForDisk && durability === 'on-disk';
      return guarded(async () => {
        try {
          return await send(script, texts, true, waits);
        } catch (error) {
          if (!isReply(error) || !(error instanceof Error) || !error.message.startsWith('NOSCRIPT'))
            throw error;
          return send(script, texts, false, waits);
        }
      });
    },
    readAll(names) {
      if (names.length === 0) return Promise.resolve([]);
      roundTrips.count += 1;
      return guarded(() => redis.mgetBuffer(...names));
    },
  };
}

/** The script's result, once `WAITAOF` has confirmed the local file. Throws what went wrong first. */
function onDisk(answers: readonly Answer[]): unknown {
  const [written, synced] = answers;
  if (written === undefined || synced === undefined) throw new Error('no answer');
  if (written[0]) throw written[0];
  if (synced[0]) throw synced[0];
  const copies = synced[1];
  if (!Array.isArray(copies) || copies[0] !== 1) throw new Error('the write did not reach the disk in time');
  return written[1];
}
