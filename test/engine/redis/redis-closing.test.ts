/**
 * Closing releases every connection, whether Redis answers, is gone, or hangs.
 *
 * @module-tag long
 */
import { describe, expect, test, vi } from 'vitest';
import { hasRedisServer } from '../../support/redis-server.js';
import { openAt, startServer } from './fixture.js';

const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind.startsWith('TCP')).length;

describe.skipIf(!hasRedisServer())('closing the engine', () => {
  test.each<[string, NodeJS.Signals | null]>([
    ['answers', null],
    ['is gone', 'SIGKILL'],
    ['hangs', 'SIGSTOP'],
  ])('leaves no connection behind when Redis %s', async (_title, signal) => {
    const redis = await startServer();
    const before = sockets();
    const engine = await openAt(redis.url);
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
    const redis = await startServer();
    const engine = await openAt(redis.url);
    const before = sockets();
    const worker = engine.openWorker('lookups', async (_job, _token, _signal) => undefined, 1);
    await worker.waitUntilReady();
    expect(sockets()).toBeGreaterThan(before);
    await worker.close();
    await vi.waitFor(() => expect(sockets()).toBe(before), 5_000);
  });
});
