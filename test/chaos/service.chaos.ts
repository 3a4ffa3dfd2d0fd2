/** A service that is down for a while, one without quota headers, one whose quota is waited for. */
import { expect, test } from 'vitest';
import { ends, expectPaidOnce, onEngines } from '../e2e/commands.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createScene, domainList } from '../support/scene.js';

onEngines([redisEngine(), embeddedEngine()], (engine) => {
  test('without usage headers and error codes the run ends after a few refusals and keeps what it bought', async () => {
    const scene = await createScene(engine, { quota: 100, hasHeaders: false, dialect: 'spec' });
    await scene.write('list.csv', domainList(1_000));
    const result = await ends(7, scene.run(['run', 'list.csv']));
    expect(scene.service.meter.billed).toBe(100);
    expect(scene.service.meter.count({ why: 'quota' })).toBeLessThanOrEqual(30);
    expect(result.seconds).toBeLessThan(90);
    const counts = countStatuses(await readRows(scene.path('list.enriched.partial.csv')));
    expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(100);
    expect(counts.deferred).toBe(900);

    scene.service.options.quota = 2_000;
    await ends(0, scene.run(['run', 'list.csv']));
    expectPaidOnce(scene.service.meter, 1_000);
  });

  test.each([
    { flags: ['--own-domain', 'brandfetch.com'], hasWorker: true },
    { flags: [], hasWorker: true },
    { flags: ['--no-worker'], hasWorker: false },
  ])(
    'with --on-limit wait a run parks without sending requests and resumes when the quota is raised ($flags)',
    async ({ flags, hasWorker }) => {
      if (!hasWorker && engine.name === 'embedded') return;
      const scene = await createScene(engine, { quota: 40 });
      const { meter, options } = scene.service;
      await scene.write('list.csv', domainList(120));
      if (!hasWorker) scene.start(['worker']);
      const running = scene.start(['run', 'list.csv', '--on-limit', 'wait', ...flags]);
      await running.untilSaid(/parked/);
      expect(meter.billed).toBe(40);
      options.quota = 1_000;
      await ends(0, running.done);
      expectPaidOnce(meter, 120);
    },
  );

  test('while every answer is 503 few requests are sent, and nothing has failed once the service is back', async () => {
    const scene = await createScene(engine, { latencyMs: 20 });
    const { meter, options } = scene.service;
    await scene.write('list.csv', domainList(600));
    const running = scene.start(['run', 'list.csv', '--concurrency', '16']);
    await scene.service.until(() => meter.billed >= 200);
    options.faults.unavailable = 1;
    // The storm ends after enough probes for the breaker to have slowed down.
    await scene.service.until(() => meter.count({ why: 'unavailable' }) >= 22);
    options.faults.unavailable = 0;
    await ends(0, running.done);
    expectPaidOnce(meter, 600);
  });
});
