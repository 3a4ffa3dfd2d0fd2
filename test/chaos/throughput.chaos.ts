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
    { hasRetryAfter: true, dialect: 'spec', latencyMs: 100 },
    { hasRetryAfter: true, dialect: 'coded', latencyMs: 10 },
    { hasRetryAfter: false, dialect: 'spec', latencyMs: 10 },
    { hasRetryAfter: false, dialect: 'coded', latencyMs: 100 },
  ] as const)(
    'completes a list of 1,000 with less than one refusal per seven answers ($hasRetryAfter, $dialect, $latencyMs ms)',
    async ({ hasRetryAfter, dialect, latencyMs }) => {
      const scene = await createScene(engine, { perSecond: 50, hasRetryAfter, dialect, latencyMs });
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
