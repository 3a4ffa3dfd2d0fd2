/** Opens the engine on Redis: one connection for the stores, checked first, and those of BullMQ. */
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
  /** `redis://`, `rediss://` or `redis+sentinel://`, with user, password and database if needed. */
  readonly url: string;
  /** True to let writes wait for the disk: Redis 7.2+, `appendfsync everysec`. Default false. */
  readonly waitsForDisk?: boolean;
  readonly extraCa?: string | null;
  readonly client?: ClientCertificate | null;
  /** Tests only: prefix of all keys, written in braces. Default `brand-enrich`. */
  readonly namespace?: string;
}

/** Opens the engine. Throws `RunError`, without passwords, if Redis is absent or unsafe. */
export async function openRedisEngine(options: RedisEngineOptions): Promise<Engine> {
  const { url, log, isReadOnly, namespace = 'brand-enrich', clockOffsetMs = () => 0 } = options;
  const address = shownAddress(url);
  const { extraCa = null, client = null } = options;
  const sentinel = readSentinels(url);
  const connect = { url, address, log, extraCa, client };
  const failure = (error: unknown) => storeFailure(address, error);
  const asked = <T>(answer: Promise<T>) => translated(answer, failure);
  const redis = await openConnection({ ...connect, use: 'store' });
  // If the server ends the connection after it let us in, it restarts: wait for it.
  const patience = createPatience(options);
  try {
    const facts = await patience(() => asked(readServerFacts(redis)));
    const { waitsForDisk, warnings } = judgeServer(facts, address, options.waitsForDisk ?? false);
    // The braces put all keys, with BullMQ's, into one slot of a cluster.
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

/** Version of the keys. Raise it when you change a key or its contents. */
const VERSION = '9';

async function schemaOf(redis: Redis, key: string, isReadOnly = false): Promise<string> {
  const found = await redis.get(key);
  // Written only once, so that a full Redis can be opened and purged.
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
      // All queues share it, since BullMQ does not close a connection that it was given.
      producer ??= createConnection({ ...connect, use: 'producer' });
      return { connection: producer, prefix };
    },
    workerConnection() {
      // BullMQ closes only its own copy of the connection, which it blocks on.
      const connection = createConnection({ ...connect, use: 'worker' });
      return { connection: { connection, prefix }, release: () => closeConnection(connection) };
    },
    async close() {
      if (producer) await closeConnection(producer);
    },
  };
}
