/**
 * The embedded database in the shape of a `pg` pool, as far as BullMQ's Postgres backend looks at one. All clients
 * are one session; each hears the notifications of the channels that anybody listens on and filters for itself.
 */
import { EventEmitter } from 'node:events';
import type { PgPool, PgQueryResult } from 'bullmq';
import type { SqlParam } from '../sql/database.js';
import type { EmbeddedDatabase } from './embedded-database.js';

class EmbeddedClient extends EventEmitter {
  constructor(
    private readonly database: EmbeddedDatabase,
    private readonly onRelease: (client: EmbeddedClient) => void,
  ) {
    super();
    this.setMaxListeners(0);
  }

  async query<R>(sql: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    return runQuery<R>(this.database, sql, params);
  }

  release(): void {
    this.onRelease(this);
  }
}

class EmbeddedPool extends EventEmitter {
  /** BullMQ reads this: a connection that cannot drop silently may be waited on for long. */
  readonly options = { keepAlive: true };
  private readonly clients = new Set<EmbeddedClient>();

  constructor(private readonly database: EmbeddedDatabase) {
    super();
    this.setMaxListeners(0);
    database.onNotification((channel, payload) => {
      for (const client of this.clients) client.emit('notification', { channel, payload });
    });
  }

  async connect(): Promise<EmbeddedClient> {
    const client = new EmbeddedClient(this.database, (released) => this.clients.delete(released));
    this.clients.add(client);
    return client;
  }

  async query<R>(sql: string, params?: readonly unknown[]): Promise<PgQueryResult<R>> {
    return runQuery<R>(this.database, sql, params);
  }

  /** The database is closed by who opened it. */
  async end(): Promise<void> {
    this.clients.clear();
  }
}

async function runQuery<R>(
  database: EmbeddedDatabase,
  sql: string,
  params?: readonly unknown[],
): Promise<PgQueryResult<R>> {
  // As `pg` does: undefined is null.
  const values = params?.map((value) => (value === undefined ? null : (value as SqlParam)));
  return (await database.query(sql, values)) as PgQueryResult<R>;
}

export function createPoolShape(database: EmbeddedDatabase): PgPool {
  return new EmbeddedPool(database);
}
