import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { writeCatalogue } from '../local-service/generate-catalogue.js';
import { generatedDomain } from '../local-service/generate-keys.js';
import { CLI, type CliProcess, startCli } from '../support/cli.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import { type Took, take } from './measure.ts';

export const TOKEN = 'bench-token';
/** So many, times `BENCH_WORK`: 0.1 for a first look, 10 for the largest sizes. */
export const scaled = (count: number) => Math.round(count * Number(process.env.BENCH_WORK ?? 1));

export const ENV = { BRAND_API_TOKEN: TOKEN };

/** The command line, measured; `code` must be 0. */
export async function runCli(args: readonly string[], url?: string): Promise<Took> {
  const took = await take(CLI, args, url === undefined ? ENV : { ...ENV, BRAND_API_URL: url });
  expect(took.code, took.stderr.slice(-2_000)).toBe(0);
  return took;
}

interface Report {
  readonly requests: { readonly sent: number; readonly billed: number };
  readonly seconds: number;
}

/** For one file of benchmarks: a folder, and everything that starts in it and ends with it. */
export function useStage() {
  let folder = '';
  let redis: RedisServer | null = null;
  let outputs = 0;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'brand-enrich-bench-'));
    // Root's private server runs as another user, who has to traverse the folder.
    await chmod(folder, 0o711);
  });
  afterAll(async () => {
    await redis?.stop();
    // A server that is shutting down still writes for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  const state = () => join(folder, 'state');
  return {
    get redis(): RedisServer {
      if (redis === null) throw new Error('startAnew comes first');
      return redis;
    },
    state,
    path: (name: string) => join(folder, name),

    /** An empty Redis, with these arguments, and an empty state folder. */
    async startAnew(redisArgs: readonly string[] = []): Promise<void> {
      await redis?.stop();
      redis = await startRedis({ args: redisArgs });
      await rm(state(), { recursive: true, force: true });
      await mkdir(state());
    },

    /** A CSV of `rows` rows of about 70 bytes over `distinct` domains that the service knows. */
    async input(rows: number, distinct = rows): Promise<string> {
      const path = join(folder, `${rows}-${distinct}.csv`);
      if (!existsSync(path)) await writeInput(path, rows, distinct);
      return path;
    },

    /** A local service with so many brands, until the benchmark is over. */
    async service(brands: number, ...faults: string[]): Promise<string> {
      const { url, stop } = await startService(folder, brands, faults);
      onTestFinished(stop);
      return url;
    },

    /** Runs a file through the program. `engine`: an address, or one of the two words. */
    async run(input: string, engine: string, url: string, ...more: string[]) {
      outputs += 1;
      const output = join(folder, `out-${outputs}.csv`);
      const address = engine === 'redis' ? this.redis.url : engine;
      const where = ['-o', output, '--engine', address, '--state', state()];
      const took = await runCli(['run', input, ...where, ...more], url);
      const report = await readFile(output.replace(/\.csv$/, '.report.json'), 'utf8');
      await rm(output);
      return { ...took, report: JSON.parse(report) as Report };
    },

    /** A worker process that is ready to take chunks; ends with `stop`. */
    async worker(engine: string, url: string, ...more: string[]) {
      const args = ['worker', '--engine', engine, '--state', state(), ...more];
      const child = startCli(args, { cwd: folder, env: { ...ENV, BRAND_API_URL: url } });
      await child.untilSaid(/waiting for chunks/);
      return { pid: child.pid, stop: () => endProcess(child) };
    },

    /** The server behind an engine; null when none runs. */
    serverOf(engine: 'redis' | 'embedded'): number | null {
      if (engine === 'redis') return this.redis.pid;
      const file = join(state(), 'postgres/data/postmaster.pid');
      return existsSync(file) ? Number.parseInt(readFileSync(file, 'utf8'), 10) || null : null;
    },
  };
}

/** Numbers of `INFO`, all sections, by name: `used_memory`, `cmdstat_evalsha.calls` ... */
export async function redisFacts(url: string): Promise<(name: string) => number> {
  const redis = new Redis(url);
  try {
    const lines = (await redis.info('everything')).split('\r\n');
    const facts = lines.flatMap((line) => {
      const [name = '', value = ''] = line.split(/:(.*)/);
      if (!value.includes('=')) return [[name, Number(value)] as const];
      return value.split(',').map((part) => {
        const [inner, number] = part.split('=');
        return [`${name}.${inner}`, Number(number)] as const;
      });
    });
    const known = new Map(facts);
    return (name) => known.get(name) ?? 0;
  } finally {
    redis.disconnect();
  }
}

/** A service with the generated catalogue and a quota that no benchmark reaches. */
async function startService(folder: string, brands: number, faults: readonly string[]) {
  const catalogue = join(folder, `catalogue-${brands}.jsonl`);
  if (!existsSync(catalogue)) await writeCatalogue(catalogue, brands);
  const accounts = await mkdtemp(join(folder, 'accounts-'));
  const file = join(accounts, 'accounts.json');
  const account = { name: 'bench', token: TOKEN, plan: 'paid', quota: 1e9 };
  await writeFile(file, JSON.stringify({ accounts: [account] }));
  const args = ['serve', '--port', '0', '--catalogue', catalogue, '--accounts', file];
  const child = startCli([...args, ...faults.flatMap((fault) => ['--fault', fault])], { cwd: folder });
  const address = /http:\/\/[\d.]+:\d+/;
  await child.untilSaid(address);
  return { url: address.exec(child.said)?.[0] ?? '', stop: () => endProcess(child) };
}

async function endProcess(child: CliProcess): Promise<void> {
  child.kill('SIGTERM');
  await child.done;
}

const ROW_BYTES = 70;
const WRITE_CHARS = 1_000_000;

async function writeInput(path: string, rows: number, distinct: number): Promise<void> {
  const stream = createWriteStream(path);
  let text = 'id,website,note\n';
  for (let row = 0; row < rows; row += 1) {
    const line = `${row},${generatedDomain((row * 7_919) % distinct)},`;
    text += `${line.padEnd(ROW_BYTES - 1, 'x')}\n`;
    if (text.length < WRITE_CHARS) continue;
    if (!stream.write(text)) await once(stream, 'drain');
    text = '';
  }
  stream.end(text);
  await once(stream, 'close');
}
