/** A Redis that answers what is not ours: no operation fails as a bug. */
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { BrandEnrichError } from '../../../src/core/errors.js';
import { silentLog } from '../../../src/core/log.js';
import type { Engine } from '../../../src/engine/engine.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { freshnessOf, NO_TALLY } from '../../../src/engine/stores/run-store.js';
import { listenForTest } from '../../support/listen-anew.js';
import { hasRedisServer, type RedisServer, startRedis } from '../../support/redis-server.js';
import { exchangeRequest, runSettings } from '../contract/run-settings.js';
import { bulk, bulks, startScriptedRedis } from './scripted-redis.js';

const FRESHNESS = freshnessOf({ asOf: Date.now(), keyStartedAt: 0, settings: runSettings() });
const READING = { quota: 100, usage: 6, period: '2026-11-01', date: Date.UTC(2026, 10, 20) };
const KEYS = ['k:a', 'k:b'];
const ANSWER = { key: 'k:b', status: 'not_found', packed: null, billed: true, freshMs: null } as const;

/** Every operation of the stores, on what {@link seed} left there. */
function operations(engine: Engine): Readonly<Record<string, () => Promise<unknown>>> {
  const { keyValues, runs, ledger, outcomes } = engine;
  const settings = runSettings();
  const look = { permit: 'l', own: 'http://service.example own.com', key: null, quotaCap: null };
  return {
    list: () => keyValues.list('services'),
    claimNote: () => keyValues.claim('services', 'a', 'z', 5),
    remove: () => keyValues.remove('services', 'none', null),
    getRun: () => runs.get('r1'),
    listRuns: () => runs.list(10),
    heartbeat: () => runs.heartbeat('r1'),
    start: () => runs.start({ id: 'r3', key: 'k1', label: { host: 'etl-1', name: 'x' }, settings }),
    setSize: () => runs.setSize('r1', { rows: 1, identifiers: 1 }),
    addTally: () => runs.addTally('r1', 'p', { ...NO_TALLY, requests: 2 }),
    finishChunk: () => runs.finishChunk('r1', 3),
    failures: () => runs.failures('r1', ['k:a']),
    fail: () => runs.fail('r1', [{ key: 'k:b', reason: { code: 'answer', text: 'why' }, billed: false }]),
    pauses: () => runs.pauses(),
    orders: () => runs.orders([{ job: 'r1', owner: 'o1' }]),
    pause: () => runs.pause('r1', 'ada'),
    resume: () => runs.resume('o1'),
    end: () => runs.end('r2', null),
    show: () => ledger.show('account', 'r1'),
    open: () => ledger.open('account', { rate: 90, burst: 10 }),
    observe: () => ledger.observe('account', { usage: 7, quota: 100 }),
    raise: () => ledger.raise('account', { period: '2026-11-01', sent: 1, others: 1, quota: 100 }),
    accounts: () => ledger.accounts(),
    exchange: () =>
      ledger.exchange(
        exchangeRequest({
          ...{ account: 'account', worker: 'w', run: 'r1', reading: READING, look },
          take: [{ permit: 'p', key: 'k:b' }],
          settle: [{ permit: 'p', as: 'billed' }],
        }),
      ),
    claim: () => outcomes.claim('w', KEYS, FRESHNESS),
    read: () => outcomes.read(KEYS, FRESHNESS),
    record: () => outcomes.record([ANSWER]),
    stats: () => outcomes.stats(),
    page: () => outcomes.page(null),
    forget: () => outcomes.forget(['k:a']),
    purge: () => outcomes.purge(1_000),
    deregister: () => outcomes.deregister('w'),
    cancel: () => runs.cancel('r1', 'ada'),
    reset: () => ledger.reset('account'),
  };
}

/** What is not an error of ours, by operation. */
async function bugsOf(engine: Engine): Promise<string[]> {
  const bugs: string[] = [];
  for (const [name, operation] of Object.entries(operations(engine)))
    await operation().catch((error: unknown) => {
      if (!(error instanceof BrandEnrichError)) bugs.push(`${name}: ${error}`);
    });
  return bugs;
}

async function seed(engine: Engine): Promise<void> {
  const { keyValues, runs, ledger, outcomes } = engine;
  const settings = runSettings({ plan: 'paid', quotaCap: 100, overage: 10, maxRequests: 50 });
  await keyValues.put('engine', 'id', engine.id);
  await keyValues.put('services', 'a', 'text');
  const label = { host: 'host', name: 'a.csv' };
  for (const run of ['1', '2']) await runs.start({ id: `r${run}`, key: `k${run}`, label, settings });
  await runs.addTally('r1', 'p', { ...NO_TALLY, requests: 1 });
  await runs.fail('r1', [{ key: 'k:a', reason: { code: 'answer', text: 'why' }, billed: true }]);
  await runs.pauseOwner({ owner: 'o1', label: { host: 'etl-1', name: 'schedule' }, by: 'ada', run: null });
  await ledger.open('account', { rate: 90, burst: 10 });
  await ledger.observe('account', { usage: 5, quota: 100 });
  await outcomes.claim('w', KEYS, FRESHNESS);
  await outcomes.record([{ ...ANSWER, key: 'k:a', status: 'matched', packed: Buffer.from('x') }]);
  const take = [{ permit: 'p', key: 'k:b' }];
  const request = { account: 'account', worker: 'w', run: 'r1', reading: READING, take };
  await ledger.exchange(exchangeRequest(request));
}

const JUNK = [
  ...' { null [] 7 nan -1e999 1e15 -5 99999999999999999999 "x" true {"__proto__":{"by":1}}'.split(' '),
  '1 2 3',
  `${'['.repeat(1_200)}${']'.repeat(1_200)}`,
  '\u001b]0;owned\u0007',
];

describe.skipIf(!hasRedisServer())('values of another program', () => {
  let server: RedisServer;
  let client: Redis;
  let engine: Engine;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
    engine = await openRedisEngine({ url: server.url, log: silentLog() });
  });
  afterAll(async () => {
    client.disconnect();
    await engine.close();
    await server.stop();
  });

  async function anew(): Promise<void> {
    await client.flushall();
    await seed(engine);
  }
  const WRITES: Readonly<Record<string, (key: string, value: string) => Promise<unknown>>> = {
    string: (key, value) => client.set(key, value),
    list: (key, value) => client.rpush(key, value),
    set: (key, value) => client.sadd(key, value),
    zset: (key, value) => client.zadd(key, 1, value),
    hash: async (key, value) => {
      for (const field of [...(await client.hkeys(key)), 'other']) await client.hset(key, field, value);
    },
  };

  test('runs, orders and tallies are read although one of each is damaged', async () => {
    for (const value of JUNK) {
      await anew();
      for (const field of await client.hkeys('{brand-enrich}:run:r1'))
        if (field !== 'id') await client.hset('{brand-enrich}:run:r1', field, value);
      await client.hset('{brand-enrich}:pauses', 'k1', value);
      expect((await engine.runs.list(10)).map(({ id }) => id)).toContain('r2');
      expect((await engine.runs.pauses()).map(({ owner }) => owner)).toEqual(['o1']);
      expect(await engine.runs.orders([{ job: 'j', owner: 'k1' }])).toEqual([
        { cancelled: null, paused: null },
      ]);
      // The time of an answer, as late as can be.
      await client.setrange('{brand-enrich}:o:k:a', 1, Buffer.alloc(6, 255));
      // An account that cannot be read is not taken for a new one.
      await client.set('{brand-enrich}:account:a', value);
      await expect(engine.ledger.show('a')).rejects.toMatchObject({ code: 'engine-unfit' });
      const { oldestFetchedAt, newestFetchedAt } = await engine.outcomes.stats();
      for (const at of [oldestFetchedAt, newestFetchedAt]) expect(new Date(at ?? 0).getTime()).not.toBeNaN();
      expect(await engine.runs.heartbeat('r2')).toMatchObject({ isPaused: false });
    }
  });

  test('in any key never make a call fail as a bug', { tags: ['long'], timeout: 300_000 }, async () => {
    await anew();
    expect(await bugsOf(engine)).toEqual([]);
    await anew();
    const keys = (await client.keys('{brand-enrich}:*')).sort();
    expect(keys.length).toBeGreaterThan(15);
    for (const key of keys) {
      await anew();
      const own = await client.type(key);
      for (const [type, write] of Object.entries(WRITES)) {
        await anew();
        if (type !== own) await client.del(key);
        if (type !== own) await write(key, 'x');
        expect([key, type, await bugsOf(engine)]).toEqual([key, type, []]);
      }
      for (const value of JUNK) {
        await anew();
        await WRITES[own]?.(key, value);
        expect([key, value, await bugsOf(engine)]).toEqual([key, value, []]);
      }
      await anew();
      for (const field of own === 'hash' ? await client.hkeys(key) : [])
        for (const value of JUNK) {
          await anew();
          await client.hset(key, field, value);
          expect([key, field, value, await bugsOf(engine)]).toEqual([key, field, value, []]);
        }
    }
  });
});

describe('another program that speaks as Redis does', () => {
  const INFO =
    'redis_version:7.4.0\r\nrole:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nloading:0\r\n';
  /** Answers as Redis until the first script is called. */
  const answering = (reply: string) =>
    startScriptedRedis(([name = '', , setting = '']) => {
      if (/^info$/i.test(name)) return bulk(INFO);
      if (/^config$/i.test(name)) return bulks(setting, 'always');
      if (/^get$/i.test(name)) return bulk('9');
      return /^(?:client|select|hello)$/i.test(name) ? '+OK\r\n' : reply;
    });
  const REPLIES: readonly string[] = [
    '$-1\r\n',
    ':7\r\n',
    '+OK\r\n',
    '*0\r\n',
    ...['{}', '[]', 'null', '"x"', 'true', '{', '["1",[]]', '{"state":{"days":7}}'].map(bulk),
    bulk(`[${'{"name":1},'.repeat(1_000)}0]`),
    bulk(`${'['.repeat(50_000)}${']'.repeat(50_000)}`),
    `*2\r\n${bulk('{}')}$-1\r\n`,
    `*2\r\n${bulk('[[1,true,true,1,null,99999999]]')}${bulk('z')}`,
    '*1\r\n:1\r\n',
    `-ERR \u001b[31m${'y'.repeat(5_000)}\r\n`,
  ];

  test.each(REPLIES.map((reply) => [JSON.stringify(reply).slice(0, 60), reply] as const))(
    '%s as the reply to every call becomes one of our errors',
    async (_, reply) => {
      const { url } = await answering(reply);
      const opened = openRedisEngine({ url, log: silentLog(), isReadOnly: true });
      const engine = await opened.catch((error: unknown) => {
        expect(error).toBeInstanceOf(BrandEnrichError);
        expect(String(error).length).toBeLessThan(1_000);
        return null;
      });
      if (engine === null) return;
      onTestFinished(() => engine.close());
      expect(await bugsOf(engine)).toEqual([]);
    },
  );

  test.each(['HTTP/1.1 400 Bad Request\r\n\r\n', '+OK\r\n'.repeat(9)])(
    'a server that sends %j without a request is not Redis',
    { tags: ['long'] },
    async (text) => {
      const server = createServer((socket) => {
        socket.on('error', () => undefined);
        socket.write(text);
      });
      const url = `redis://127.0.0.1:${await listenForTest(server)}`;
      const opened = openRedisEngine({ url, log: silentLog() });
      await expect(opened).rejects.toBeInstanceOf(BrandEnrichError);
    },
  );
});
