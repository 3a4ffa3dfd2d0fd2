/** Values that another program wrote into Redis: `up` survives each, and works when it is gone. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { accountNames } from '../../src/app/open-service.js';
import { outcomeKeys } from '../../src/engine/stores/outcome-key.js';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { redisEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { onEngines, stop } from './commands.js';
import { askAs, startUp } from './start-up.js';

const redis = redisEngine();
const ROOT = '{brand-enrich}:';
const JUNK = [...' { null [] 7 nan -1e999 "x" \0\ud800 \u001b]0;owned\u0007'.split(' '), 'x'.repeat(100_000)];

onEngines([redis], () => {
  test('ends no process, and is survived', { tags: ['long'], timeout: 240_000 }, async () => {
    const scene = await createInboxScene(redis);
    const client = new Redis(redis.server.url);
    onTestFinished(() => client.disconnect());
    const up = await startUp(scene);
    const look = async () => (await askAs('ada', up)('/')).status;
    await scene.drop('first.csv', domainList(10, 'first'));
    await scene.until('done', 1);
    const { queueName, service } = accountNames(scene.service.url, scene.token, null);
    const keyOf = outcomeKeys(service, 'unset');

    async function poison(type: string, key: string, value: string): Promise<void> {
      if (type === 'string') await client.set(key, value, 'KEEPTTL');
      if (type === 'hash') for (const field of await client.hkeys(key)) await client.hset(key, field, value);
      if (type === 'zset') await client.zadd(key, 1, value);
      if (type === 'list') await client.lpush(key, value);
      if (type === 'set') await client.sadd(key, value);
    }
    const keys = (await client.keys(`${ROOT}*`)).sort();
    const saved = new Map<string, Buffer>();
    for (const key of keys) saved.set(key, (await client.dumpBuffer(key)) ?? Buffer.alloc(0));
    const restore = async () => {
      for (const key of await client.keys(`${ROOT}*`)) if (!saved.has(key)) await client.del(key);
      for (const [key, value] of saved) if (value.length > 0) await client.restore(key, 0, value, 'REPLACE');
    };
    for (const key of keys) {
      const type = await client.type(key);
      for (const value of JUNK) await poison(type, key, value);
      expect([key, await look()]).toEqual([key, 200]);
    }
    // Other kinds than ours, whole.
    for (const key of keys) await client.set(key, 'x');
    // Through a heartbeat of the worker and of the schedules.
    const heartbeats = () => up.said.match(/heartbeat/g)?.length ?? 0;
    await expect.poll(heartbeats).toBeGreaterThanOrEqual(3);
    expect(await look()).toBe(200);
    for (const scope of ['engine', 'schedule', 'schedule-runner', 'closed-inbox', 'warnings'])
      for (const [at, value] of JUNK.entries()) {
        await client.del(`${ROOT}values:${scope}`);
        await client.hset(`${ROOT}values:${scope}`, `n${at}`, value, `m${at}`, `${Date.now()} ${value}`);
      }
    await look();
    await restore();
    for (const [at, value] of JUNK.entries()) {
      await client.set(`${ROOT}o:${keyOf(`domain:second-0000${at}.com`)}`, value);
      await client.hset(`${ROOT}${queueName}:planted-${at}`, 'data', value, 'opts', value, 'name', 'chunk');
      await client.zadd(`${ROOT}${queueName}:prioritized`, at, `planted-${at}`);
      const run = { id: `planted-${at}`, settings: value, status: 'running' };
      await client.hset(`${ROOT}run:planted-${at}`, run);
      await client.zadd(`${ROOT}runs`, 1_000 + at, `planted-${at}`);
      await client.hset(`${ROOT}pauses`, `owner-${at}`, value);
    }
    await look();
    expect(up.said).not.toMatch(/uncaught|unhandled/i);
    for (const key of await client.keys(`${ROOT}*planted*`)) await client.del(key);
    await client.del(`${ROOT}pauses`);
    for (let at = 0; at < JUNK.length; at += 1) await client.zrem(`${ROOT}runs`, `planted-${at}`);
    await restore();
    await scene.drop('second.csv', domainList(20, 'second'));
    await expect.poll(async () => (await scene.until('done', 2)).length).toBe(2);
    await stop(up);
  });
});
