/**
 * A Redis that cannot serve for a moment (a failover, a restart that loads its data): a run waits
 * and continues.
 *
 * @module-tag long
 */
import { Redis } from 'ioredis';
import { describe, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, expectPaidOnce, onEngines } from './commands.js';

const redis = redisEngine();
onEngines([redis], (engine) => {
  describe.each([
    ['a read-only replica', 'yes', /read-only replica at the moment: READONLY/, []],
    ['a replica without its primary', 'no', /its primary is unavailable: MASTERDOWN|READONLY/, ['long']],
  ] as const)('that becomes %s', (_, servesStale, words, tags) => {
    test('is waited for, with a message; each identifier is bought once', { tags: [...tags] }, async () => {
      const admin = new Redis(redis.server.url);
      try {
        await admin.config('SET', 'replica-serve-stale-data', servesStale);
        const scene = await createScene(engine, { latencyMs: 20 }, domainList(600));
        const { meter } = scene.service;
        const running = scene.start(['run', 'list.csv', '--concurrency', '8']);
        await scene.service.until(() => meter.billed >= 50);
        // Nothing listens there.
        await admin.replicaof('127.0.0.1', 1);
        await running.untilSaid(words);
        await admin.replicaof('NO', 'ONE');
        await ends(0, running.done);
        expectPaidOnce(meter, 600);
      } finally {
        admin.disconnect();
      }
    });
  });
});
