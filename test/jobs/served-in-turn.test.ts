/** Small files do not wait for big ones, shown by the order of requests at the service. */
import { utimes, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { listQueued } from '../../src/jobs/find-files.js';
import { LONG, onEngines } from '../e2e/commands.js';
import { type EngineUnderTest, embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { parquetOf } from '../support/hostile-files.js';
import { domainList } from '../support/scene.js';
import { createInboxScene } from './inbox-scene.js';
import { putJob } from './watcher-folders.js';

const BIG = 5_000;
const SMALL = 20;
/** The file of 20 is dropped after this many requests for the big one. */
const HEAD_START = 300;

/** Two places, and a big file that was begun. */
async function beginBig(engine: EngineUnderTest) {
  const scene = await createInboxScene(engine, { latencyMs: 20 });
  const watcher = await scene.watch('--concurrency', '8', '--files-at-once', '2');
  await scene.drop('big.csv', domainList(BIG, 'big'));
  await scene.service.until(({ billed }) => billed >= HEAD_START);
  return { scene, watcher };
}

onEngines([inLongTests(embeddedEngine()), redisEngine()], (engine) => {
  test('a file of 20, dropped after one of 5,000, is finished before the big one', async () => {
    const { scene, watcher } = await beginBig(engine);
    const { meter } = scene.service;
    // One of two places is for small files, so this one has to wait.
    await scene.drop('next.csv', domainList(BIG, 'next'));
    await expect
      .poll(() => listQueued(scene.folder))
      .toMatchObject({ queued: ['next.csv'], inProgress: ['big.csv'] });
    await scene.drop('small.csv', domainList(SMALL, 'small'));
    await watcher.untilSaid(/small\.csv.*queued behind big\.csv: runs take turns/);
    const [done = ''] = await scene.until('done', 1);
    expect(done).toMatch(/small-2/);
    const order = meter.requests.map(({ identifier }) => identifier);
    const first = order.findIndex((identifier) => identifier.includes('small-'));
    const last = order.findLastIndex((identifier) => identifier.includes('small-'));
    // A turn is one chunk of each run: only the big run's chunks in progress come between.
    expect(last - first).toBeLessThan(SMALL + 200);
    expect(last).toBeLessThan(BIG / 2);
    expect(order.some((identifier) => identifier.includes('next-'))).toBe(false);
    expect(meter.mostBilledOnce()).toBe(1);
    expect(new Set(order.filter((identifier) => identifier.includes('small-'))).size).toBe(SMALL);
  });

  test('a file of 20 waits for a few chunks of three big ones, with equal shares', LONG, async () => {
    const scene = await createInboxScene(engine, { latencyMs: 10 });
    const { meter } = scene.service;
    await scene.watch('--concurrency', '8', '--files-at-once', '4');
    const bigs = ['one', 'two', 'three'];
    for (const name of bigs) await scene.drop(`${name}.csv`, domainList(BIG, name));
    const countOf = (name: string) =>
      meter.requests.filter(({ identifier }) => identifier.includes(`${name}-`)).length;
    // By then their chunks are as large as they get.
    await scene.service.until(
      ({ billed }) => billed >= 3_000 && bigs.every((name) => countOf(name) >= 1_000),
    );
    const before = bigs.map(countOf);
    await scene.drop('small.csv', domainList(SMALL, 'small'));
    const [done = ''] = await scene.until('done', 1);
    expect(done).toMatch(/small-2/);
    const order = meter.requests.map(({ identifier }) => identifier);
    const last = order.findLastIndex((identifier) => identifier.includes('small-'));
    expect(last).toBeLessThan(3 * BIG * 0.8);
    const shares = bigs.map((name, at) => countOf(name) - (before[at] ?? 0));
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThan(3 * 200);
    expect(meter.mostBilledOnce()).toBe(1);
  });

  test('files of a dead watcher leave the last place to small files too', LONG, async () => {
    const scene = await createInboxScene(engine, { latencyMs: 20 });
    const { meter } = scene.service;
    for (const name of ['big', 'next']) {
      const job = scene.path(`processing/gone-1-abcdef/${name}`);
      await putJob(job, { file: `${name}.csv` }, domainList(BIG, name));
    }
    const heartbeat = scene.path('processing/gone-1-abcdef/.heartbeat');
    await writeFile(heartbeat, '');
    await utimes(heartbeat, 0, 0);
    await scene.watch('--concurrency', '8', '--files-at-once', '2');
    await scene.service.until(() => meter.billed >= HEAD_START);
    await scene.drop('small.csv', domainList(SMALL, 'small'));
    const [done = ''] = await scene.until('done', 1);
    expect(done).toMatch(/small-2/);
    const isBegun = (name: string) => meter.requests.some(({ identifier }) => identifier.includes(name));
    expect(['big-', 'next-'].filter(isBegun)).toHaveLength(1);
  });

  test('a Parquet file leaves the last place free, however small it is', LONG, async () => {
    const { scene } = await beginBig(engine);
    await scene.drop('tiny.parquet', parquetOf({ website: ['tiny.com'] }));
    await scene.drop('small.csv', domainList(60, 'small'));
    const [done = ''] = await scene.until('done', 1);
    expect(done).toMatch(/small-2/);
    expect(await scene.list('inbox')).toEqual(['tiny.parquet']);
  });

  test('the smallest file passes those that came before it', LONG, async () => {
    const { scene } = await beginBig(engine);
    for (let at = 0; at < 20; at += 1) await scene.drop(`other-${at}.csv`, domainList(200, `other${at}`));
    await scene.until('done', 1);
    await scene.drop('small.csv', domainList(1, 'small'));
    await expect.poll(async () => (await scene.list('done')).join(' ')).toContain('small-2');
    expect((await scene.list('inbox')).length).toBeGreaterThan(5);
  });
});
