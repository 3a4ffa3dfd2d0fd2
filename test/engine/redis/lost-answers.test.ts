import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { hasRedisServer } from '../../support/redis-server.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { beginRun, clientAt, openAt, startServer, untilAnswered } from './fixture.js';

/** With `everysec` Redis puts off writing, not only syncing, while a sync takes long. */
const APPEND_ONLY = ['--appendonly', 'yes', '--appendfsync', 'always'];

describe.skipIf(!hasRedisServer())('when Redis is lost', () => {
  test('an exchange with a lost answer fails, is not resent automatically, and can be repeated', async () => {
    const redis = await startServer();
    const proxy = await startTcpProxy(redis.port);
    const direct = await openAt(redis.url);
    const engine = await openAt(`redis://127.0.0.1:${proxy.port}`);
    const { request, keys } = await beginRun(engine, 3);
    const first = request({ reading: { quota: 12, usage: 0, period: null } });
    await engine.ledger.exchange(first);
    const take = keys.map((key, index) => ({ permit: `permit-${index}`, key }));
    const cut = proxy.cutNextAnswer();
    await expect(engine.ledger.exchange(request({ take }))).rejects.toMatchObject({
      code: 'engine-unreachable',
    });
    await cut;
    const lost = await direct.ledger.show('account');
    expect(lost.held).toBe(3);
    const again = await untilAnswered(() => engine.ledger.exchange(request({ take })));
    expect(again.permits.map(({ answer }) => answer)).toEqual(['granted', 'granted', 'granted']);
    expect(again.state.held).toBe(3);
    // One operation was lost, one answered: a client that resends would have counted another.
    expect(again.state.version).toBe(lost.version + 1);
    const settle = take.map(({ permit }) => ({ permit, as: 'billed' as const }));
    const cutAgain = proxy.cutNextAnswer();
    await expect(engine.ledger.exchange(request({ settle }))).rejects.toThrow();
    await cutAgain;
    const settled = await untilAnswered(() => engine.ledger.exchange(request({ settle })));
    expect(settled.state).toMatchObject({ sent: 3, held: 0 });
  });

  test('an engine opens although the server ends its connection meanwhile', async () => {
    const redis = await startServer();
    const administrator = clientAt(redis.url);
    await administrator.client('PAUSE', 60_000, 'WRITE');
    const opening = openAt(redis.url);
    const isWriting = async () => String(await administrator.client('LIST')).includes('cmd=setnx');
    await expect.poll(isWriting, { timeout: 10_000 }).toBe(true);
    await administrator.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await administrator.client('UNPAUSE');
    expect((await opening).kind).toBe('redis');
  });

  test('a call to a server that hangs fails after a time-out', async () => {
    const redis = await startServer();
    const proxy = await startTcpProxy(redis.port);
    const engine = await openAt(`redis://127.0.0.1:${proxy.port}`);
    proxy.hang();
    await expect(engine.ledger.show('account')).rejects.toMatchObject({ code: 'engine-unreachable' });
  });

  test('kill -9 of a server with an append-only file loses no acknowledged record, permit or run', async () => {
    const redis = await startServer(...APPEND_ONLY);
    const engine = await openAt(redis.url);
    const { request, keys } = await beginRun(engine, 600);
    const take = keys.slice(0, 50).map((key, index) => ({ permit: `permit-${index}`, key }));
    await engine.ledger.exchange(request({ reading: { quota: 1_000, usage: 0, period: null } }));
    const before = await engine.ledger.exchange(request({ take }));
    const acknowledged: string[] = [];
    const recording = (async () => {
      for (let from = 0; from < 600; from += 20) {
        const part = keys.slice(from, from + 20);
        const answer = { status: 'matched', billed: true, freshMs: null } as const;
        const answers = part.map((key) => ({ ...answer, key, packed: Buffer.from(key) }));
        await engine.outcomes.record(answers);
        acknowledged.push(...part);
        if (acknowledged.length === 300) await redis.kill('SIGKILL');
      }
    })();
    await expect(recording).rejects.toMatchObject({ code: 'engine-unreachable' });
    expect(acknowledged).toHaveLength(300);
    await redis.restart();
    const stats = await untilAnswered(() => engine.outcomes.stats());
    expect(stats.matched).toBeGreaterThanOrEqual(300);
    const run = await engine.runs.get('run');
    expect(run?.status).toBe('running');
    const freshness = { asOf: run?.asOf ?? 0, maxAgeMs: 1e9, maxAgeMissingMs: 1e9, notBefore: 0 };
    const stored = await engine.outcomes.read(acknowledged, freshness);
    expect(stored.map((outcome) => outcome?.packed?.toString())).toEqual(acknowledged);
    const after = await engine.ledger.show('account');
    expect(after).toMatchObject({ epoch: before.state.epoch, held: 50, version: before.state.version });
  });

  test('a queue and a worker opened during an outage work once the server is back', async () => {
    const redis = await startServer(...APPEND_ONLY);
    const engine = await openAt(redis.url);
    await redis.kill('SIGKILL');
    const queue = engine.openQueue('lookups');
    const worker = engine.openWorker('lookups', async (_job, _token, _signal) => undefined, 1);
    const completed = new Promise<string | undefined>((resolve) => {
      worker.on('completed', (job) => resolve(job.id));
    });
    void worker.run().catch(() => undefined);
    await redis.restart();
    const data = { run: 'run', chunk: 0, identifiers: [], attempts: {} };
    await untilAnswered(() => queue.add('chunk', data, { jobId: 'run-0' }));
    expect(await completed).toBe('run-0');
    await worker.close();
    await queue.close();
  });

  test('opening reports an unreachable server with its address and without the password', async () => {
    const redis = await startServer();
    await redis.kill('SIGKILL');
    const opening = openRedisEngine({
      url: `redis://somebody:secret-word@127.0.0.1:${redis.port}/3`,
      log: silentLog(),
    });
    const error: unknown = await opening.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'engine-unreachable', exitCode: 5 });
    expect(String(error)).toContain(`redis://127.0.0.1:${redis.port}/3`);
    expect(everything(error)).not.toContain('secret-word');
  });
});

/** Everything that a log could print of an error, its causes and their fields included. */
function everything(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const fields = JSON.stringify(error, Object.getOwnPropertyNames(error));
  return `${error.message} ${error.stack} ${fields} ${everything(error.cause)}`;
}
