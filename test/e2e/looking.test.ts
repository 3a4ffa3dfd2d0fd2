/** Commands that look: what they leave in an engine that nobody has used. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { createScene, describeOn, domainList } from '../support/scene.js';

const redis = redisEngine();
describeOn([redis], (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  test('status, plan and the like write nothing to an empty Redis', async () => {
    const scene = await createScene(engine);
    await scene.write('list.csv', domainList(3));
    const admin = new Redis(redis.server.url);
    try {
      await admin.flushall();
      for (const command of ['status', 'ledger show', 'outcomes stats', 'schedule list', 'plan list.csv']) {
        const { code, stderr } = await scene.run(command.split(' '));
        expect(code, stderr).toBe(0);
        expect([command, ...(await admin.keys('*'))]).toEqual([command]);
      }
    } finally {
      admin.disconnect();
    }
  });
});
