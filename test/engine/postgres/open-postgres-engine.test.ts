/**
 * The PostgreSQL engine while its server hangs, ends, refuses, or holds locks.
 *
 * @module-tag long
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { withinDeadline } from '../../../src/core/lifecycle.js';
import { openLog, silentLog } from '../../../src/core/log.js';
import type { ChunkProcessor, Engine } from '../../../src/engine/engine.js';
import {
  openEngineOn,
  openPostgresEngine,
  PAGE_ROWS,
} from '../../../src/engine/postgres/open-postgres-engine.js';
import { connectionOf } from '../../../src/engine/postgres/postgres-server.js';
import {
  FUNCTIONS,
  FUNCTIONS_VERSION,
  TABLES,
  underSchemaLock,
  VERSION,
} from '../../../src/engine/postgres/schema.js';
import type { ExchangeRequest } from '../../../src/ledger/ledger.js';
import { createHandClock } from '../../model/hand-clock.js';
import { listenForTest } from '../../support/listen-anew.js';
import { createDatabase, type PostgresServer, startPostgres } from '../../support/postgres-server.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { exchangeRequest, runSettings } from '../contract/run-settings.js';

const outcome = (key: string) =>
  ({ key, status: 'not_found', packed: null, billed: true, freshMs: null }) as const;

const LABEL = { host: 'etl-1', name: 'a.csv' };
const RUN = { id: 'r', key: 'key', label: LABEL, settings: runSettings() };

describe('the postgres engine', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync=off']);
  });
  afterAll(() => server.stop());

  async function open(url: string, isReadOnly = false): Promise<Engine> {
    const engine = await openPostgresEngine({ url, log: silentLog(), isReadOnly });
    onTestFinished(() => engine.close());
    return engine;
  }
  /** Ends after the test. */
  async function connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  }
  async function sql(url: string, text: string): Promise<unknown[]> {
    const client = await connect(url);
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  }
  /** A database whose schema an engine has made, and no engine uses. */
  async function madeDatabase(): Promise<string> {
    const url = await createDatabase(server);
    await (await open(url)).close();
    return url;
  }

  test('shows its address without the password, and warns that this server runs without fsync', async () => {
    const url = await createDatabase(server);
    const engine = await open(url);
    expect(engine.kind).toBe('postgres');
    expect(engine.address).toBe(`postgres://${new URL(url).host}${new URL(url).pathname}`);
    expect(engine.warnings).toMatchObject([
      { code: 'fsync-off', text: expect.stringContaining('fsync off') },
    ]);
  });

  test('each of many processes purges old data at its start, and one of them daily afterwards', async () => {
    const url = await createDatabase(server);
    const file = join(await temporaryFolder(), 'log');
    let offsetMs = 0;
    const clocks = Array.from({ length: 3 }, () => createHandClock());
    const allWait = async () => {
      for (const clock of clocks) await expect.poll(() => clock.dueInMs).toHaveLength(1);
    };
    const timesDone = async () =>
      (await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('nothing older than 30 days'))
        .length;
    for (const upkeepClock of clocks) {
      const { log } = openLog({ level: 'debug', file, stderr: process.stderr });
      const engine = await openPostgresEngine({ url, log, clockOffsetMs: () => offsetMs, upkeepClock });
      onTestFinished(() => engine.close());
    }
    await allWait();
    expect(await timesDone()).toBe(3);
    for (let hour = 0; hour < 50; hour += 1) {
      offsetMs += 3_600_000;
      await Promise.all(clocks.map((clock) => clock.advance(3_600_000)));
      await allWait();
    }
    expect(await timesDone()).toBe(3 + 2);
  });

  /** So many answers that are far too old to be kept. */
  const insertOld = (url: string, count: number) => {
    const rows = `SELECT 'old ' || n, false, true, n FROM generate_series(1, ${count}) n`;
    return sql(url, `INSERT INTO brand_enrich.outcome (key, is_matched, billed, fetched_at) ${rows}`);
  };

  test('a start does not wait for deletions', async () => {
    const url = await madeDatabase();
    await insertOld(url, 3);
    const reader = await connect(url);
    await reader.query('BEGIN; LOCK TABLE brand_enrich.outcome IN SHARE MODE');
    const { ledger, outcomes } = await open(url);
    expect((await ledger.show('account')).epoch).toBe('');
    expect(await outcomes.stats()).toMatchObject({ notFound: 3 });
    await reader.query('COMMIT');
    await expect.poll(() => outcomes.stats()).toMatchObject({ notFound: 0 });
  });

  test('more old answers than one call deletes are all purged, at a start and by a person', async () => {
    const url = await createDatabase(server);
    const first = await open(url);
    await insertOld(url, PAGE_ROWS + 1);
    expect(await first.outcomes.purge(86_400_000)).toBe(PAGE_ROWS + 1);
    await first.close();
    await insertOld(url, PAGE_ROWS + 1);
    const { outcomes } = await open(url);
    await expect.poll(() => outcomes.stats(), { timeout: 20_000 }).toMatchObject({ notFound: 0 });
  });

  test('a run is deleted after its data, however little a call deletes', async () => {
    const url = await createDatabase(server);
    const engine = await open(url);
    await engine.runs.start(RUN);
    for (const chunk of [1, 2, 3, 4, 5]) await engine.runs.finishChunk('r', chunk);
    const left = () =>
      sql(
        url,
        `SELECT (SELECT count(*) FROM brand_enrich.run) r, (SELECT count(*) FROM brand_enrich.run_chunk) c,
          (SELECT count(*) FROM brand_enrich.generation) g, (SELECT count(*) FROM brand_enrich.run_key) k`,
      );
    const tidy = () => sql(url, `SELECT brand_enrich.tidy(${100 * 86_400_000}, 2) AS more`);
    expect(await tidy()).toEqual([{ more: true }]);
    expect(await left()).toEqual([{ r: '1', c: '3', g: '1', k: '1' }]);
    expect([await tidy(), await tidy()]).toEqual([[{ more: true }], [{ more: false }]]);
    expect(await left()).toEqual([{ r: '0', c: '0', g: '0', k: '0' }]);
  });

  test('many processes may create the schemas at the same moment', async () => {
    const url = await createDatabase(server);
    const engines = await Promise.all(Array.from({ length: 8 }, () => open(url)));
    for (const engine of engines) expect(await engine.outcomes.stats()).toMatchObject({ matched: 0 });
    expect(await sql(url, 'SELECT version FROM brand_enrich.engine_state')).toHaveLength(1);
  });

  test('a process that waited to create a schema sees that another has created it', async () => {
    const url = await createDatabase(server);
    const [one, other] = [await connect(url), await connect(url)];
    // What a session needs to miss it: it changed a schema before, and looked for this one in vain.
    await other.query("CREATE SCHEMA another; SELECT to_regclass('made.table')");
    let waiting: Promise<void> | undefined;
    await underSchemaLock(one, async () => {
      waiting = underSchemaLock(other, async () => {
        await other.query('BEGIN');
        await other.query('CREATE SCHEMA IF NOT EXISTS made');
        await other.query('COMMIT');
      });
      const isWaiting = async () => (await one.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount;
      await expect.poll(isWaiting).toBe(1);
      await one.query('CREATE SCHEMA made');
    });
    await waiting;
  });

  test('replaces the functions of an earlier build, and keeps the data', async () => {
    const url = await madeDatabase();
    await sql(
      url,
      `INSERT INTO brand_enrich.account (name, epoch, period, others, quota) VALUES ('account', 'an epoch', 'none', 7, 10);
       UPDATE brand_enrich.engine_state SET functions = 0;
       DROP FUNCTION brand_enrich.show_account;
       CREATE FUNCTION brand_enrich.show_account(p_offset bigint) RETURNS jsonb LANGUAGE sql AS $$ SELECT '1'::jsonb $$`,
    );
    const { ledger } = await open(url);
    expect(await ledger.show('account')).toMatchObject({ others: 7, quota: 10 });
    expect(await sql(url, 'SELECT functions FROM brand_enrich.engine_state')).toEqual([
      { functions: FUNCTIONS_VERSION },
    ]);
  });

  test.each([
    ['those of an earlier build when it only looks', 0, true],
    ['those of a later build', 1_000, false],
  ])('leaves functions alone: %s', async (_, functions, isReadOnly) => {
    const url = await madeDatabase();
    await sql(url, `UPDATE brand_enrich.engine_state SET functions = ${functions}`);
    await sql(url, 'CREATE FUNCTION brand_enrich.kept() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$');
    expect((await (await open(url, isReadOnly)).ledger.show('account')).epoch).toBe('');
    expect(await sql(url, 'SELECT functions, brand_enrich.kept() FROM brand_enrich.engine_state')).toEqual([
      { functions, kept: 1 },
    ]);
  });

  test('the versions in schema.ts are raised when tables or functions change (by their hashes here)', () => {
    const hashOf = (text: string) => {
      const statements = text.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ');
      return createHash('sha256').update(statements).digest('hex').slice(0, 16);
    };
    expect({ version: VERSION, tables: hashOf(TABLES) }).toEqual({ version: 12, tables: '69933e35309979fa' });
    expect({ version: VERSION, functionsVersion: FUNCTIONS_VERSION, functions: hashOf(FUNCTIONS) }).toEqual({
      version: 12,
      functionsVersion: 3,
      functions: 'f38b351bee836f1f',
    });
  });

  test.each([
    ['UPDATE brand_enrich.engine_state SET version = 1000', 'schema 1000'],
    ['ALTER TABLE brand_enrich.engine_state DROP COLUMN version, DROP COLUMN functions', 'without a version'],
  ])('refuses a schema of another build and leaves it alone: %s', async (change, found) => {
    const url = await madeDatabase();
    await sql(url, `${change}; DROP FUNCTION brand_enrich.tidy`);
    await expect(open(url)).rejects.toMatchObject({
      code: 'engine-unfit',
      what: expect.stringContaining(found),
      todo: expect.stringContaining('`brand-enrich engine export` of the build that wrote them'),
    });
    expect(await sql(url, "SELECT to_regproc('brand_enrich.tidy') AS tidy")).toEqual([{ tidy: null }]);
  });

  // Plans of functions are kept for as long as a session lives.
  test('a session that began with empty tables reads only the rows that it needs', async () => {
    const url = await createDatabase(server);
    const engine = await open(url);
    const { runs, outcomes, ledger } = engine;
    await runs.start(RUN);
    await ledger.open('account', { rate: undefined, burst: 1 });
    const exchange = (some: Partial<ExchangeRequest>) =>
      ledger.exchange(exchangeRequest({ account: 'account', worker: 'w', run: 'r', ...some }));
    const reading = { usage: 0, quota: 10_000, period: null };
    for (let count = 0; count < 8; count += 1) {
      await exchange({ settle: [{ permit: 'unknown', as: 'billed' }], reading });
      await exchange({ take: [{ permit: 'unknown', key: 'unknown' }] });
      await runs.failures('r', ['unknown']);
    }

    const keys = Array.from({ length: 300 }, (_, nth) => `key-${nth}`);
    const freshness = { asOf: Date.now(), maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: 0 };
    await outcomes.claim('w', keys, freshness);
    const take = keys.map((key, nth) => ({ permit: `w.${nth}`, key }));
    expect((await exchange({ take })).state.held).toBe(300);
    await exchange({ settle: take.slice(100).map(({ permit }) => ({ permit, as: 'maybe_billed' })) });
    const failures = keys.map((key) => ({ key, reason: { code: 'lost' } as const, billed: true }));
    await runs.fail('r', failures);
    for (const { permit, key } of take.slice(0, 20)) {
      await exchange({ settle: [{ permit, as: 'billed' }], take: [{ permit: `${permit}-again`, key }] });
      await runs.failures('r', [key]);
    }
    // Sessions tell their counts when they end.
    await engine.close();
    const reads = `SELECT relname, idx_tup_fetch::int AS read FROM pg_stat_user_tables
      WHERE relname IN ('permit', 'unusable_answer', 'failure') ORDER BY relname`;
    await expect
      .poll(() => sql(url, reads), { timeout: 10_000 })
      .toEqual([
        { relname: 'failure', read: 20 },
        { relname: 'permit', read: 220 },
        { relname: 'unusable_answer', read: 0 },
      ]);
  });

  describe('calls that change many rows at once', () => {
    /** A session that holds the row `a`, of the rows `b` and `a`, which lie in this order. */
    async function holding(url: string, { table, columns, values }: typeof claims) {
      const rows = `('b', ${values}), ('a', ${values})`;
      await sql(url, `INSERT INTO brand_enrich.${table} (key, ${columns}) VALUES ${rows}`);
      const session = await connect(url);
      const lock = (key: string) =>
        session.query(`SELECT FROM brand_enrich.${table} WHERE key = '${key}' FOR UPDATE NOWAIT`);
      await session.query('BEGIN');
      await lock('a');
      return { session, lock };
    }
    const columns = 'is_matched, billed, fetched_at';
    const oldAnswers = { table: 'outcome', columns, values: 'false, true, 0' };
    const claims = { table: 'claim', columns: 'worker', values: "'w'" };

    test.each([
      ['a purge', oldAnswers, ({ outcomes }: Engine) => outcomes.purge(1)],
      ['forgetting', oldAnswers, ({ outcomes }: Engine) => outcomes.forget(['b', 'a'])],
      ['a release', claims, ({ outcomes }: Engine) => outcomes.release('w', ['b', 'a'])],
      ['recording', claims, ({ outcomes }: Engine) => outcomes.record([outcome('b'), outcome('a')])],
    ] as const)('%s takes them in the order of keys: no deadlock', async (_, rows, take) => {
      const url = await createDatabase(server);
      const engine = await open(url);
      const { session, lock } = await holding(url, rows);
      const taken = take(engine);
      // What each engine does daily may wait for the same lock.
      const waiting = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
          WHERE NOT granted AND query NOT LIKE '%.tidy(%'`;
      const isWaiting = async () => (await session.query(waiting)).rowCount;
      await expect.poll(isWaiting).toBe(1);
      await lock('b');
      await session.query('COMMIT');
      await taken;
    });

    test('old answers that another call locks are left to the next purge', async () => {
      const url = await createDatabase(server);
      const engine = await open(url);
      const { session } = await holding(url, oldAnswers);
      await open(url);
      await expect.poll(() => engine.outcomes.stats()).toMatchObject({ notFound: 1 });
      await session.query('COMMIT');
      await open(url);
      await expect.poll(() => engine.outcomes.stats()).toMatchObject({ notFound: 0 });
    });
  });

  test('advises to end sessions when no connection is left', async () => {
    const url = new URL(await createDatabase(server));
    await sql(url.href, "CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT 0");
    [url.username, url.password] = ['few', 'few'];
    await expect(open(url.href)).rejects.toMatchObject({
      code: 'engine-unreachable',
      todo: expect.stringContaining('max_connections'),
    });
  });

  test('opens beside a later release of BullMQ without a change of its schema', async () => {
    const url = await madeDatabase();
    await sql(
      url,
      `INSERT INTO bullmq.migration (version, name, min_client_version)
       SELECT 1000, 'later', max(min_client_version) FROM bullmq.migration`,
    );
    const reader = await connect(url);
    await reader.query('BEGIN; SELECT FROM bullmq.migration');
    // A change of the table would wait for the reader's end.
    expect((await open(url)).kind).toBe('postgres');
  });

  test('refuses a database that is read-only when it is opened', async () => {
    const url = await createDatabase(server);
    await sql(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_read_only = on`);
    await expect(open(url)).rejects.toMatchObject({
      code: 'engine-unfit',
      what: 'this PostgreSQL is read-only',
    });
  });

  test('opens although its first session is ended before it begins', async () => {
    const url = new URL(await createDatabase(server));
    const proxy = await startTcpProxy(Number(url.port));
    const fields = ['SFATAL', 'C57P01', 'Mterminating connection due to administrator command', ''];
    const body = Buffer.from(fields.map((field) => `${field}\0`).join(''));
    const head = Buffer.from('E\0\0\0\0');
    head.writeInt32BE(body.length + 4, 1);
    const ending = createServer((socket) =>
      socket.once('data', () => {
        proxy.leadsTo = Number(url.port);
        socket.end(Buffer.concat([head, body]));
      }),
    );
    proxy.leadsTo = await listenForTest(ending);
    const through = new URL(url);
    through.port = String(proxy.port);
    expect((await open(through.href)).kind).toBe('postgres');
    expect(proxy.leadsTo).toBe(Number(url.port));
  });

  test('on a private server opens although its first session is lost before it begins', async () => {
    const url = new URL(await createDatabase(server));
    const proxy = await startTcpProxy(Number(url.port));
    url.port = String(proxy.port);
    const cut = proxy.cutNextAnswer();
    const own = { address: 'state', todo: 'run again', sessions: 2, redact: (text: string) => text };
    const place = { ...own, connection: connectionOf(url.href, null), loss: () => null };
    const engine = await openEngineOn('embedded', place, { log: silentLog() });
    onTestFinished(() => engine.close());
    await cut;
    expect(engine.kind).toBe('embedded');
  });

  test('reports a wrong password without quoting it', async () => {
    const url = server.url.replace('secret-word', 'hidden');
    await expect(open(url)).rejects.toMatchObject({ code: 'engine-unfit' });
    await expect(open(url)).rejects.not.toThrow('hidden');
  });

  test('a restart of the server fails only the calls of that moment', { tags: ['long'] }, async () => {
    const url = await createDatabase(server);
    const engine = await open(url);
    const queue = engine.openQueue('chunks');
    onTestFinished(() => queue.close());
    const taken: number[] = [];
    const take: ChunkProcessor = async (job, _token, _signal) => void taken.push(job.data.chunk);
    const worker = engine.openWorker('chunks', take, 1);
    onTestFinished(() => worker.close());
    void worker.run().catch(() => undefined);
    // Not `once` of node:events: the errors of a lost session are expected.
    const completed = () => new Promise((resolve) => worker.once('completed', resolve));
    const chunk = (number: number) => ({ run: 'r', chunk: number, identifiers: [], attempts: {} });
    const first = completed();
    await queue.add('chunk', chunk(1));
    await first;

    const acknowledged: string[] = [];
    let failed = 0;
    let isOver = false;
    const work = (async () => {
      for (let count = 0; !isOver; count += 1) {
        try {
          await engine.outcomes.record([outcome(`k-${count}`)]);
          acknowledged.push(`k-${count}`);
        } catch {
          failed += 1;
        }
      }
    })();
    try {
      await server.restart();
      const second = completed();
      // A lost session is only discovered by using it.
      const add = () => queue.add('chunk', chunk(2), { jobId: 'r-2' }).catch(() => undefined);
      while ((await add()) === undefined);
      await second;
    } finally {
      isOver = true;
      await work;
    }
    expect(failed).toBeGreaterThan(0);
    expect(taken).toEqual([1, 2]);
    const freshness = { asOf: Date.now(), maxAgeMs: 60_000, maxAgeMissingMs: 60_000, notBefore: 0 };
    expect(await engine.outcomes.read(acknowledged, freshness)).not.toContain(null);
  });

  test.each(['SIGSTOP', 'SIGQUIT'] as const)('closes in time when the server got %s', async (signal) => {
    const own = await startPostgres(['fsync=off']);
    onTestFinished(() => own.stop());
    const engine = await openPostgresEngine({ url: own.url, log: silentLog() });
    const worker = engine.openWorker('chunks', async (_job, _token, _signal) => undefined, 2);
    void worker.run().catch(() => undefined);
    await worker.waitUntilReady();
    await own.kill(signal);
    const sendHeartbeat = engine.outcomes.heartbeat('w').catch(() => undefined);
    const closing = engine.close().then(() => 'closed');
    expect(await withinDeadline(closing, 15_000)).toBe('closed');
    await sendHeartbeat;
  });
});
