/** Storage in Redis: memory per answer, retention, and one cluster slot for all keys. */
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import type { Engine } from '../../../src/engine/engine.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { NO_TALLY } from '../../../src/engine/stores/run-store.js';
import { hasRedisServer, type RedisServer, startRedis } from '../../support/redis-server.js';
import { beginRun } from './fixture.js';

const DAY_MS = 86_400_000;

describe.skipIf(!hasRedisServer())('storage', () => {
  let redis: RedisServer;
  let client: Redis;
  let engine: Engine;
  beforeAll(async () => {
    redis = await startRedis();
    client = new Redis(redis.url);
    engine = await openRedisEngine({ url: redis.url, log: silentLog() });
  });
  afterAll(async () => {
    await engine.close();
    client.disconnect();
    await redis.stop();
  });
  const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);

  test('an answer has 7 bytes before its body, and 6 more if it has its own time of freshness', async () => {
    const packed = Buffer.from('body');
    const answer = { status: 'matched', packed, billed: true } as const;
    await engine.outcomes.record([
      { ...answer, key: 'k:ud:a', freshMs: null },
      { ...answer, key: 'k:ud:b', freshMs: 60_000 },
    ]);
    expect(await client.strlen('{brand-enrich}:o:k:ud:a')).toBe(7 + packed.length);
    expect(await client.strlen('{brand-enrich}:o:k:ud:b')).toBe(13 + packed.length);
    await client.flushall();
  });

  test('an answer of 450 bytes takes at most 700 in all', async () => {
    const answers = 20_000;
    const before = await usedMemory();
    for (let from = 0; from < answers; from += 500) {
      await engine.outcomes.record(
        Array.from({ length: 500 }, (_, index) => ({
          ...{ status: 'matched' as const, billed: true, freshMs: null },
          key: `QNOY4ew:ud:some-company-${from + index}.example.com`,
          packed: Buffer.alloc(450, from + index),
        })),
      );
    }
    const each = ((await usedMemory()) - before) / answers;
    expect(await client.dbsize()).toBeGreaterThanOrEqual(answers);
    expect(each).toBeGreaterThan(450);
    expect(each).toBeLessThanOrEqual(700);
    await client.flushall();
  });

  test('answers stay for 30 days, runs with their data for 7, unusable answers and claims for 2; all in one slot', async () => {
    const { keys, request } = await beginRun(engine, 2);
    const [first = '', second = ''] = keys;
    const take = [
      { permit: 'permit-0', key: first },
      { permit: 'permit-1', key: second },
    ];
    await engine.ledger.exchange(request({ reading: { quota: 9, usage: 0, period: null } }));
    await engine.ledger.exchange(request({ take }));
    await engine.ledger.exchange(request({ settle: [{ permit: 'permit-0', as: 'maybe_billed' }] }));
    const missing = { key: first, status: 'not_found', packed: null, billed: true, freshMs: null } as const;
    await engine.outcomes.record([missing]);
    await engine.runs.finishChunk('run', 3);
    await engine.runs.addTally('run', 'worker', { ...NO_TALLY, matched: 1 });
    await engine.runs.fail('run', [{ key: second, reason: { code: 'answer', text: '404' }, billed: true }]);
    await engine.runs.heartbeat('run');
    const days = async (name: string) =>
      Math.round(((await client.pttl(`{brand-enrich}:${name}`)) / DAY_MS) * 1_000) / 1_000;
    expect({
      answer: await days(`o:${first}`),
      claim: await days(`claim:${second}`),
      unusable: await days('unusable:run'),
      run: await days('run:run'),
      failures: await days('failures:run'),
      chunks: await days('chunks:run'),
      tallies: await days('tallies:run'),
      key: await days('key:key'),
      generation: await days('generation:run'),
    }).toEqual({
      ...{ answer: 30, claim: 2, unusable: 2, run: 7, failures: 7, chunks: 7, tallies: 7 },
      ...{ key: 90, generation: 90 },
    });
    await engine.runs.end('run', null);
    expect([await client.exists('{brand-enrich}:key:key'), await days('generation:run')]).toEqual([0, 7]);
    const queue = engine.openQueue('lookups');
    await queue.waitUntilReady();
    const names = await client.keys('*');
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !name.startsWith('{brand-enrich}:'))).toEqual([]);
  });

  test('a value that no script wrote is refused', async () => {
    const freshness = { asOf: 0, maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: 0 };
    for (const value of ['', '{}', '99999999999999999999', '\u000f1234567']) {
      await client.set('{brand-enrich}:o:odd', value);
      await expect(engine.outcomes.read(['odd'], freshness)).rejects.toThrow('not a stored outcome');
    }
  });

  test('an expired record is not listed', async () => {
    await beginRun(engine, 1);
    await client.del('{brand-enrich}:run:run');
    expect(await engine.runs.list(10)).toEqual([]);
    expect(await client.zcard('{brand-enrich}:runs')).toBe(0);
  });

  test('the next starts remove the names of expired runs, however far a list looks back', async () => {
    for (let nth = 0; nth < 12; nth += 1)
      await client.zadd('{brand-enrich}:runs', String(-nth), `old-${nth}`);
    await beginRun(engine, 1);
    expect(await client.zrange('{brand-enrich}:runs', '0', '-1')).toEqual(['old-1', 'old-0', 'run']);
  });

  test('scripts are sent again to a server that has lost them', async () => {
    await engine.ledger.show('account');
    await client.script('FLUSH');
    const before = engine.roundTrips.count;
    await engine.ledger.show('account');
    await engine.ledger.show('account');
    expect(engine.roundTrips.count - before).toBe(3);
  });
});
