/**
 * Opens the Redis engine: one connection for the stores, checked before anything is trusted to it, and BullMQ beside it.
 * For many processes and machines; Redis 6.2 or later, or Valkey.
 */
import type { Telemetry } from 'bullmq';
import { NeverStartError } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import { createChunkQueue } from '../chunk-queue.js';
import type { Engine } from '../engine.js';
import { giveEngineId } from '../engine-id.js';
import { createScheduledJobs } from '../job-schedulers.js';
import { closeConnection, openConnection } from './connect.js';
import { createRedisKeyValues } from './redis-key-values.js';
import { createRedisLedger } from './redis-ledger.js';
import { createRedisOutcomes } from './redis-outcomes.js';
import { createRedisQueues } from './redis-queues.js';
import { createRedisRuns } from './redis-runs.js';
import { shownAddress } from './server-address.js';
import { freeShare, judgeServer, parseInfo, readServerFacts } from './server-facts.js';
import { createStoreConnection } from './store-connection.js';
import { storeFailure } from './store-failure.js';
import { DEFAULT_NAMESPACE, storeRoot } from './store-keys.js';

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
  const { url, namespace = DEFAULT_NAMESPACE, log, clockOffsetMs = () => 0 } = options;
  if (!/^[\w.-]+$/.test(namespace)) {
    throw new NeverStartError({
      code: 'usage-invalid',
      subject: `namespace ${JSON.stringify(namespace)}`,
      todo: 'use letters, digits, ".", "_" and "-" only',
    });
  }
  const address = shownAddress(url);
  const connect = { url, address, log };
  const redis = await openConnection({ ...connect, use: 'store' });
  try {
    const facts = await readServerFacts(redis).catch((error: unknown) => {
      throw storeFailure(address, error);
    });
    const { waitsForDisk, warnings } = judgeServer(facts, address, {
      minimumFreeMemory: options.minimumFreeMemory ?? null,
      mayWaitForDisk: options.waitsForDisk ?? false,
    });
    const root = storeRoot(namespace);
    const failure = (error: unknown) => storeFailure(address, error);
    const store = createStoreConnection({ redis, address, root, clockOffsetMs, waitsForDisk });
    const keyValues = createRedisKeyValues(store);
    const id = await giveEngineId(keyValues);
    const queues = createRedisQueues({ connect, namespace, log, telemetry: options.telemetry });
    return {
      id,
      kind: 'redis',
      address,
      ledger: createRedisLedger(store),
      outcomes: createRedisOutcomes(store),
      runs: createRedisRuns(store),
      keyValues,
      scheduledJobs: createScheduledJobs(queues.openScheduledJobQueue, failure),
      warnings,
      openQueue: queues.openQueue,
      openChunkQueue: (name) => createChunkQueue(queues.openQueue(name), failure),
      openWorker: queues.openWorker,
      openScheduledJobWorker: queues.openScheduledJobWorker,
      async freeMemory() {
        try {
          return freeShare(await readServerFacts(redis));
        } catch (error) {
          throw storeFailure(address, error);
        }
      },
      async facts() {
        try {
          const info = parseInfo(await redis.info());
          const version = info.get('valkey_version');
          return {
            version: version === undefined ? `Redis ${info.get('redis_version')}` : `Valkey ${version}`,
            sessions: Number(info.get('connected_clients')),
            bytes: Number(info.get('used_memory')),
          };
        } catch (error) {
          throw storeFailure(address, error);
        }
      },
      roundTrips: store.roundTrips,
      async close() {
        await Promise.all([queues.close(), closeConnection(redis)]);
      },
    };
  } catch (error) {
    await closeConnection(redis);
    throw error;
  }
}
