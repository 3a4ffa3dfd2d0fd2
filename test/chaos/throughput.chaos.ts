/** A service that accepts 50 requests in any rolling second, with and without Retry-After. */
import { expect, test } from 'vitest';
import { ends, expectPaidOnce, onEngines } from '../e2e/commands.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';

onEngines([redisEngine(), embeddedEngine()], (engine) => {
  test.each([
    { retryAfter: 1, dialect: 'spec', latencyMs: 100 },
    { retryAfter: 1, dialect: 'coded', latencyMs: 10 },
    { retryAfter: 0, dialect: 'spec', latencyMs: 10 },
    { retryAfter: 0, dialect: 'coded', latencyMs: 100 },
  ] as const)(
    'completes a list of 1,000 with less than one refusal per seven answers ($retryAfter s, $dialect, $latencyMs ms)',
    async ({ retryAfter, dialect, latencyMs }) => {
      const scene = await createScene(engine, { perSecond: 50, retryAfter, dialect, latencyMs });
      await scene.write('list.csv', domainList(1_000));
      await ends(0, scene.run(['run', 'list.csv']));
      const { meter } = scene.service;
      expectPaidOnce(meter, 1_000);
      expect(meter.count({ why: 'throughput' })).toBeLessThan(150);
    },
  );
});
