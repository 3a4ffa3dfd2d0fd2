/**
 * The connections to Redis. The stores' one never sends a command twice, as ioredis does after a
 * reconnect by default: no permit must be taken for a caller that no longer listens. BullMQ's
 * producers fail at once, its workers wait for as long as it takes. The caller closes them.
 */
import type { Redis, RedisOptions } from 'ioredis';
import { type ClientCertificate, trusting } from '../../core/connector.js';
import { RunError } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import { load } from '../../core/load.js';
import type { Log } from '../../core/log.js';
import { systemWords } from '../../core/system-error.js';
import { readSentinels } from '../../settings/address-values.js';
import { isRefusedDatabase, storeFailure } from './store-failure.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Then a store call counts as lost. */
const COMMAND_TIMEOUT_MS = 5_000;
const OPEN_DEADLINE_MS = 12_000;
/**
 * A primary that is gone without a word is left. Longer than BullMQ blocks. Not by ioredis' own
 * detector: one that fires while it reconnects ends the connection for good (6.0).
 */
const SILENT_MS = 20_000;
const CLOSE_DEADLINE_MS = 1_000;
const RECONNECT_AFTER_MS = { step: 50, most: 1_000 };

const OPTIONS_OF_USE = {
  store: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
  },
  producer: { enableOfflineQueue: false, maxRetriesPerRequest: 1 },
  // BullMQ blocks on this connection, so a command may take as long as it likes.
  worker: { maxRetriesPerRequest: null },
} satisfies Readonly<Record<string, RedisOptions>>;

export interface ConnectOptions {
  readonly url: string;
  /** Without credentials. */
  readonly address: string;
  readonly use: keyof typeof OPTIONS_OF_USE;
  readonly log: Log;
  readonly extraCa: string | null;
  readonly client: ClientCertificate | null;
}

/** Opens (`store`: on `connect`) and reconnects on its own; logs errors once per outage. */
export function createConnection({ url, address, use, log, extraCa, client }: ConnectOptions): Redis {
  const ioredis = load('ioredis') as typeof import('ioredis');
  const sentinel = readSentinels(url);
  const hasTls = /^rediss/.test(url);
  const tls = trusting(extraCa, client);
  const options = {
    ...OPTIONS_OF_USE[use],
    // With this option ioredis would use TLS for a `redis://` address too.
    ...(hasTls && { tls }),
    ...(sentinel && { ...sentinel, socketTimeout: SILENT_MS, enableTLSForSentinelMode: hasTls }),
    ...(sentinel && hasTls && { sentinelTLS: tls }),
    // The primary that a failover has made a replica is left.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    // RESP3 would bring credentials into HELLO and nothing that is needed here.
    protocol: 2,
    // BullMQ gives up on a connection whose first attempt it makes itself and sees fail; one under
    // way it waits for.
    lazyConnect: use === 'store',
    connectTimeout: CONNECT_TIMEOUT_MS,
    connectionName: `brand-enrich-${use}`,
    retryStrategy: (times: number) => Math.min(times * RECONNECT_AFTER_MS.step, RECONNECT_AFTER_MS.most),
  } satisfies RedisOptions;
  const redis = sentinel === null ? new ioredis.Redis(url, options) : new ioredis.Redis(options);
  keepToDatabase(redis);
  // A pending answer keeps the process running, not the connection.
  redis.on('connect', () => redis.stream.unref());
  let isDown = false;
  // The code that opens a store's connection reports the failure.
  let isKnown = use !== 'store';
  redis.on('error', (error) => {
    const reason = systemWords(error);
    if (!isDown && isKnown) log.warn({ engine: address, use, reason }, 'the engine is unavailable');
    isDown = true;
  });
  redis.on('ready', () => {
    if (isDown && isKnown) log.info({ engine: address, use }, 'the engine is available again');
    isDown = false;
    isKnown = true;
  });
  return redis;
}

/**
 * Never lets it, or what is made from it, be ready on another database than the address names:
 * where the server refuses that one, `ioredis` emits the error, and would go on with database 0.
 */
function keepToDatabase(redis: Redis): Redis {
  redis.on('error', (error) => {
    if (isRefusedDatabase(error)) redis.disconnect(true);
  });
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => keepToDatabase(duplicate(override));
  return redis;
}

/** Throws the first reason as `RunError`: `engine-unreachable`, `engine-unfit` if refused. */
export async function openConnection(options: ConnectOptions): Promise<Redis> {
  const redis = createConnection(options);
  let reason: unknown;
  const note = (error: unknown) => {
    reason ??= error;
  };
  redis.on('error', note);
  try {
    const opened = redis.connect().then(() => true);
    if ((await withinDeadline(opened, OPEN_DEADLINE_MS)) !== true) throw new Error('no answer');
    return redis;
  } catch (error) {
    redis.disconnect();
    const failure = storeFailure(options.address, reason ?? error);
    throw failure instanceof RunError ? failure : storeFailure(options.address, new Error(failure.message));
  } finally {
    redis.off('error', note);
  }
}

/** Closes the connection in order if Redis answers, and in any case within a second. */
export async function closeConnection(redis: Redis): Promise<void> {
  if (redis.status === 'ready') {
    const quit = redis.quit().catch(() => undefined);
    await withinDeadline(quit, CLOSE_DEADLINE_MS);
  }
  redis.disconnect();
}

/** Returns the address without user and password: `redis://host:port/db`. */
export function shownAddress(url: string): string {
  const sentinel = readSentinels(url);
  if (sentinel !== null) {
    const hosts = sentinel.sentinels.map(({ host, port }) => `${host}:${port}`).join(',');
    return `${url.slice(0, url.indexOf(':'))}://${hosts}/${sentinel.name}/${sentinel.db}`;
  }
  const { protocol, hostname, port, pathname } = new URL(url);
  return `${protocol}//${hostname}:${port || '6379'}${pathname === '/' ? '' : pathname}`;
}
