/**
 * Benchmarks: a plain script and the program do the same work in one run on one machine. Prints
 * ratios and asserts only that the work was done. `npm run bench`, or one benchmark with `npm run
 * bench -- -t NAME`.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RedisServer, startRedis } from '../support/redis-server.ts';
import {
  freshFolder,
  readReport,
  runCli,
  runScript,
  type Service,
  startService,
  startWorker,
  TOKEN,
  writeInput,
} from './stage.ts';

const LOOKUPS = 20_000;
let folder: string;
let service: Service;
let redis: RedisServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-enrich-bench-'));
  await chmod(folder, 0o711);
  service = await startService(folder, 60_000);
  const started = await startRedis();
  if (!started) throw new Error('the figures need redis-server on this machine');
  redis = started;
});

afterAll(async () => {
  await service?.stop();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

const say = (text: string) => process.stdout.write(`${text}\n`);

async function run(input: string, engine: string, extra: readonly string[] = [], url = service.url) {
  const state = join(folder, 'state');
  const output = join(folder, `out-${Math.random().toString(36).slice(2)}.csv`);
  const took = await runCli(['run', input, '-o', output, '--engine', engine, '--state', state, ...extra], {
    BRAND_API_URL: url,
    BRAND_API_TOKEN: TOKEN,
  });
  expect(took.stderr.slice(-2_000)).toContain('report:');
  const report = await readReport(output.replace(/\.csv$/, '.report.json'));
  return { ...took, report };
}

async function flush(): Promise<void> {
  await redis.stop();
  const started = await startRedis();
  if (started) redis = started;
}

it('lookups: script, Redis plain and compressed, embedded', async () => {
  const input = join(folder, 'lookups.csv');
  await writeInput(input, LOOKUPS, LOOKUPS);
  for (let round = 1; round <= 2; round += 1) {
    const script = await runScript([input, join(folder, 'script.csv'), service.url, TOKEN]);
    const { seconds } = JSON.parse(script.stdout) as { seconds: number };
    say(
      `script                 ${(LOOKUPS / seconds).toFixed(0)} lookups/s, ${script.peakMiB.toFixed(0)} MiB`,
    );
    for (const [name, engine, extra] of [
      ['redis, plain', 'redis', ['--compression', 'off']],
      ['redis, compressed', 'redis', []],
      ['embedded, compressed', 'embedded', []],
    ] as const) {
      await flush();
      await freshFolder(join(folder, 'state'));
      const took = await run(input, engine === 'redis' ? redis.url : engine, extra);
      expect(took.report.requests.billed).toBe(LOOKUPS);
      const ratio = seconds / took.report.seconds;
      say(
        `${name.padEnd(22)} ${(LOOKUPS / took.report.seconds).toFixed(0)} lookups/s, ${ratio.toFixed(2)} of the script, ${took.peakMiB.toFixed(0)} MiB`,
      );
    }
  }
});

it('latency: 100 ms, 64 at once', async () => {
  await flush();
  const slow = await startService(folder, 60_000, ['latency=100ms']);
  try {
    const input = join(folder, 'latency.csv');
    await writeInput(input, 12_800, 12_800);
    const took = await run(input, redis.url, [], slow.url);
    const ideal = 12_800 / (64 / 0.1);
    say(
      `latency 100 ms: ${took.report.seconds.toFixed(1)} s, ${(ideal / took.report.seconds).toFixed(3)} of the ideal ${ideal} s`,
    );
  } finally {
    await slow.stop();
  }
});

it('workers: one and two processes, 100 ms latency, 64 at once each', async () => {
  const slow = await startService(folder, 60_000, ['latency=100ms']);
  const input = join(folder, 'workers.csv');
  await writeInput(input, 12_800, 12_800);
  const seconds: number[] = [];
  try {
    for (const count of [1, 2]) {
      await flush();
      await freshFolder(join(folder, 'state'));
      const workers = await Promise.all(
        Array.from({ length: count }, () => startWorker(folder, redis.url, slow.url)),
      );
      const took = await run(input, redis.url, ['--no-worker'], slow.url);
      expect(took.report.requests.billed).toBe(12_800);
      await Promise.all(workers.map((worker) => worker.stop()));
      seconds.push(took.report.seconds);
      say(`workers: ${count} in ${took.report.seconds.toFixed(1)} s, ideal ${(20 / count).toFixed(1)} s`);
    }
  } finally {
    await slow.stop();
  }
  const [one = 0, two = 1] = seconds;
  say(`workers: a second one makes it ${(one / two).toFixed(2)} x as fast`);
});

it('pace: 100 in any rolling second, --rate 98', async () => {
  await flush();
  const limited = await startService(folder, 60_000, ['per-second=100', 'latency=20ms']);
  try {
    const input = join(folder, 'pace.csv');
    await writeInput(input, 2_000, 2_000);
    const took = await run(input, redis.url, ['--rate', '98'], limited.url);
    const { sent, billed } = took.report.requests;
    say(`pace: ${(billed / took.report.seconds).toFixed(1)} lookups/s, ${sent - billed} refused`);
  } finally {
    await limited.stop();
  }
});

it('stored: 1,000,000 rows of 100 bytes, 50,000 distinct, again', async () => {
  await flush();
  const small = join(folder, 'distinct.csv');
  await writeInput(small, 50_000, 50_000);
  await run(small, redis.url);
  const large = join(folder, 'large.csv');
  await writeInput(large, 1_000_000, 50_000, 100);
  const took = await run(large, redis.url);
  expect(took.report.requests.sent).toBe(0);
  say(`stored: ${(1_000_000 / took.report.seconds).toFixed(0)} rows/s, ${took.peakMiB.toFixed(0)} MiB`);
});
