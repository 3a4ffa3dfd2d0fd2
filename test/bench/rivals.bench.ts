/** The same work done by others: ratios to the script on undici, in one run on one machine. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type Took, take } from './measure.ts';
import { keepTable, sayFigure } from './results.ts';
import { scaled, TOKEN, useStage } from './stage.ts';

const RIVAL = fileURLToPath(new URL('rival.mjs', import.meta.url));
/** Installed by the benchmark alone: 130 packages that nothing else needs. */
const CRAWLEE = '@crawlee/basic@3.18.1';
const LOOKUPS = scaled(20_000);
/** The start-up of a program is told apart by a second, smaller size. */
const FEW_LOOKUPS = scaled(2_000);
const ROUNDS = 2;

const stage = useStage();

type Work = Pick<Took, 'cpuSeconds' | 'peakMiB' | 'seconds'>;

async function installCrawlee(): Promise<string | null> {
  const folder = stage.path('crawlee');
  await mkdir(folder);
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  try {
    await promisify(execFile)('npm', ['install', ...options, CRAWLEE]);
    return folder;
  } catch (error) {
    console.log(`without Crawlee, which could not be installed: ${error}`);
    return null;
  }
}

it('rivals: fetch, undici, BullMQ, Crawlee', async () => {
  const url = await stage.service(LOOKUPS);
  const modules = await installCrawlee();
  const rival =
    (way: string, env?: () => Record<string, string>) =>
    async (input: string): Promise<Work> => {
      const took = await take(RIVAL, [way, input, stage.path('rival.csv'), url, TOKEN], env?.());
      expect(took.code, took.stderr.slice(-2_000)).toBe(0);
      const { seconds } = JSON.parse(took.stdout.trim().split('\n').at(-1) ?? '') as Work;
      return { ...took, seconds };
    };
  const crawlee = (isOnDisk: boolean) =>
    rival('crawlee', () => ({
      RIVAL_MODULES: modules ?? '',
      CRAWLEE_PERSIST_STORAGE: String(isOnDisk),
      CRAWLEE_STORAGE_DIR: stage.path('crawlee-storage'),
      CRAWLEE_LOG_LEVEL: 'ERROR',
    }));
  const ours =
    (engine: string) =>
    async (input: string): Promise<Work> => {
      const took = await stage.run(input, engine, url);
      return { ...took, seconds: took.report.seconds };
    };
  const contenders: readonly (readonly [string, (input: string) => Promise<Work>])[] = [
    ['script on undici', rival('undici')],
    ['script on fetch', rival('fetch')],
    ['BullMQ, one job per identifier', rival('bullmq', () => ({ RIVAL_REDIS: stage.redis.url }))],
    ...(modules === null
      ? []
      : ([
          ['Crawlee, storage in memory', crawlee(false)],
          ['Crawlee, storage on disk', crawlee(true)],
        ] as const)),
    ['brand-enrich, Redis', ours('redis')],
    ['brand-enrich, embedded', ours('embedded')],
  ];
  const input = await stage.input(LOOKUPS);
  const fewInput = await stage.input(FEW_LOOKUPS);
  const best = new Map<string, { most: Work; few: Work }>();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of contenders) {
      await stage.startAnew();
      const few = await work(fewInput);
      await stage.startAnew();
      const most = await work(input);
      const before = best.get(name);
      best.set(name, { few: least(few, before?.few), most: least(most, before?.most) });
      sayFigure(name, `${most.seconds.toFixed(1)} s, ${most.cpuSeconds.toFixed(1)} s CPU`);
    }
    keepBest(best);
  }
});

/** The least of both rounds. */
function keepBest(best: ReadonlyMap<string, { readonly most: Work; readonly few: Work }>): void {
  const yardstick = best.get('script on undici')?.most.seconds ?? 0;
  const rows = [...best].map(([name, { most, few }]) => [
    name,
    Math.round(LOOKUPS / most.seconds),
    (yardstick / most.seconds).toFixed(2),
    Math.round((most.cpuSeconds / LOOKUPS) * 1e6),
    Math.round(((most.cpuSeconds - few.cpuSeconds) / (LOOKUPS - FEW_LOOKUPS)) * 1e6),
    Math.round(most.peakMiB),
  ]);
  const cpu = ['CPU us per lookup', 'without start-up'];
  keepTable('rivals', [`${LOOKUPS} lookups`, 'lookups/s', 'of undici', ...cpu, 'peak MiB'], rows);
}

/** The least of each figure: what else runs on the machine only adds. */
function least(one: Work, other: Work = one): Work {
  return {
    seconds: Math.min(one.seconds, other.seconds),
    cpuSeconds: Math.min(one.cpuSeconds, other.cpuSeconds),
    peakMiB: Math.min(one.peakMiB, other.peakMiB),
  };
}
