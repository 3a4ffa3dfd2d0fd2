/** Clocks of workers and engines that are off; `e2e/set-clock.test.ts` sets that of one run. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { ends, stop } from '../e2e/commands.js';
import { engineAt } from '../support/engines.js';
import { createFakeTime, missingFakeTime } from '../support/fake-time.js';
import { startPostgres } from '../support/postgres-server.js';
import { hasRedisServer, startRedis } from '../support/redis-server.js';
import { domainList } from '../support/scene.js';
import {
  createLoggedScene,
  expectComplete,
  expectDeferredOnly,
  limitedTo,
  PAID_ACCOUNT,
} from './ground-truth.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const IDENTIFIERS = 700;
const LIMIT = 500;
const CONCURRENCY = 4;

const engines = [
  { name: 'redis', isMissing: !hasRedisServer(), start: () => startRedis() },
  { name: 'postgres', isMissing: false, start: () => startPostgres() },
] as const;

const missing = missingFakeTime();
describe.skipIf(missing !== null)(`clocks${missing === null ? '' : ` (skipped: ${missing})`}`, () => {
  const there = engines.filter(({ isMissing }) => !isMissing);
  test.each(there)('of workers on $name are days off: the limit holds', async ({ name, start }) => {
    const server = await start();
    onTestFinished(() => server.stop());
    const faults = { unavailable: 0.1 };
    const scene = await createLoggedScene(engineAt(name, server.url), {
      latencyMs: 100,
      jitterMs: 200,
      faults,
      ...PAID_ACCOUNT,
    });
    const { meter, options } = scene.service;
    await scene.write('list.csv', domainList(IDENTIFIERS));
    const workers = [];
    for (const offMs of [HOUR, -HOUR, 3 * DAY, -3 * DAY]) {
      const clock = await createFakeTime();
      clock.set(offMs);
      workers.push(scene.start(['worker', '--concurrency', String(CONCURRENCY)], clock.env));
    }
    await Promise.all(workers.map((worker) => worker.untilSaid(/waiting for chunks/)));
    const runWithin = (limit: number) => scene.run(['run', 'list.csv', '--no-worker', ...limitedTo(limit)]);
    await ends(7, runWithin(LIMIT));
    expect(meter.billed).toBe(LIMIT);
    await expectDeferredOnly(scene, IDENTIFIERS);
    options.latencyMs = 10;
    options.jitterMs = 0;
    await expectComplete(scene, await runWithin(10 * LIMIT), IDENTIFIERS);
    expect(meter.mostBilledOnce()).toBe(1);
    await Promise.all(workers.map(stop));
  });
});
