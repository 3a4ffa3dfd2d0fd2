/**
 * Closing releases every connection, whether Redis answers, is gone, or hangs.
 *
 * @module-tag long
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createReleasers } from '../../../src/core/lifecycle.js';
import { silentLog } from '../../../src/core/log.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { hasRedisServer, startRedis } from '../../support/redis-server.js';

const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP')).length;

describe.skipIf(!hasRedisServer())('closing the engine', () => {
  const releasers = createReleasers();
  afterEach(() => releasers.releaseAll());

  test.each<[string, NodeJS.Signals | null]>([
    ['answers', null],
    ['is gone', 'SIGKILL'],
    ['hangs', 'SIGSTOP'],
  ])('leaves no connection behind when Redis %s', async (_title, signal) => {
    const redis = await startRedis();
    if (!redis) throw new Error('no redis-server');
    releasers.push(() => redis.stop());
    const before = sockets();
    const engine = await openRedisEngine({ url: redis.url, log: silentLog() });
    const queue = engine.openQueue('lookups');
    const worker = engine.openWorker('lookups', async (_job, _token, _signal) => undefined, 1);
    await queue.waitUntilReady();
    await worker.waitUntilReady();
    void worker.run().catch(() => undefined);
    expect(sockets()).toBeGreaterThan(before);
    if (signal) await redis.kill(signal);
    await engine.close();
    await vi.waitFor(() => expect(sockets()).toBe(before), 5_000);
  });

  test('a closed worker releases its own connections', async () => {
    const redis = await startRedis();
    if (!redis) throw new Error('no redis-server');
    releasers.push(() => redis.stop());
    const engine = await openRedisEngine({ url: redis.url, log: silentLog() });
    releasers.push(() => engine.close());
    const before = sockets();
    const worker = engine.openWorker('lookups', async (_job, _token, _signal) => undefined, 1);
    await worker.waitUntilReady();
    expect(sockets()).toBeGreaterThan(before);
    await worker.close();
    await vi.waitFor(() => expect(sockets()).toBe(before), 5_000);
  });
});
