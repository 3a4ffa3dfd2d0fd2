/** A limit below the file buys exactly its most valuable rows, counted at the service. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainAt, type Scene } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

/** Value of row n: a permutation, so that the order of the file says nothing. */
const COUNT = 400;
const worthAt = (index: number) => (index * 617) % COUNT;

function pricedList(): string {
  const lines = Array.from({ length: COUNT }, (_, index) => `${domainAt(index)},${worthAt(index)}`);
  return `website,revenue\n${lines.join('\n')}\n`;
}

/** Values of what the service billed, best first. */
function boughtWorths({ service }: Scene): number[] {
  return Array.from({ length: COUNT }, (_, index) => index)
    .filter((index) => service.meter.billedOf.has(`domain:${domainAt(index)}`))
    .map(worthAt)
    .sort((a, b) => b - a);
}

const best = (count: number) => Array.from({ length: count }, (_, at) => COUNT - 1 - at);

onEngines([redisEngine(), inLongTests(embeddedEngine())], (engine) => {
  test('a quota of 100 buys the 100 most valuable of 400, and once raised the rest', async () => {
    const scene = await createScene(engine, { quota: 100 }, pricedList());
    const command = ['run', 'list.csv', '--priority', 'revenue'];
    await ends(7, scene.run(command), 'bought first: the highest "revenue"');
    expect(boughtWorths(scene)).toEqual(best(100));

    scene.service.options.quota = 5_000;
    await ends(0, scene.run(command));
    expect(scene.service.meter.billed).toBe(COUNT);
    // The order of the output does not change.
    const scores = (await readRows(scene.path('list.enriched.csv')))
      .filter((row) => row.brand_quality_score !== '')
      .map((row) => Number(row.brand_quality_score));
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
  });
});

const redis = redisEngine();
onEngines([redis], () => {
  test('three workers with varying latency buy the same 120 as one would', { tags: ['long'] }, async () => {
    const scene = await createScene(redis, { quota: 120, jitterMs: 60 }, pricedList());
    const workers = Array.from({ length: 3 }, () => scene.start(['worker']));
    await ends(7, scene.run(['run', 'list.csv', '--no-worker', '--priority', 'revenue']));
    expect(boughtWorths(scene)).toEqual(best(120));
    for (const worker of workers) worker.kill('SIGTERM');
    for (const worker of workers) expect((await worker.done).code).toBe(0);
  });
});
