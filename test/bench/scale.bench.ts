/** What more work and more workers cost; `BENCH_WORK=10` needs 5 GB of memory and of disk. */
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { createDatabase, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { cpuSecondsOf, diskMiB, watch } from './measure.ts';
import { keepTable, sayFigure } from './results.ts';
import { redisFacts, scaled, useStage } from './stage.ts';

const ENGINES = ['redis', 'embedded'] as const;
type EngineName = (typeof ENGINES)[number];
const stage = useStage();

async function measured(engine: EngineName, work: number, input: string, url: string) {
  const watched = watch(() => stage.serverOf(engine));
  const { report, ownCpuSeconds, peakMiB } = await stage.run(input, engine, url);
  const server = watched();
  const costs = {
    seconds: report.seconds,
    'CPU s': ownCpuSeconds,
    'engine CPU s': server.cpuSeconds,
    'peak MiB': peakMiB,
    'engine MiB': server.peakMiB,
    'state MiB': diskMiB(stage.state()),
  };
  const shown = Object.entries(costs).map(([kind, cost]) => `${cost.toFixed(1)} ${kind}`);
  sayFigure(`${engine}, ${work}`, shown.join(', '));
  return { engine, work, sent: report.requests.sent, costs };
}

function keepCosts(name: string, unit: string, all: readonly Awaited<ReturnType<typeof measured>>[]): void {
  const kinds = ['seconds', 'CPU s', 'engine CPU s', 'peak MiB', 'engine MiB', 'state MiB'] as const;
  const rows = all.map(({ engine, work, costs }) => {
    const cpu = Math.round(((costs['CPU s'] + costs['engine CPU s']) / work) * 1e6);
    return [engine, work, ...kinds.map((kind) => costs[kind].toFixed(1)), cpu];
  });
  keepTable(name, ['engine', unit, ...kinds, `CPU us per ${unit.slice(0, -1)}, all`], rows);
}

it('rows: over stored answers', async () => {
  const distinct = scaled(10_000);
  const url = await stage.service(distinct);
  const all = [];
  for (const engine of ENGINES) {
    await stage.startAnew();
    await stage.run(await stage.input(distinct), engine, url);
    for (const rows of [10_000, 100_000, 1_000_000].map(scaled)) {
      const cost = await measured(engine, rows, await stage.input(rows, distinct), url);
      expect(cost.sent).toBe(0);
      all.push(cost);
    }
  }
  keepCosts('rows', 'rows', all);
});

it('lookups: distinct identifiers', async () => {
  const sizes = [1_000, 10_000, 100_000].map(scaled);
  const url = await stage.service(Math.max(...sizes));
  const all = [];
  for (const engine of ENGINES) {
    for (const lookups of sizes) {
      await stage.startAnew();
      const cost = await measured(engine, lookups, await stage.input(lookups), url);
      expect(cost.sent).toBe(lookups);
      all.push(cost);
    }
  }
  keepCosts('lookups', 'lookups', all);
});

const LATENCY_S = 0.02;
const AT_ONCE = 8;
/** Requests per second of one worker that waits for nothing but the service. */
const IDEAL = AT_ONCE / LATENCY_S;

/** A server under the workers, and what it says of its own work since it was started. */
interface Server {
  readonly url: string;
  readonly pid: number;
  facts(): Promise<{ calls: number; diskBytes: number }>;
}

async function redisServer(): Promise<Server> {
  await stage.startAnew(['--appendonly', 'yes', '--auto-aof-rewrite-percentage', '0']);
  const { url, pid } = stage.redis;
  return {
    url,
    pid,
    async facts() {
      const fact = await redisFacts(url);
      return { calls: fact('cmdstat_evalsha.calls'), diskBytes: fact('aof_current_size') };
    },
  };
}

async function postgresServer(server: PostgresServer): Promise<Server> {
  await stage.startAnew();
  return {
    url: await createDatabase(server),
    pid: server.pid,
    async facts() {
      const client = new Client({ connectionString: server.url });
      await client.connect();
      const sql = `SELECT sum(xact_commit) AS calls, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS "diskBytes"
        FROM pg_stat_database`;
      const [row] = (await client.query(sql)).rows;
      await client.end();
      return { calls: Number(row.calls), diskBytes: Number(row.diskBytes) };
    },
  };
}

it('workers: 1, 2, 4, 8 processes, 20 ms, 8 at once each', async () => {
  const postgres = await startPostgres(['max_connections=300']);
  try {
    const url = await stage.service(scaled(5_500) * 8, `latency=${LATENCY_S * 1_000}ms`);
    const rows = [];
    for (const [name, open] of [
      ['redis', redisServer],
      ['postgres', () => postgresServer(postgres)],
    ] as const) {
      for (const count of [1, 2, 4, 8]) {
        const server = await open();
        const row = [name, count, ...(await workTogether(server, count, url))];
        rows.push(row);
        sayFigure(`${name}, ${count} workers`, row.join(' '));
      }
    }
    const cpu = ['worker CPU us per lookup', 'engine CPU us per lookup'];
    const engine = ['engine calls per lookup', 'log bytes per lookup'];
    keepTable('workers', ['engine', 'workers', 'lookups/s', 'of ideal', ...cpu, ...engine], rows);
  } finally {
    await postgres.stop();
  }
});

/** So many workers on one run: rate, share of the ideal, and costs per lookup. */
async function workTogether(server: Server, count: number, url: string): Promise<(string | number)[]> {
  const known = scaled(1_500) * count;
  const lookups = scaled(4_000) * count;
  const input = await stage.input(known + lookups);
  const options = ['--concurrency', String(AT_ONCE)];
  const workers = await Promise.all(
    Array.from({ length: count }, () => stage.worker(server.url, url, ...options)),
  );
  const cpuOfWorkers = () => workers.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
  try {
    // A worker that has just begun compiles for a second.
    await stage.run(await stage.input(known), server.url, url, '--no-worker');
    const [factsBefore, cpuBefore] = [await server.facts(), cpuOfWorkers()];
    const watched = watch(() => server.pid);
    const { report } = await stage.run(input, server.url, url, '--no-worker');
    expect(report.requests.billed).toBe(lookups);
    const engine = watched();
    const [factsAfter, cpuAfter] = [await server.facts(), cpuOfWorkers()];
    const rate = lookups / report.seconds;
    return [
      Math.round(rate),
      (rate / (IDEAL * count)).toFixed(2),
      Math.round(((cpuAfter - cpuBefore) / lookups) * 1e6),
      Math.round((engine.cpuSeconds / lookups) * 1e6),
      ((factsAfter.calls - factsBefore.calls) / lookups).toFixed(3),
      Math.round((factsAfter.diskBytes - factsBefore.diskBytes) / lookups),
    ];
  } finally {
    await Promise.all(workers.map(({ stop }) => stop()));
  }
}
