/** `up` end to end: everything in one process, from a config file. */
import { mkdir, symlink } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { embeddedEngine, inLongTests, redisEngine } from '../support/engines.js';
import { describeOn, domainList } from '../support/scene.js';
import { ends, LONG, onEngines, stop } from './commands.js';
import { startUpHere } from './start-up.js';

const redis = redisEngine();
onEngines([redis, inLongTests(embeddedEngine())], (engine) => {
  test('a signal waits for requests in flight for other processes, so that the next start buys none of them again', async () => {
    const scene = await createInboxScene(engine, { latencyMs: 400 });
    const settings = { inbox: [], concurrency: 8 };
    const first = await startUpHere(scene, settings);
    await scene.write('list.csv', domainList(60));
    const running = scene.startHere(['run', 'list.csv', '--no-worker']);
    await scene.service.until((meter) => meter.billed >= 10);
    await stop(first);
    await startUpHere(scene, settings);
    await ends(0, running.done);
    expect(scene.service.meter.billed).toBe(60);
  });
});

// What ends it is the same on every engine.
describeOn([embeddedEngine()], (engine) => {
  test('with six inboxes logs no warning about listener leaks', { tags: ['long'] }, async () => {
    const scene = await createInboxScene(engine);
    const inboxes = Array.from({ length: 6 }, (_, index) => `inbox-${index}`);
    await Promise.all(inboxes.map((name) => mkdir(scene.path(name))));
    const up = await startUpHere(scene, { inbox: inboxes });
    up.kill('SIGTERM');
    const { stderr } = await ends(0, up.done);
    expect(stderr).not.toContain('MaxListenersExceededWarning');
  });
});

onEngines([redis], () => {
  test('a failed start spends nothing for waiting runs', async () => {
    const scene = await createInboxScene(redis);
    const config = { inbox: [], metricsPort: 0, dashboardPort: Number(new URL(scene.service.url).port) };
    await scene.write('brand-enrich.config.json', JSON.stringify(config));
    await scene.write('list.csv', domainList(20));
    const waiting = scene.startHere(['run', 'list.csv', '--no-worker']);
    await waiting.untilSaid(/20 identifiers to look up/);
    await ends(5, scene.run(['up']), 'choose another --dashboard-port');
    expect(scene.service.meter.requests).toEqual([]);
  });

  test('a folder is watched once under any of its names, and never inside another inbox', LONG, async () => {
    const scene = await createInboxScene(redis);
    await mkdir(scene.path('in/done'), { recursive: true });
    await symlink(scene.path('in'), scene.path('link'));
    for (const inboxes of ['in,link', 'in,in/done', 'in,./in/']) {
      await ends(2, scene.run(['up'], { BRAND_ENRICH_INBOX: inboxes }), /given twice|inside another inbox/);
    }
  });
});
