/**
 * The stores' way to PostgreSQL: one operation is one call of a function of the schema
 * `brand_enrich` (`schema.ts`), on a `pg` pool that BullMQ uses too, with its own objects in
 * the schema `bullmq`.
 */
import { Socket } from 'node:net';
import type { Pool as PgPool } from 'pg';
import { errorText } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import { load } from '../../core/load.js';
import type { Log } from '../../core/log.js';
import { checked, type StoreCalls, translated, walkBy } from '../store-calls.js';
import { CONNECT_TIMEOUT_MS, type PostgresServer } from './postgres-server.js';
import { storeFailure } from './store-failure.js';

const { Pool } = load('pg') as typeof import('pg');

/** A call that takes longer has failed: the network is gone or the server hangs. */
const QUERY_TIMEOUT_MS = 20_000;
const CLOSE_DEADLINE_MS = 2_000;
/** Answers that one call deletes: about half a second of the server's time. */
export const PAGE_ROWS = 50_000;

/** The pool of one engine. Its close ends in time even when the server is gone. */
export function openPool({ connection, sessions }: PostgresServer, log: Log) {
  const sockets = new Set<Socket>();
  const pool = new Pool({
    ...connection,
    application_name: 'brand-enrich',
    max: sessions,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
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
  // One that is taken out of the pool when its session ends would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', (error) => log.debug({ reason: errorText(error) }, 'lost a session with the engine'));
  const close = async () => {
    await withinDeadline(pool.end(), CLOSE_DEADLINE_MS);
    for (const socket of sockets) socket.destroy();
  };
  return { pool, close };
}

/** Every function gets `clockOffsetMs` first: what tests add to the store's clock. */
export function createSqlCalls(
  server: PostgresServer,
  pool: PgPool,
  clockOffsetMs: () => number,
): StoreCalls {
  const roundTrips = { count: 0 };
  const call: StoreCalls['call'] = async (answer, operation, ...params) => {
    roundTrips.count += 1;
    const values = [clockOffsetMs(), ...params];
    const places = values.map((_, index) => `$${index + 1}`);
    // Named, so that a session parses it once. Every call of a function has the same number of
    // parameters.
    const text = `SELECT * FROM brand_enrich.${operation}(${places})`;
    const asked = pool.query({ name: `brand_enrich.${operation}`, text, values });
    const { rows, fields } = await translated(asked, (error) => storeFailure(server, error));
    const answered = fields.length > 1 ? rows[0] : Object.values(rows[0] ?? { none: null })[0];
    return checked(answer, answered, server.address);
  };
  return { address: server.address, roundTrips, call, walk: walkBy(call, PAGE_ROWS) };
}
