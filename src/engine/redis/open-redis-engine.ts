/**
 * Opens the Redis engine: one connection for the stores, checked before anything is trusted to it, and BullMQ beside it.
 * For many processes and machines; Redis 6.2 or later, or Valkey.
 */
import { Queue, type Telemetry, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { NeverStartError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Engine } from '../engine.js';
import { createStores, giveEngineId } from '../engine-stores.js';
import { createQueues, type QueueBackend } from '../queues.js';
import { translated } from '../store-calls.js';
import {
  type ConnectOptions,
  closeConnection,
  createConnection,
  openConnection,
  shownAddress,
} from './connect.js';
import { createRedisCalls } from './redis-calls.js';
import { freeShare, judgeServer, parseInfo, readServerFacts } from './server-facts.js';
import { storeFailure } from './store-failure.js';

export interface RedisEngineOptions {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly url: string;
  /** What all keys begin with, in braces, so that one slot of a cluster holds them all. Default `brand-enrich`. */
  readonly namespace?: string;
  readonly log: Log;
  /** Of chunks; absent: nothing is traced. */
  readonly telemetry?: Telemetry | undefined;
  /** Refuse to open with a smaller share of free memory, 0 to 1. Default: no such check. */
  readonly minimumFreeMemory?: number;
  /**
   * On Redis 7.2+ with `appendfsync everysec`: permits and answers wait for the disk (`WAITAOF`), so that a loss of power
   * costs nothing. Redis syncs once a second, so each such call may take up to a second. Default false: a loss of power
   * may cost up to a second of them, and `warnings` says so. Elsewhere it changes nothing.
   */
  readonly waitsForDisk?: boolean;
  /** A seam for tests: added to the store's clock by every operation. Milliseconds. */
  readonly clockOffsetMs?: () => number;
}

/**
 * Throws `NeverStartError` for an address that is none, and `FailFileError` `engine-unreachable` or `engine-unfit` when
 * the server does not answer or could lose what is given to it. No message holds user or password.
 */
export async function openRedisEngine(options: RedisEngineOptions): Promise<Engine> {
  const { url, namespace = 'brand-enrich', log, clockOffsetMs = () => 0 } = options;
  if (!/^[\w.-]+$/.test(namespace)) {
    throw new NeverStartError({
      code: 'usage-invalid',
      subject: `namespace ${JSON.stringify(namespace)}`,
      todo: 'use letters, digits, ".", "_" and "-" only',
    });
  }
  const address = shownAddress(url);
  const connect = { url, address, log };
  const failure = (error: unknown) => storeFailure(address, error);
  const asked = <T>(answer: Promise<T>) => translated(answer, failure);
  const redis = await openConnection({ ...connect, use: 'store' });
  try {
    const { waitsForDisk, warnings } = judgeServer(await asked(readServerFacts(redis)), address, {
      minimumFreeMemory: options.minimumFreeMemory ?? null,
      mayWaitForDisk: options.waitsForDisk ?? false,
    });
    // BullMQ's prefix is the hash tag, and the stores' keys begin with it.
    const prefix = `{${namespace}}`;
    const calls = createRedisCalls({ redis, address, root: `${prefix}:`, clockOffsetMs, waitsForDisk });
    const stores = createStores(calls);
    const id = await giveEngineId(stores.keyValues);
    const queues = createQueues(backendOn(connect, prefix), { failure, log, telemetry: options.telemetry });
    return {
      id,
      kind: 'redis',
      address,
      ...stores,
      ...queues,
      warnings,
      freeMemory: async () => freeShare(await asked(readServerFacts(redis))),
      async facts() {
        const info = parseInfo(await asked(redis.info()));
        const version = info.get('valkey_version');
        return {
          version: version === undefined ? `Redis ${info.get('redis_version')}` : `Valkey ${version}`,
          sessions: Number(info.get('connected_clients')),
          bytes: Number(info.get('used_memory')),
        };
      },
      async close() {
        await Promise.all([queues.close(), closeConnection(redis)]);
      },
    };
  } catch (error) {
    await closeConnection(redis);
    throw error;
  }
}

function backendOn(connect: Omit<ConnectOptions, 'use'>, prefix: string): QueueBackend {
  let producer: Redis | undefined;
  return {
    classes: { Queue, Worker },
    queueConnection() {
      // Shared by all queues: BullMQ leaves a connection that it was handed open.
      producer ??= createConnection({ ...connect, use: 'producer' });
      return { connection: producer, prefix };
    },
    workerConnection() {
      // BullMQ closes the connection that it made for blocking, not the one that it was handed.
      const connection = createConnection({ ...connect, use: 'worker' });
      return { connection: { connection, prefix }, release: () => closeConnection(connection) };
    },
    async close() {
      if (producer) await closeConnection(producer);
    },
  };
}
