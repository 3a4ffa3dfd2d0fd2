/** Opens the engine on PostgreSQL: BullMQ's Postgres backend and our SQL share one `pg` pool. */
import { Socket } from 'node:net';
import type { PgPool } from 'bullmq';
import type { Pool, PoolClient } from 'pg';
import { type Clock, idleClock } from '../../core/clock.js';
import { BrandEnrichError, errorText, RunError } from '../../core/errors.js';
import { orRelease, withinDeadline } from '../../core/lifecycle.js';
import { load } from '../../core/load.js';
import type { Log } from '../../core/log.js';
import { phrase } from '../../core/phrase.js';
import { flag } from '../../core/shapes.js';
import { systemWords } from '../../core/system-error.js';
import type { Engine, EngineOptions } from '../engine.js';
import { createStores, engineId } from '../engine-stores.js';
import { createPatience } from '../patience.js';
import { createQueues, type QueueBackend } from '../queues.js';
import { ADDRESS, checked, type StoreCalls, translated, unfit, walkBy } from '../stores/store-calls.js';
import {
  BEGIN_SESSION,
  CONNECT_TIMEOUT_MS,
  connectionOf,
  durabilityWarnings,
  type PostgresServer,
  readServerFacts,
  requireFit,
  shownAddress,
  withoutPassword,
} from './postgres-server.js';
import { prepareSchema, underSchemaLock } from './schema.js';
import { isDenied, isEndedByServer, storeFailure, unreachable } from './store-failure.js';

/** `url`: `postgres://user:password@host:port/database`, with parameters of `pg` (`sslmode`). */
export type PostgresEngineOptions = EngineOptions & {
  readonly url: string;
  readonly extraCa?: string | null;
};

/** Few, since exchanges wait for each other and `max_connections` is 100 by default. */
const SESSIONS = 8;

const QUERY_TIMEOUT_MS = 20_000;
const CLOSE_DEADLINE_MS = 2_000;
/** Answers to delete in one call: about half a second of the server's time. */
export const PAGE_ROWS = 50_000;

const SERVER_FACTS = `SELECT current_setting('server_version') AS version,
  pg_database_size(current_database()) AS bytes,
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS sessions`;

const FORGET = `DO $$ BEGIN EXECUTE (
  SELECT 'TRUNCATE ' || string_agg(format('%I.%I', schemaname, tablename), ', ') FROM pg_tables
  WHERE schemaname IN ('brand_enrich', 'bullmq') AND tablename NOT IN ('engine_state', 'migration')); END $$`;

/** Opens the engine at an address. Throws as {@link openEngineOn} does. */
export async function openPostgresEngine(given: PostgresEngineOptions): Promise<Engine> {
  const { url, extraCa = null, ...options } = given;
  const server: PostgresServer = {
    connection: connectionOf(url, extraCa),
    address: shownAddress(url),
    todo: phrase`check the address (${ADDRESS}), and that PostgreSQL is running; then run again`,
    sessions: SESSIONS,
    redact: (text) => withoutPassword(text, url),
  };
  return openEngineOn('postgres', server, options);
}

/**
 * Opens the engine on a server. Throws {@link RunError}: `engine-unreachable` if the server does
 * not let us in, `engine-unfit` if it is too old, denies us schemas, or has those of another build.
 */
export async function openEngineOn(
  kind: 'postgres' | 'embedded',
  server: PostgresServer,
  options: EngineOptions,
): Promise<Engine> {
  const { log, isReadOnly, clockOffsetMs = () => 0 } = options;
  const { address } = server;
  const failure = (error: unknown) => storeFailure(server, error);
  return orRelease(async (releasers) => {
    const { pool, close } = openPool(server, log);
    releasers.push(close);
    await assertReachable(pool, server);
    const calls = createSqlCalls(server, pool, clockOffsetMs);
    // If the server ends the session after it let us in, it restarts: wait for it.
    const patience = createPatience(options);
    const inSession = async <T>(act: (session: PoolClient) => Promise<T>): Promise<T> => {
      const session = await translated(pool.connect(), failure);
      let isLost = true;
      try {
        const result = await act(session);
        isLost = false;
        return result;
      } finally {
        session.release(isLost);
      }
    };
    const warnings = await patience(() =>
      inSession((session) =>
        preparing(server, async () => {
          const facts = await readServerFacts(session);
          requireFit(facts, address);
          await prepareSchema(session, address, isReadOnly);
          if (isReadOnly !== true) await migrateQueues(session);
          if (options.forgets) await session.query(FORGET);
          return durabilityWarnings(facts);
        }),
      ),
    );
    if (isReadOnly !== true) releasers.push(keepTidy(calls, options.upkeepClock ?? idleClock, log));
    const stores = createStores(calls);
    const id = await patience(() => engineId(stores.keyValues, isReadOnly));
    const prepareQueues = async () => {
      if (isReadOnly !== true) return;
      await patience(() => inSession((session) => preparing(server, () => migrateQueues(session))));
    };
    const queues = createQueues(backendOn(pool, prepareQueues), { failure, log, isReadOnly });
    releasers.push(() => queues.close());
    return {
      id,
      kind,
      address,
      ...stores,
      ...queues,
      warnings,
      freeMemory: async () => null,
      async facts() {
        const { version, sessions, bytes } = (await translated(pool.query(SERVER_FACTS), failure)).rows[0];
        return { version: `PostgreSQL ${version}`, sessions: Number(sessions), bytes: Number(bytes) };
      },
      close: () => releasers.releaseAll(),
    };
  });
}

/** Returns one pool for all queues and workers. Each session has `bullmq` in its search path. */
function backendOn(pool: Pool, prepare: QueueBackend['prepare']): QueueBackend {
  const connection = { connection: pool as unknown as PgPool };
  let classes: ReturnType<QueueBackend['classes']> | undefined;
  return {
    prepare,
    classes() {
      const { withBackend, createPostgresBackend } = load('bullmq') as typeof import('bullmq');
      // The classes differ only by a type parameter, the backend.
      classes ??= withBackend(createPostgresBackend) as unknown as NonNullable<typeof classes>;
      return classes;
    },
    queueConnection: () => connection,
    workerConnection: () => ({ connection, release: async () => undefined }),
    close: async () => undefined,
  };
}

/** How often each process asks the store whether the daily purge is due. */
const ASK_EVERY_MS = 3_600_000;
/** Longer than the purge of one page takes. */
const TIDY_DEADLINE_MS = 2_000;

/** Purges expired answers now and daily, as Redis does itself, until the result is called. */
function keepTidy(calls: StoreCalls, clock: Clock, log: Log): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const ended = (async () => {
    for (let isDue = true; ; ) {
      try {
        isDue = (await calls.call(flag, 'is_tidy_due')) || isDue;
        if (isDue) {
          while (await calls.call(flag, 'tidy', PAGE_ROWS)) signal.throwIfAborted();
          log.debug('nothing older than 30 days is left');
        }
        isDue = false;
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ reason: systemWords(error) }, 'old answers could not be deleted; trying again in an hour');
      }
      await clock.sleep(ASK_EVERY_MS, signal);
    }
  })().catch(() => undefined);
  return async () => {
    stopping.abort(new Error('closing'));
    // Closing the pool next also ends a call that a dead server never answers.
    await withinDeadline(ended, TIDY_DEADLINE_MS);
  };
}

/** Throws if a person must act. If the server only restarts, later calls wait for it. */
async function assertReachable(pool: Pool, server: PostgresServer): Promise<void> {
  try {
    (await pool.connect()).release();
  } catch (error) {
    const failure = storeFailure(server, error);
    if (server.loss?.() === null || isEndedByServer(error)) return;
    throw failure instanceof RunError ? failure : unreachable(server, error);
  }
}

/** Brings BullMQ's schema up to date; without this check BullMQ locks its versions each time. */
async function migrateQueues(session: PoolClient): Promise<void> {
  const bullmq = load('bullmq') as typeof import('bullmq');
  const version = await bullmq.assertSchemaCompatibility(session).catch((error: unknown) => {
    if (error instanceof bullmq.SchemaMigrationRequiredError) return 0;
    throw error;
  });
  if (version >= bullmq.LATEST_SCHEMA_VERSION) return;
  await underSchemaLock(session, () => bullmq.runMigrations(session));
}

/** Runs `prepare`. Throws {@link unfit} if a schema cannot be created. */
async function preparing<T>(server: PostgresServer, prepare: () => Promise<T>): Promise<T> {
  const { address, redact } = server;
  try {
    return await prepare();
  } catch (error) {
    if (error instanceof BrandEnrichError) throw error;
    const known = storeFailure(server, error);
    // Other known errors have nothing to do with the schemas.
    if (known instanceof RunError && !isDenied(error)) throw known;
    const what = `the schemas bullmq and brand_enrich could not be created (${redact(errorText(error))})`;
    throw unfit(what, address, 'allow the user to create schemas in this database');
  }
}

/** Opens the pool of one engine. `close` ends within 2 s, even if the server is gone. */
function openPool({ connection, sessions }: PostgresServer, log: Log) {
  const sockets = new Set<Socket>();
  const pg = load('pg') as typeof import('pg');
  const pool = new pg.Pool({
    ...connection,
    application_name: 'brand-enrich',
    max: sessions,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    onConnect: (session) => session.query(BEGIN_SESSION),
    keepAlive: true,
    allowExitOnIdle: true,
    keepAliveInitialDelayMillis: 10_000,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
  });
  // Each queue and worker adds its own listener.
  pool.setMaxListeners(0);
  // Without a listener, a client in use whose session ends would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', (error) => log.debug({ reason: errorText(error) }, 'lost a session with the engine'));
  const close = async () => {
    await withinDeadline(pool.end(), CLOSE_DEADLINE_MS);
    for (const socket of sockets) socket.destroy();
  };
  return { pool, close };
}

/** Returns the calls of the stores; each calls one function in `brand_enrich`. */
function createSqlCalls(server: PostgresServer, pool: Pool, clockOffsetMs: () => number): StoreCalls {
  const roundTrips = { count: 0 };
  const call: StoreCalls['call'] = async (answer, operation, ...params) => {
    roundTrips.count += 1;
    const values = [clockOffsetMs(), ...params];
    const places = values.map((_, index) => `$${index + 1}`);
    // The name lets a session parse it once: a function always has the same number of parameters.
    const text = `SELECT * FROM brand_enrich.${operation}(${places})`;
    const asked = pool.query({ name: `brand_enrich.${operation}`, text, values });
    const { rows, fields } = await translated(asked, (error) => storeFailure(server, error));
    const answered = fields.length > 1 ? rows[0] : Object.values(rows[0] ?? { none: null })[0];
    return checked(answer, answered, server.address);
  };
  return { address: server.address, roundTrips, call, walk: walkBy(call, PAGE_ROWS) };
}
