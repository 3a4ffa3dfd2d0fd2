/** One connection for the stores, checked before anything relies on it, and BullMQ beside it. */
import type { Redis } from 'ioredis';
import type { ClientCertificate } from '../../core/connector.js';
import { load } from '../../core/load.js';
import { readSentinels } from '../../settings/address-values.js';
import type { Engine, EngineOptions } from '../engine.js';
import { createStores, engineId } from '../engine-stores.js';
import { createPatience } from '../patience.js';
import { createQueues, type QueueBackend } from '../queues.js';
import { ForeignSchemaError, translated } from '../stores/store-calls.js';
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

export interface RedisEngineOptions extends EngineOptions {
  /** `redis://` or `rediss://`, with user, password and database where needed. */
  readonly url: string;
  /** Redis 7.2+ with `appendfsync everysec`: writes wait for the disk. Default false. */
  readonly waitsForDisk?: boolean;
  readonly extraCa?: string | null;
  readonly client?: ClientCertificate | null;
  /** Tests only: what all keys begin with, in braces. Default `brand-enrich`. */
  readonly namespace?: string;
}

/** Throws `RunError` when the server does not answer or could lose data. Names no password. */
export async function openRedisEngine(options: RedisEngineOptions): Promise<Engine> {
  const { url, log, isReadOnly, namespace = 'brand-enrich', clockOffsetMs = () => 0 } = options;
  const address = shownAddress(url);
  const { extraCa = null, client = null } = options;
  const sentinel = readSentinels(url);
  const connect = { url, address, log, extraCa, client };
  const failure = (error: unknown) => storeFailure(address, error);
  const asked = <T>(answer: Promise<T>) => translated(answer, failure);
  const redis = await openConnection({ ...connect, use: 'store' });
  // A server that lets us in and then ends the connection is unavailable for a moment, and no more.
  const patience = createPatience(options);
  try {
    const facts = await patience(() => asked(readServerFacts(redis)));
    const { waitsForDisk, warnings } = judgeServer(facts, address, options.waitsForDisk ?? false);
    // The hash tag: one slot of a cluster holds all keys, BullMQ's included.
    const prefix = `{${namespace}}`;
    const schema = await patience(() => asked(schemaOf(redis, `${prefix}:schema`, isReadOnly)));
    if (schema !== VERSION) throw new ForeignSchemaError(schema, VERSION, address);
    const waitsForReplica = sentinel !== null && options.waitsForDisk === true;
    const calls = createRedisCalls({
      ...{ redis, address, root: `${prefix}:`, clockOffsetMs, waitsForDisk, waitsForReplica },
    });
    const stores = createStores(calls);
    const id = await patience(() => engineId(stores.keyValues, isReadOnly));
    const queues = createQueues(backendOn(connect, prefix), { failure, log, isReadOnly });
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

/** Raise it with a change of a key, or of what a key holds. */
const VERSION = '9';

async function schemaOf(redis: Redis, key: string, isReadOnly = false): Promise<string> {
  const found = await redis.get(key);
  // Not written again: a Redis that is full opens, so that answers can be purged.
  if (found !== null || isReadOnly) return found ?? VERSION;
  await redis.setnx(key, VERSION);
  return (await redis.get(key)) ?? VERSION;
}

function backendOn(connect: Omit<ConnectOptions, 'use'>, prefix: string): QueueBackend {
  let producer: Redis | undefined;
  return {
    classes: () => load('bullmq') as typeof import('bullmq'),
    prepare: async () => undefined,
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
