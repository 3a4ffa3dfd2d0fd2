/**
 * The `pg` pool of one engine: its sessions, its calls of our SQL functions, and a close that ends in time even
 * when the server is gone. BullMQ uses the same pool.
 */
import { Socket } from 'node:net';
import { type ClientConfig, Pool } from 'pg';
import { errorText } from '../../core/errors.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { Log } from '../../core/log.js';
import type { SqlDatabase, SqlParam, SqlRow } from './database.js';
import { storeFailure } from './store-failure.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** A call that takes longer has failed: the network is gone or the server hangs. */
const QUERY_TIMEOUT_MS = 20_000;
const CLOSE_DEADLINE_MS = 2_000;

export interface ConnectionPool extends SqlDatabase {
  readonly pool: Pool;
  close(): Promise<void>;
}

/** A server as an engine sees it. */
export interface PostgresServer {
  /** What `pg` connects with, our session options included. */
  readonly connection: ClientConfig;
  /** Where it is, for people; never with credentials. */
  readonly address: string;
  /** What a person does when it does not answer. */
  readonly todo: string;
  /** Sessions of one process at most. Each worker keeps one to listen on. */
  readonly sessions: number;
  /** Cuts a password out of what the driver says. */
  redact(text: string): string;
}

/** Calls throw what `store-failure.ts` makes of the driver's errors. */
export function createConnectionPool(server: PostgresServer, log: Log): ConnectionPool {
  const sockets = new Set<Socket>();
  const { connection, sessions } = server;
  const pool = new Pool({
    ...connection,
    application_name: 'brand-enrich',
    max: sessions,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    stream: () => {
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
  });
  // Each queue and worker adds a listener of its own.
  pool.setMaxListeners(0);
  // One that is taken out of the pool when its session ends would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', (error) => log.debug({ reason: errorText(error) }, 'a session with the engine was lost'));

  const texts = new Map<string, string>();
  const textOf = (name: string, count: number) => {
    let text = texts.get(name);
    if (text === undefined) {
      const places = Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ');
      text = `SELECT * FROM brand_enrich.${name}(${places})`;
      texts.set(name, text);
    }
    return text;
  };
  let closing: Promise<void> | undefined;
  return {
    pool,
    async call(name, params) {
      // Named, so that a session parses it once. Every call of a function has the same number of parameters.
      try {
        const result = await pool.query<SqlRow, SqlParam[]>({
          name: `brand_enrich.${name}`,
          text: textOf(name, params.length),
          values: [...params],
        });
        return result.rows;
      } catch (error) {
        throw storeFailure(server, error);
      }
    },
    close() {
      closing ??= (async () => {
        await withinDeadline(pool.end(), CLOSE_DEADLINE_MS);
        for (const socket of sockets) socket.destroy();
      })();
      return closing;
    },
  };
}
