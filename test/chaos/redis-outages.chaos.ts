/** Redis that dies, hangs, fills up, or comes back with less than it had, during a run. */
import { setTimeout as after } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { engineAt } from '../support/engines.js';
import { hasRedisServer, startRedis } from '../support/redis-server.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import { endure, failAtRandom } from './endure.js';

/** Longer than a call to Redis may take. */
const LONG_CALL_MS = 7_000;

async function start(...args: string[]) {
  const server = await startRedis({ args });
  const admin = new Redis(server.url);
  // It reconnects.
  admin.on('error', () => undefined);
  onTestFinished(async () => {
    admin.disconnect();
    await server.stop();
  });
  return { server, admin, engine: engineAt('redis', server.url) };
}

async function startProxy(port: number) {
  const proxy = await startTcpProxy(port);
  return { proxy, engine: engineAt('redis', `redis://127.0.0.1:${proxy.port}`) };
}

describe.skipIf(!hasRedisServer())('a run, while Redis', () => {
  test('is killed and restarted, with an append-only file', async () => {
    const { server, engine } = await start('--appendonly', 'yes');
    await endure(engine, 'killed', 7, async () => {
      await server.kill('SIGKILL');
      await server.restart();
    });
  });

  test('is frozen for 20 s', async () => {
    const { server, engine } = await start();
    await endure(engine, 'frozen', 7, async () => {
      await server.kill('SIGSTOP');
      await after(20_000);
      await server.kill('SIGCONT');
    });
  });

  test('is full for 10 s: it ends, and paid answers wait on disk', async () => {
    const { admin, engine } = await start();
    await endure(engine, 'full', 5, async () => {
      await admin.config('SET', 'maxmemory', '1');
      await after(10_000);
      await admin.config('SET', 'maxmemory', '0');
    });
  });

  test('is flushed: it ends, and the limit holds for the next one', async () => {
    const { admin, engine } = await start();
    await endure(engine, 'flushed', 5, async ({ billed }) => {
      await admin.flushall();
      return billed();
    });
  });

  test('is restored to an older state', async () => {
    const { server, admin, engine } = await start();
    await endure(engine, 'restored', 7, async ({ dice, billed }) => {
      await admin.save();
      const kept = billed();
      await after(dice.between(500, 2_000));
      await server.kill('SIGKILL');
      await server.restart();
      return billed() - kept;
    });
  });

  test('fails over to a replica that is behind', async () => {
    const [primary, replica] = await Promise.all([start(), start()]);
    const { proxy, engine } = await startProxy(primary.server.port);
    await replica.admin.replicaof('127.0.0.1', primary.server.port);
    await endure(engine, 'failed over', 7, async ({ dice, billed }) => {
      await expect.poll(() => replica.admin.info('replication')).toContain('master_link_status:up');
      await replica.admin.replicaof('NO', 'ONE');
      const kept = billed();
      await after(dice.between(200, 1_000));
      proxy.leadsTo = replica.server.port;
      await primary.server.kill('SIGKILL');
      proxy.cut();
      return billed() - kept;
    });
  });

  test('is behind a network that cuts, delays and half-closes connections', async () => {
    const { server } = await start();
    const { proxy, engine } = await startProxy(server.port);
    await endure(engine, 'network', 7, ({ dice }) => failAtRandom(proxy, dice, LONG_CALL_MS));
  });
});
