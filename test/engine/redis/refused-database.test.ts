import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { closeConnection, createConnection } from '../../../src/engine/redis/connect.js';
import { freePort } from '../../support/free-port.js';
import { hasRedisServer } from '../../support/redis-server.js';
import { clientAt, openAt, startServer } from './fixture.js';

describe.skipIf(!hasRedisServer())('a database that Redis refuses', () => {
  async function start(...args: string[]) {
    // The usual second port of a cluster's node, 10000 above, may be taken or be none.
    const bus = args.includes('--cluster-enabled') ? ['--cluster-port', String(await freePort())] : [];
    const redis = await startServer(...args, ...bus);
    return { redis, admin: clientAt(redis.url) };
  }
  const withoutSelect = ['ACL', 'SETUSER', 'ada', 'on', '>pw', '~*', '&*', '+@all', '-select'] as const;

  test.each([
    ['/99', [], /database in the address.*ERR DB index is out of range/],
    ['/-1', [], /database in the address.*ERR DB index/],
    ['/99999999999999999999', [], /database in the address.*ERR/],
    ['/2', ['--cluster-enabled', 'yes'], /database in the address.*cluster/],
  ] as const)('%s of a server with %j is refused, and nothing is written', async (path, args, words) => {
    const { redis, admin } = await start(...args);
    await expect(openAt(`${redis.url}${path}`)).rejects.toMatchObject({
      code: 'engine-unfit',
      exitCode: 5,
      message: expect.stringMatching(words),
    });
    expect(await admin.dbsize()).toBe(0);
  });

  test('is refused if the user may not SELECT it; database 0 needs no SELECT', async () => {
    const { redis, admin } = await start();
    await admin.call(...withoutSelect);
    const url = redis.url.replace('//', '//ada:pw@');
    const opening = openAt(`${url}/2`);
    await expect(opening).rejects.toMatchObject({
      code: 'engine-unfit',
      message: expect.stringMatching(/database in the address.*NOPERM/),
    });
    expect(await admin.dbsize()).toBe(0);
    await openAt(`${url}/0`);
  });

  test.each(['store', 'producer', 'worker'] as const)('as a %s never becomes database 0', async (use) => {
    const { redis, admin } = await start();
    await admin.call(...withoutSelect);
    await admin.call('ACL', 'SETUSER', 'ada', '+select');
    const url = `${redis.url.replace('//', '//ada:pw@')}/2`;
    const first = createConnection({
      url,
      address: 'redis',
      use,
      log: silentLog(),
      extraCa: null,
      client: null,
    });
    const second = first.duplicate({ maxRetriesPerRequest: null });
    const both = [first, second];
    for (const each of both) {
      onTestFinished(() => closeConnection(each));
      if (each.status === 'wait') await each.connect();
      else if (each.status !== 'ready') await new Promise((resolve) => each.once('ready', resolve));
      await each.set('k', 'v');
    }
    await admin.call('ACL', 'SETUSER', 'ada', '-select');
    const refused = both.map(
      (each) =>
        new Promise<void>((resolve) =>
          each.on('error', (error) => {
            if (error.message.startsWith('NOPERM')) resolve();
          }),
        ),
    );
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await Promise.all(refused);
    const written = both.map((each) => each.set('wrong', 'v').catch(() => undefined));
    await admin.call('ACL', 'SETUSER', 'ada', '+select');
    for (const each of both) await vi.waitUntil(() => each.status === 'ready', 20_000);
    await Promise.all(written);
    expect(await admin.dbsize()).toBe(0);
  });
});
