/**
 * Engines that die and restart, and a service that is down for a minute, in the middle of a run.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { createDatabase, startPostgres } from '../support/postgres-server.js';
import { createScene, domainList, type Scene } from '../support/scene.js';

const CONCURRENCY = 16;
const COMMAND = ['run', 'list.csv', '--concurrency', String(CONCURRENCY)];

/** Runs the list; kills and restarts the engine once 200 are billed. */
async function runThrough(scene: Scene, outage: () => Promise<void>): Promise<void> {
  const { meter } = scene.service;
  await scene.write('list.csv', domainList(800));
  const running = scene.start(COMMAND);
  await scene.service.until(() => meter.billed >= 200);
  await outage();
  const result = await running.done;
  expect(result.code, result.stderr).toBe(0);
  const counts = countStatuses(await readRows(scene.path('list.enriched.csv')));
  expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(800);
  expect(meter.billed).toBeLessThanOrEqual(800 + 2 * CONCURRENCY);
}

const redis = redisEngine(['--appendonly', 'yes']);
describe.skipIf(redis.missing !== null)('on redis with an append-only file', () => {
  beforeAll(() => redis.start());
  afterAll(() => redis.stop());

  test('a run survives a server that is killed and restarted, and buys nothing twice', async () => {
    const scene = await createScene(redis, { latencyMs: 40 });
    await runThrough(scene, async () => {
      await redis.server.kill('SIGKILL');
      await redis.server.restart();
    });
  });

  test('while every answer is 503 few requests are sent, and nothing has failed once the service is back', async () => {
    const scene = await createScene(redis, { latencyMs: 20 });
    const { meter, options } = scene.service;
    await scene.write('list.csv', domainList(600));
    const running = scene.start(COMMAND);
    await scene.service.until(() => meter.billed >= 200);
    options.faults.unavailable = 1;
    // The storm ends after enough probes for the breaker to have slowed down.
    await scene.service.until(() => meter.count({ why: 'unavailable' }) >= 22);
    options.faults.unavailable = 0;
    const result = await running.done;
    expect(result.code, result.stderr).toBe(0);
    expect(meter.billed).toBe(600);
    expect(meter.mostBilledOnce()).toBe(1);
  });
});

describe('on postgres', () => {
  test('a run survives a server that crashes and restarts, and buys nothing twice', async () => {
    const server = await startPostgres();
    try {
      const url = await createDatabase(server);
      const engine = {
        name: 'postgres' as const,
        missing: null,
        start: async () => undefined,
        stop: async () => undefined,
        env: (folder: string) => ({ BRAND_ENRICH_STATE: `${folder}/state`, BRAND_ENRICH_ENGINE: url }),
      };
      const scene = await createScene(engine, { latencyMs: 40 });
      await runThrough(scene, async () => {
        // Immediate shutdown: sessions die, and the next start runs recovery.
        await server.kill('SIGQUIT');
        await server.restart();
      });
    } finally {
      await server.stop();
    }
  });
});
