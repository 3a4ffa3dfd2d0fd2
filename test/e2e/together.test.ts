/** Several processes on one engine keep one budget and pay once. */
import { expect, test } from 'vitest';
import { inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, expectPaidOnce, onEngines, statusOf, stop } from './commands.js';

onEngines([redisEngine(), inLongTests(postgresEngine())], (engine) => {
  test('of two runs on one worker the paused one sends nothing while the other completes, and continues when it is resumed', async () => {
    const scene = await createScene(engine, { latencyMs: 20 });
    const billed = (prefix: string) =>
      [...scene.service.meter.billedOf].filter(([identifier]) => identifier.startsWith(`domain:${prefix}-`))
        .length;
    await scene.write('one.csv', domainList(200));
    await scene.write('two.csv', domainList(200, 'other'));
    const worker = scene.startHere(['worker', '--concurrency', '4']);
    const one = scene.startHere(['run', 'one.csv', '--no-worker']);
    await scene.service.until(() => billed('brand') >= 20);
    // Nearly nothing is sent until the command has done its work.
    scene.service.options.latencyMs = 3_000;
    const two = scene.startHere(['run', 'two.csv', '--no-worker']);
    const listed = async () => (await statusOf(scene)).runs.find(({ label }) => label.endsWith('one.csv'));
    const id = (await listed())?.id ?? '';
    await ends(0, scene.run(['pause', id]));
    scene.service.options.latencyMs = 20;
    const before = billed('brand');
    expect(before).toBeLessThan(150);
    expect(await two.done).toMatchObject({ code: 0 });
    // Requests in flight at the pause end.
    expect(billed('brand') - before).toBeLessThanOrEqual(2 * 4);
    const still = billed('brand');
    expect(await listed()).toMatchObject({ status: 'held', isPaused: true, requests: { billed: still } });
    expect(billed('brand')).toBe(still);
    expect(one.said).toMatch(
      new RegExp(`paused by .* since .*; this run waits; resume with \`brand-enrich resume ${id}\``),
    );
    await ends(0, scene.run(['resume', id]));
    expect(await one.done).toMatchObject({ code: 0 });
    expect(await scene.run(['pause', id])).toMatchObject({ code: 2 });
    expectPaidOnce(scene.service.meter, 400);
    await stop(worker);
  });
});
