import { describe, expect, test } from 'vitest';
import { shownAddress } from '../../../src/engine/redis/connect.js';
import {
  freeShare,
  judgeServer,
  parseInfo,
  type ServerFacts,
} from '../../../src/engine/redis/server-facts.js';
import { hasRedisServer } from '../../support/redis-server.js';
import { clientAt, openAt, startServer } from './fixture.js';

const FIT: ServerFacts = {
  version: '7.2.4',
  maxmemoryPolicy: 'noeviction',
  maxmemory: 0,
  usedMemory: 1_000,
  appendOnly: true,
  appendFsync: 'always',
  isReplica: false,
};
const judge = (some: Partial<ServerFacts>, mayWaitForDisk = true) =>
  judgeServer({ ...FIT, ...some }, 'redis://there:6379', mayWaitForDisk);

const textsOf = ({ warnings }: { warnings: readonly { text: string }[] }) =>
  warnings.map(({ text }) => text).join(' ');

describe('the rules for a server', () => {
  test.each<[string, Partial<ServerFacts>, string]>([
    ['an old Redis', { version: '6.0.20' }, '6.2 or later'],
    ['a very old Redis', { version: '5.9.9' }, '6.2 or later'],
    ['a replica', { isReplica: true }, 'address of the primary'],
    ['an evicting Redis', { maxmemoryPolicy: 'allkeys-lru' }, 'CONFIG SET maxmemory-policy noeviction'],
  ])('refuses %s and says what to do', (_title, facts, todo) => {
    expect(() => judge(facts)).toThrow(todo);
    expect(() => judge(facts)).toThrow('redis://there:6379');
  });

  test.each<[string, Partial<ServerFacts>, boolean, string | null]>([
    ['appendfsync always', {}, false, null],
    ['7.2 with appendfsync everysec', { appendFsync: 'everysec' }, true, null],
    ['10.0 with appendfsync everysec', { version: '10.0.0', appendFsync: 'everysec' }, true, null],
    ['7.0 with everysec', { version: '7.0.15', appendFsync: 'everysec' }, false, 'can cost up to 1 s'],
    ['unknown appendfsync', { appendFsync: null }, false, 'power loss can cost up to 1 s'],
    ['appendfsync no', { appendFsync: 'no' }, false, 'appendfsync no'],
    ['no append-only file', { appendOnly: false }, false, 'appendonly yes'],
    ['unknown append-only file', { appendOnly: null }, false, 'does not report'],
    ['unknown policy', { maxmemoryPolicy: null }, false, 'maxmemory-policy'],
    ['little memory', { maxmemory: 100, usedMemory: 95 }, false, '5 %'],
  ])('accepts %s', (_title, facts, waitsForDisk, warning) => {
    const verdict = judge(facts);
    expect(verdict.waitsForDisk).toBe(waitsForDisk);
    expect(textsOf(verdict)).toEqual(warning === null ? '' : expect.stringContaining(warning));
  });

  test('a server that is not asked to wait for the disk gets a warning', () => {
    const verdict = judge({ appendFsync: 'everysec' }, false);
    expect(verdict.waitsForDisk).toBe(false);
    expect(textsOf(verdict)).toContain('up to 1 s');
  });

  test('a warning keeps its code while its figures change', () => {
    const codes = [92, 95].map((usedMemory) => judge({ maxmemory: 100, usedMemory }).warnings);
    expect(codes.map(([warning]) => warning?.code)).toEqual(['memory-low', 'memory-low']);
    expect(textsOf({ warnings: codes.flat() })).toMatch(/ 7 %.* 5 %/);
  });

  test('free memory is a share of the limit, and unknown without one', () => {
    expect(freeShare({ maxmemory: 0, usedMemory: 5 })).toBeNull();
    expect(freeShare({ maxmemory: 200, usedMemory: 50 })).toBe(0.75);
    expect(freeShare({ maxmemory: 200, usedMemory: 250 })).toBe(0);
  });

  test('INFO is parsed by field, with any line ends', () => {
    expect([...parseInfo('# Server\r\nredis_version:7.0.15\r\n\r\nos:a:b\nrole:master')]).toEqual([
      ['redis_version', '7.0.15'],
      ['os', 'a:b'],
      ['role', 'master'],
    ]);
  });

  test.each([
    ['redis://user:pa%40ss@host:6380/2?x=secret', 'redis://host:6380/2'],
    ['rediss://:pass@host', 'rediss://host:6379'],
    ['redis://[::1]:7000/', 'redis://[::1]:7000'],
  ])('the address %s is shown as %s', (url, shown) => {
    expect(shownAddress(url)).toBe(shown);
  });
});

describe.skipIf(!hasRedisServer())('opening a real server', () => {
  test('a server that evicts keys is refused', async () => {
    const redis = await startServer('--maxmemory-policy', 'allkeys-lru');
    await expect(openAt(redis.url)).rejects.toMatchObject({ code: 'engine-unfit' });
  });

  test('a server without an append-only file is accepted with a warning', async () => {
    const redis = await startServer();
    const engine = await openAt(redis.url);
    expect(textsOf(engine)).toContain('appendonly yes');
    expect(await engine.freeMemory()).toBeNull();
  });

  test('a server that syncs every write gets no warning, and may forbid CONFIG', async () => {
    const redis = await startServer('--appendonly', 'yes', '--appendfsync', 'always', '--maxmemory', '100mb');
    const engine = await openAt(redis.url);
    expect(engine.warnings).toEqual([]);
    expect(await engine.freeMemory()).toBeGreaterThan(0.8);
    const managed = await startServer('--appendonly', 'yes', '--rename-command', 'CONFIG', '');
    expect(textsOf(await openAt(managed.url))).toContain('up to 1 s');
  });

  test('a wrong password is reported without quoting it; the right one opens', async () => {
    const redis = await startServer('--requirepass', 'right-word');
    const wrong = `redis://:wrong-word@127.0.0.1:${redis.port}`;
    const error: unknown = await openAt(wrong).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'engine-unfit' });
    const shown = JSON.stringify(error, Object.getOwnPropertyNames(error));
    expect(shown + String((error as Error).cause)).not.toContain('wrong-word');
    const missing: unknown = await openAt(redis.url).catch((reason: unknown) => reason);
    expect(missing).toMatchObject({ code: 'engine-unfit' });
    const engine = await openAt(`redis://:right-word@127.0.0.1:${redis.port}`);
    expect(engine.address).toBe(`redis://127.0.0.1:${redis.port}`);
  });

  test('a server with keys of another build is refused', async () => {
    const redis = await startServer();
    await openAt(redis.url);
    const client = clientAt(redis.url);
    await client.set('{brand-enrich}:schema', '1000');
    await expect(openAt(redis.url)).rejects.toMatchObject({
      code: 'engine-unfit',
      what: expect.stringContaining('schema 1000'),
      todo: expect.stringContaining('`brand-enrich engine export` of the build that wrote them'),
    });
    expect(await client.get('{brand-enrich}:schema')).toBe('1000');
  });

  test('a full server opens, and refuses to record with an error that says so', async () => {
    const redis = await startServer('--maxmemory', '6mb');
    const engine = await openAt(redis.url);
    const fill = async () => {
      const answer = {
        status: 'matched',
        packed: Buffer.alloc(100_000),
        billed: true,
        freshMs: null,
      } as const;
      for (let i = 0; i < 100; i += 1) await engine.outcomes.record([{ ...answer, key: `key-${i}` }]);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'engine-unfit' });
    await expect(fill()).rejects.toThrow('maxmemory');
    const client = clientAt(redis.url);
    await client.config('SET', 'maxmemory', '1');
    expect((await openAt(redis.url)).id).toBe(engine.id);
  });
});
