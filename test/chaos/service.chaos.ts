/** A service that is down for a while, one without quota headers, one whose quota is waited for. */
import { expect, test } from 'vitest';
import { ends, expectPaidOnce, onEngines } from '../e2e/commands.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';

onEngines([redisEngine(), embeddedEngine()], (engine) => {
  test.each([
    { flags: ['--own-domain', 'brandfetch.com'], hasWorker: true },
    { flags: [], hasWorker: true },
    { flags: ['--no-worker'], hasWorker: false },
  ])(
    'with --on-limit wait a run parks without sending requests and resumes when the quota is raised ($flags)',
    async ({ flags, hasWorker }) => {
      if (!hasWorker && engine.name === 'embedded') return;
      const scene = await createScene(engine, { quota: 40 }, domainList(120));
      const { meter, options } = scene.service;
      if (!hasWorker) scene.start(['worker']);
      const running = scene.start(['run', 'list.csv', '--on-limit', 'wait', ...flags]);
      await running.untilSaid(/parked/);
      expect(meter.billed).toBe(40);
      options.quota = 1_000;
      await ends(0, running.done);
      expectPaidOnce(meter, 120);
    },
  );
});
