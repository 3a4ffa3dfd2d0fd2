/**
 * A service that accepts 50 requests in any rolling second: nothing is lost and little is refused,
 * with and without Retry-After.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { createScene, describeOn, domainList } from '../support/scene.js';

describeOn([redisEngine(), embeddedEngine()], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

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
      const result = await scene.run(['run', 'list.csv']);
      expect(result.code, result.stderr).toBe(0);
      const { meter } = scene.service;
      expect(meter.billed).toBe(1_000);
      expect(meter.mostBilledOnce()).toBe(1);
      expect(meter.count({ why: 'throughput' })).toBeLessThan(150);
    },
  );
});
