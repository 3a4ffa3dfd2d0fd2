/** The figures of one process beside their goals: the work is asserted, the figures are not. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { generatedDomain } from '../local-service/generate-keys.js';
import { take, watch } from './measure.ts';
import { sayFigure } from './results.ts';
import { redisFacts, runCli, scaled, TOKEN, useStage } from './stage.ts';

const SCRIPT = fileURLToPath(new URL('script.mjs', import.meta.url));
const stage = useStage();

const perSecond = (count: number, seconds: number) => `${Math.round(count / seconds)}/s`;
const inMiB = (mib: number) => `${Math.round(mib)} MiB`;

it('lookups: speed and CPU against the script', async () => {
  const [few, most] = [scaled(20_000), scaled(100_000)];
  const url = await stage.service(most);
  /** Steady: the difference between two sizes, so without start-up. */
  async function steady(work: (input: string) => Promise<{ seconds: number; ownCpuSeconds: number }>) {
    const before = await work(await stage.input(few));
    const { seconds, ownCpuSeconds } = await work(await stage.input(most));
    const cpu = `${Math.round(((ownCpuSeconds - before.ownCpuSeconds) / (most - few)) * 1e6)} us CPU per lookup`;
    return { seconds, cpu };
  }
  const script = await steady(async (input) => {
    const took = await take(SCRIPT, [input, stage.path('script.csv'), url, TOKEN]);
    return { ...took, seconds: (JSON.parse(took.stdout) as { seconds: number }).seconds };
  });
  sayFigure('script on undici', `${perSecond(most, script.seconds)}, ${script.cpu}`);
  for (const [name, engine, goal] of [
    ['Redis', 'redis', '0.40, 125 us'],
    ['embedded', 'embedded', '0.22'],
  ] as const) {
    const { seconds, cpu } = await steady(async (input) => {
      await stage.startAnew();
      const took = await stage.run(input, engine, url);
      expect(took.report.requests.billed).toBeGreaterThanOrEqual(few);
      return { ...took, seconds: took.report.seconds };
    });
    const share = `${(script.seconds / seconds).toFixed(2)} of the script`;
    sayFigure(`${name}, ${most} lookups`, `${share}, ${cpu}`, goal);
    if (engine !== 'redis') continue;
    const bytes = (await redisFacts(stage.redis.url))('used_memory') / most;
    sayFigure('Redis memory per stored outcome', `${Math.round(bytes)} bytes`, '600 bytes');
  }
});

it('latency: 100 ms, 64 at once', async () => {
  const lookups = 12_800;
  const ideal = lookups / (64 / 0.1);
  const url = await stage.service(lookups, 'latency=100ms');
  const input = await stage.input(lookups);
  const say = (who: string, seconds: number, goal = '') =>
    sayFigure(`100 ms latency, ${who}`, `${(ideal / seconds).toFixed(3)} of the ideal ${ideal} s`, goal);
  // The most that can be had: the service and its timers take their time too.
  say('script', (await take(SCRIPT, [input, stage.path('script.csv'), url, TOKEN])).seconds);
  for (const [engine, goal] of [
    ['redis', '0.93'],
    ['embedded', '0.88'],
  ] as const) {
    await stage.startAnew();
    const { seconds, report } = await stage.run(input, engine, url);
    expect(report.requests.billed).toBe(lookups);
    say(`${engine}, whole process`, seconds, goal);
  }
});

it('second worker: 100 ms latency, 64 at once each', async () => {
  const lookups = 12_800;
  const url = await stage.service(lookups, 'latency=100ms');
  const seconds: number[] = [];
  for (const count of [1, 2]) {
    await stage.startAnew();
    const workers = await Promise.all(
      Array.from({ length: count }, () => stage.worker(stage.redis.url, url)),
    );
    const { report } = await stage.run(await stage.input(lookups), 'redis', url, '--no-worker');
    expect(report.requests.billed).toBe(lookups);
    await Promise.all(workers.map(({ stop }) => stop()));
    seconds.push(report.seconds);
  }
  const [one = 0, two = 1] = seconds;
  sayFigure('second worker, 100 ms latency', `${(one / two).toFixed(2)} x`, '1.93 x');
});

it('pace: 100 in any rolling second, --rate 98', async () => {
  await stage.startAnew();
  const url = await stage.service(2_000, 'per-second=100', 'latency=20ms');
  const { report } = await stage.run(await stage.input(2_000), 'redis', url, '--rate', '98');
  const { sent, billed } = report.requests;
  const rate = `${(billed / report.seconds).toFixed(1)}/s, ${sent - billed} refused`;
  sayFigure('--rate 98 against 100 in any second', rate, 'at least 95/s, 0 refused');
});

it('stored: 1,000,000 rows, 50,000 distinct, again', async () => {
  await stage.startAnew();
  const url = await stage.service(50_000);
  await stage.run(await stage.input(50_000), 'redis', url);
  const { report, peakMiB } = await stage.run(await stage.input(1_000_000, 50_000), 'redis', url);
  expect(report.requests.sent).toBe(0);
  const rate = `${perSecond(1_000_000, report.seconds)}, ${inMiB(peakMiB)}`;
  sayFigure('1,000,000 stored rows', rate, '160,000/s, 230 MiB');
});

it('start: 60 rows, everything new, embedded', async () => {
  await stage.startAnew();
  const url = await stage.service(120);
  for (const [name, from, goal] of [
    ['first', 0, '3 s'],
    ['later', 60, '1.2 s'],
  ] as const) {
    const input = stage.path(`${name}.csv`);
    const domains = Array.from({ length: 60 }, (_, nth) => generatedDomain(from + nth));
    await writeFile(input, `website\n${domains.join('\n')}\n`);
    const watched = watch(() => stage.serverOf('embedded'));
    const { seconds, peakMiB, report } = await stage.run(input, 'embedded', url);
    expect(report.requests.billed).toBe(60);
    const value = `${seconds.toFixed(2)} s, ${inMiB(peakMiB)} + ${inMiB(watched().peakMiB)}`;
    sayFigure(`60 rows, embedded, ${name} start`, value, goal);
  }
  const { seconds, cpuSeconds } = await runCli(['status', '--engine', 'embedded', '--state', stage.state()]);
  sayFigure('status, embedded', `${seconds.toFixed(2)} s, ${cpuSeconds.toFixed(2)} s CPU`, '0.6 s CPU');
});

it('commands: --version, --help, plan of 60 rows', async () => {
  await stage.startAnew();
  const url = await stage.service(60);
  const plan = ['plan', await stage.input(60), '--engine', stage.redis.url, '--state', stage.state()];
  for (const [name, args, goal] of [
    ['--version', ['--version'], '0.11 s'],
    ['--help', ['--help'], '0.12 s'],
    ['plan of 60 rows, Redis', plan, '0.4 s'],
  ] as const) {
    const runs = [];
    for (let round = 0; round < 7; round += 1) runs.push(await runCli(args, url));
    const seconds = Math.min(...runs.map((run) => run.seconds));
    const cpu = Math.min(...runs.map((run) => run.cpuSeconds));
    sayFigure(name, `${seconds.toFixed(2)} s, ${cpu.toFixed(2)} s CPU`, goal);
  }
});
