/**
 * The engine on a PostgreSQL server: BullMQ's Postgres backend and our SQL on one `pg` pool.
 */
import type { PgPool, Telemetry } from 'bullmq';
import { runMigrations } from 'bullmq';
import type { PoolClient } from 'pg';
import { type Clock, systemClock } from '../../core/clock.js';
import { BrandEnrichError, errorText, FailFileError } from '../../core/errors.js';
import { createReleasers } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import { systemWords } from '../../core/system-error.js';
import { KEEP_ANSWERS_MS } from '../../stores/freshness.js';
import { createChunkQueue } from '../chunk-queue.js';
import type { Engine } from '../engine.js';
import { giveEngineId } from '../engine-id.js';
import { createScheduledJobs } from '../job-schedulers.js';
import { createPatience } from '../patience.js';
import { createConnectionPool, type PostgresServer } from './connection-pool.js';
import type { SqlSession } from './database.js';
import { createStoreCalls } from './database.js';
import { migrate } from './migrations.js';
import { keepTidy } from './retention.js';
import { sessionAddress, shownAddress, withoutPassword } from './server-address.js';
import { durabilityWarnings, readServerFacts, requireVersion } from './server-checks.js';
import { createSqlKeyValues } from './sql-key-values.js';
import { createSqlLedger } from './sql-ledger.js';
import { createSqlOutcomes } from './sql-outcomes.js';
import { createSqlQueues } from './sql-queues.js';
import { createSqlRuns } from './sql-runs.js';
import { storeFailure } from './store-failure.js';

interface EngineOptions {
  readonly log: Log;
  /** Of chunks; absent: nothing is traced. */
  readonly telemetry?: Telemetry | undefined;
  /** After it a server that is away is hardly waited for; absent: nobody says stop. */
  readonly stop?: AbortSignal;
  /** Tests only: added to the store's clock, in whole milliseconds. */
  readonly clockOffsetMs?: () => number;
  /** Tests only: what the daily purge waits with. */
  readonly upkeepClock?: Clock;
}

export interface PostgresEngineOptions extends EngineOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows (`sslmode` ...). */
  readonly url: string;
}

/**
 * Exchanges wait for each other in the server, so more sessions would only use up the server's `max_connections` (100 by default)
 * with many workers.
 */
const SESSIONS = 8;

const SERVER_FACTS = `SELECT current_setting('server_version') AS version,
  pg_database_size(current_database()) AS bytes,
  (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS sessions`;

/** Throws what {@link openEngineOn} throws. */
export async function openPostgresEngine({ url, ...options }: PostgresEngineOptions): Promise<Engine> {
  const server: PostgresServer = {
    connection: { connectionString: sessionAddress(url) },
    address: shownAddress(url),
    todo: 'see that PostgreSQL runs and can be reached, then run again',
    sessions: SESSIONS,
    redact: (text) => withoutPassword(text, url),
  };
  return openEngineOn('postgres', server, options);
}

/**
 * Connects, brings both schemas up to date and removes what nobody needs any more.
 *
 * Throws {@link FailFileError}: `engine-unreachable` when the server does not let us in, `engine-unfit` when it is too old,
 * may not make our schemas, or was used by a later release.
 */
export async function openEngineOn(
  kind: 'postgres' | 'embedded',
  server: PostgresServer,
  options: EngineOptions,
): Promise<Engine> {
  const { log, telemetry, clockOffsetMs = () => 0, stop = new AbortController().signal } = options;
  const { address } = server;
  const releasers = createReleasers();
  const failure = (error: unknown) => storeFailure(server, error);
  const connections = createConnectionPool(server, log);
  releasers.push(() => connections.close());
  try {
    (await connect(() => connections.pool.connect(), server)).release();
    const calls = createStoreCalls(connections, clockOffsetMs);
    // A server that lets us in and then ends the session is away for a moment, and no more.
    const patience = createPatience({ log, stop });
    const warnings = await patience(async () => {
      const client = await connections.pool.connect().catch((error: unknown) => {
        throw failure(error);
      });
      let isLost = true;
      try {
        const warned = await prepare(client, server);
        isLost = false;
        return warned;
      } finally {
        client.release(isLost);
      }
    });
    await patience(() => calls.value('tidy', KEEP_ANSWERS_MS));
    releasers.push(keepTidy(calls, options.upkeepClock ?? systemClock, log));
    const keyValues = createSqlKeyValues(calls);
    const id = await patience(() => giveEngineId(keyValues));
    // BullMQ describes the part of `pg` that it uses in types of its own.
    const queues = createSqlQueues(connections.pool as unknown as PgPool, log, telemetry);
    releasers.push(() => queues.close());
    return {
      id,
      kind,
      address,
      ledger: createSqlLedger(calls),
      outcomes: createSqlOutcomes(calls),
      runs: createSqlRuns(calls, address),
      keyValues,
      scheduledJobs: createScheduledJobs(queues.openScheduledJobQueue, failure),
      warnings,
      openQueue: (name) => queues.openQueue(name),
      openChunkQueue: (name) => createChunkQueue(queues.openQueue(name), failure),
      openWorker: (name, processor, concurrency) => queues.openWorker(name, processor, concurrency),
      openScheduledJobWorker: (name, processor, concurrency) =>
        queues.openScheduledJobWorker(name, processor, concurrency),
      freeMemory: async () => null,
      async facts() {
        const { rows } = await connections.pool.query(SERVER_FACTS).catch((error: unknown) => {
          throw failure(error);
        });
        const { version, sessions, bytes } = rows[0];
        return { version: `PostgreSQL ${version}`, sessions: Number(sessions), bytes: Number(bytes) };
      },
      roundTrips: calls.roundTrips,
      close: () => releasers.releaseAll(),
    };
  } catch (error) {
    await releasers.releaseAll().catch(() => undefined);
    throw error;
  }
}

async function connect(
  open: () => Promise<PoolClient>,
  { address, redact }: PostgresServer,
): Promise<PoolClient> {
  try {
    return await open();
  } catch (error) {
    const reason = redact(systemWords(error));
    // Its own word, as opposed to the system's.
    const isReply = error instanceof Error && 'severity' in error;
    throw new FailFileError(
      isReply
        ? {
            code: 'engine-unreachable',
            what: `the engine does not let us in (${reason})`,
            subject: address,
            todo: 'check user, password and database in the address (--engine)',
          }
        : {
            code: 'engine-unreachable',
            subject: `${address} (${reason})`,
            todo: 'check the address (--engine), and that PostgreSQL runs and can be reached; then run again',
          },
    );
  }
}

/** Checks the server and brings both schemas up to date; what it warns of. */
async function prepare(client: PoolClient, server: PostgresServer): Promise<string[]> {
  const { address, redact } = server;
  // pg asks for a list that it may change.
  const session: SqlSession = {
    query: (sql, params) => (params === undefined ? client.query(sql) : client.query(sql, [...params])),
  };
  try {
    const facts = await readServerFacts(session);
    requireVersion(facts, address);
    await runMigrations(client);
    await migrate(session, address);
    return durabilityWarnings(facts);
  } catch (error) {
    if (error instanceof BrandEnrichError) throw error;
    const known = storeFailure(server, error);
    if (known instanceof FailFileError && known.code === 'engine-unreachable') throw known;
    throw new FailFileError({
      code: 'engine-unfit',
      what: `the schemas bullmq and brand_enrich could not be made (${redact(errorText(error))})`,
      subject: address,
      todo: 'let the user create schemas in this database',
    });
  }
}
