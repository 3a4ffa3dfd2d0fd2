/** Commands that look: what they leave in an engine that nobody has used. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const redis = redisEngine();
onEngines([redis], (engine) => {
  test('status, plan and the like write nothing to an empty Redis', async () => {
    const scene = await createScene(engine, {}, domainList(3));
    const admin = new Redis(redis.server.url);
    try {
      await admin.flushall();
      for (const command of ['status', 'ledger show', 'outcomes stats', 'schedule list', 'plan list.csv']) {
        await ends(0, scene.run(command.split(' ')));
        expect([command, ...(await admin.keys('*'))]).toEqual([command]);
      }
    } finally {
      admin.disconnect();
    }
  });
});
