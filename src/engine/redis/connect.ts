/**
 * The connections to Redis, which the caller closes. The stores' connection never repeats a command
 * after a reconnect, as ioredis does by default, or it could take a permit for nobody. BullMQ's
 * producers fail at once, and its workers wait without limit.
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
/** After this time a store call counts as lost. */
const COMMAND_TIMEOUT_MS = 5_000;
const OPEN_DEADLINE_MS = 12_000;
/**
 * Behind sentinels, a connection to a silent primary ends after this time, longer than BullMQ
 * blocks. We do not use the failover detector of ioredis 6.0, which can end one for good.
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
  // BullMQ blocks on this connection, so its commands have no time limit.
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

/** Returns a connection that reconnects and logs each outage once. `store` opens on `connect`. */
export function createConnection({ url, address, use, log, extraCa, client }: ConnectOptions): Redis {
  const ioredis = load('ioredis') as typeof import('ioredis');
  const sentinel = readSentinels(url);
  const hasTls = /^rediss/.test(url);
  const tls = trusting(extraCa, client);
  const options = {
    ...OPTIONS_OF_USE[use],
    // Only with `rediss`: this option would make ioredis use TLS for `redis://` too.
    ...(hasTls && { tls }),
    ...(sentinel && { ...sentinel, socketTimeout: SILENT_MS, enableTLSForSentinelMode: hasTls }),
    ...(sentinel && hasTls && { sentinelTLS: tls }),
    // After a failover the old primary is a replica: connect again.
    reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
    // RESP3 would send credentials in HELLO, and has no other use here.
    protocol: 2,
    // BullMQ waits for a connection that is being opened, but gives up if its own attempt fails.
    lazyConnect: use === 'store',
    connectTimeout: CONNECT_TIMEOUT_MS,
    connectionName: `brand-enrich-${use}`,
    retryStrategy: (times: number) => Math.min(times * RECONNECT_AFTER_MS.step, RECONNECT_AFTER_MS.most),
  } satisfies RedisOptions;
  const redis = sentinel === null ? new ioredis.Redis(url, options) : new ioredis.Redis(options);
  keepToDatabase(redis);
  // The connection must not keep the process running.
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
 * Disconnects a connection and its duplicates if Redis refuses the database in the address, since
 * ioredis would only emit the error and continue with database 0.
 */
function keepToDatabase(redis: Redis): Redis {
  redis.on('error', (error) => {
    if (isRefusedDatabase(error)) redis.disconnect(true);
  });
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (override) => keepToDatabase(duplicate(override));
  return redis;
}

/** Opens a connection. Throws `RunError` with the first error as its reason. */
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

/** Closes the connection within a second, with QUIT if Redis answers. */
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
