/** PostgreSQL that restarts, locks, is full of sessions or read-only, in the middle of a run. */
import { setTimeout as after } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest';
import { engineAt } from '../support/engines.js';
import { createDatabase, type PostgresServer, startPostgres } from '../support/postgres-server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { endure, failAtRandom } from './endure.js';

const OUTAGE_MS = 20_000;
/** Every lookup or every chunk needs each of these. */
const TABLES = ['account', 'permit', 'outcome', 'claim', 'worker', 'run', 'run_chunk', 'run_tally'];
const HOT_TABLES = [...TABLES.map((table) => `brand_enrich.${table}`), 'bullmq.job'];
const END_SESSIONS =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'brand-enrich'";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres(['max_connections=40']);
});
afterAll(() => server.stop());

/** A database, and a session of its administrator. */
async function createEngine() {
  const url = await createDatabase(server);
  const admin = await connect(url);
  return { url, admin, engine: engineAt('postgres', url) };
}

/** Rejects when the server has no connection left. */
async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  // Restarts end it.
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end().catch(() => undefined));
  return client;
}

describe('a run, while PostgreSQL', () => {
  test.each([
    ['is restarted', () => server.restart()],
    ['crashes and recovers', () => server.kill('SIGQUIT').then(() => server.restart())],
  ])('%s', async (name, restart) => {
    const { engine } = await createEngine();
    await endure(engine, name, 7, restart);
  });

  test('ends all its sessions at eight random moments', async () => {
    const { admin, engine } = await createEngine();
    await endure(engine, 'sessions', 7, async ({ dice }) => {
      for (let times = 0; times < 8; times += 1) {
        await after(dice.between(0, 1_000));
        await admin.query(END_SESSIONS);
      }
    });
  });

  test('has a table that another session has locked for 25 s', async () => {
    const { admin, engine } = await createEngine();
    await endure(engine, 'locked', 7, async ({ dice }) => {
      const table = dice.pick(HOT_TABLES);
      console.log(`locked: ${table}`);
      await admin.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
      // Longer than a call may take.
      await after(25_000);
      await admin.query('COMMIT');
    });
  });

  test('has no connection left for 20 s', async () => {
    const { url, admin, engine } = await createEngine();
    await endure(engine, 'connections', 7, async () => {
      const others: Client[] = [];
      const endsAt = performance.now() + OUTAGE_MS;
      while (performance.now() < endsAt) {
        await admin.query(END_SESSIONS);
        for (let isLeft = true; isLeft; ) {
          const other = await connect(url).catch(() => null);
          if (other === null) isLeft = false;
          else others.push(other);
        }
        await after(100);
      }
      await Promise.all(others.map((other) => other.end()));
    });
  });

  test('is read-only for 20 s', async () => {
    const { admin, engine } = await createEngine();
    await endure(engine, 'read-only', 7, async () => {
      await admin.query('ALTER SYSTEM SET default_transaction_read_only = on');
      await admin.query('SELECT pg_reload_conf()');
      await after(OUTAGE_MS);
      await admin.query('ALTER SYSTEM RESET default_transaction_read_only');
      await admin.query('SELECT pg_reload_conf()');
    });
  });

  test('is behind a network that cuts, delays and half-closes connections', async () => {
    const { url } = await createEngine();
    const address = new URL(url);
    const proxy = await startTcpProxy(Number(address.port));
    address.port = String(proxy.port);
    await endure(engineAt('postgres', address.href), 'network', 7, ({ dice }) =>
      failAtRandom(proxy, dice, 22_000),
    );
  });
});
