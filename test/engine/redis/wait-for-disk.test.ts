/** Redis 7.2 and later can confirm that a write has reached the disk. */
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { bulk, bulks, startScriptedRedis } from './scripted-redis.js';

const OUTCOME = { key: 'k', status: 'not_found' as const, packed: null, billed: true, freshMs: null };

async function open(options: { version: string; synced: number; knowsScripts?: boolean }) {
  const info = `redis_version:${options.version}\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nrole:master\r\n`;
  const redis = await startScriptedRedis(([name = '', ...words]) => {
    // The engine's id, which is read when it is opened.
    if (words.at(-1) === 'engine')
      return bulk(JSON.stringify([{ name: 'id', text: '0123456789abcdef', ageMs: 0 }]));
    const replies: Readonly<Record<string, string>> = {
      INFO: bulk(info),
      CONFIG: bulks(words[1] ?? '', 'everysec'),
      GET: bulk('9'),
      WAITAOF: `*2\r\n:${options.synced}\r\n:0\r\n`,
      EVALSHA: options.knowsScripts === false ? '-NOSCRIPT No matching script.\r\n' : bulk('0'),
      EVAL: bulk('0'),
    };
    return replies[name.toUpperCase()] ?? '+OK\r\n';
  });
  const engine = await openRedisEngine({ url: redis.url, log: silentLog(), waitsForDisk: true });
  onTestFinished(() => engine.close());
  const from = redis.asked.length;
  return { engine, asked: () => redis.asked.slice(from) };
}

test('a record waits until it is on disk, in the same round trip', async () => {
  const { engine, asked } = await open({ version: '7.2.4', synced: 1 });
  expect(engine.warnings).toEqual([]);
  const before = engine.roundTrips.count;
  await engine.outcomes.record([OUTCOME]);
  expect(asked()).toEqual(['EVALSHA', 'WAITAOF']);
  expect(engine.roundTrips.count - before).toBe(1);
});

test('a record that did not reach the disk in time has failed', async () => {
  const { engine } = await open({ version: '7.2.4', synced: 0 });
  await expect(engine.outcomes.record([OUTCOME])).rejects.toMatchObject({ code: 'engine-unreachable' });
});

test('a script unknown to the server is sent in full, and its writes wait for the disk', async () => {
  const { engine, asked } = await open({ version: '8.0.0', synced: 1, knowsScripts: false });
  await engine.outcomes.record([OUTCOME]);
  expect(asked()).toEqual(['EVALSHA', 'WAITAOF', 'EVAL', 'WAITAOF']);
});

test('reads and claims do not wait', async () => {
  const { engine, asked } = await open({ version: '7.2.4', synced: 1 });
  await engine.outcomes.release('worker', ['k']);
  await engine.outcomes.heartbeat('worker');
  expect(asked()).toEqual(['EVALSHA', 'EVALSHA']);
});

test('an older server is not asked to wait, and the warning names the possible loss', async () => {
  const { engine, asked } = await open({ version: '7.0.15', synced: 1 });
  await engine.outcomes.record([OUTCOME]);
  expect(asked()).toEqual(['EVALSHA']);
  expect(engine.warnings).toMatchObject([{ code: 'sync-each-second' }]);
});
