/**
 * A process that stood still for longer than its time-outs (a suspended machine, SIGSTOP): answers
 * that arrived meanwhile are paid for, and are read before anything gives up.
 */
import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import type { RedisServer } from '../support/redis-server.js';
import { createScene, describeOn, domainList, type Scene } from '../support/scene.js';
import { reportedIn } from '../support/stopped-work.js';

const CONCURRENCY = 24;
const ROWS = 120;

interface Standstill {
  readonly timeout: string;
  readonly standsMs: number;
  readonly args?: readonly string[];
}

/** Stops a run with all requests in flight, until they are answered and `standsMs` are over. */
async function runWithStandstill(scene: Scene, { timeout, standsMs, args = [] }: Standstill) {
  const { meter, options } = scene.service;
  await scene.write('first.csv', domainList(1, 'first'));
  expect((await scene.run(['run', 'first.csv'])).code).toBe(0);
  await scene.write('list.csv', domainList(ROWS));
  options.latencyMs = 700;
  const command = ['run', 'list.csv', '--concurrency', String(CONCURRENCY), '--rate', '0'];
  const running = scene.start([...command, '--timeout', timeout, ...args]);
  await scene.service.until(() => meter.billed > 1 && meter.inFlight === CONCURRENCY);
  running.kill('SIGSTOP');
  await Promise.all([after(standsMs), scene.service.until(() => meter.inFlight === 0)]);
  running.kill('SIGCONT');
  options.latencyMs = 0;
  return running.done;
}

describeOn([redisEngine(), embeddedEngine(), postgresEngine()].map(inLongTests), (engine) => {
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());

  test.each(['2s', '3s'])(
    'answers that arrived while a run stood still for longer than its time-out of %s are used',
    async (timeout) => {
      const scene = await createScene(engine);
      const { meter } = scene.service;
      const { code, stderr } = await runWithStandstill(scene, { timeout, standsMs: 5_000 });
      expect(code, stderr).toBe(0);
      expect(meter.mostBilledOnce()).toBe(1);
      expect(meter.billed).toBe(1 + ROWS);
    },
  );

  test('answers that arrived while a stopping run stood still for longer than --stop-grace are written', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine, { latencyMs: 300 });
    const { meter, options } = scene.service;
    await scene.write('list.csv', domainList(ROWS));
    const running = scene.start(['run', 'list.csv', '--rate', '0', '--stop-grace', '20s']);
    await scene.service.until(() => meter.billed > 1);
    options.latencyMs = 1_500;
    await scene.service.until(() => meter.billed >= 40 || meter.inFlight >= 12);
    running.kill('SIGTERM');
    await running.untilSaid(/stopping: no new requests/);
    running.kill('SIGSTOP');
    await Promise.all([after(22_000), scene.service.until(() => meter.inFlight === 0)]);
    // A machine that wakes up is slow: here it is the server of Redis that needs a while.
    const { server } = engine as { server?: RedisServer };
    await server?.kill('SIGSTOP');
    running.kill('SIGCONT');
    await after(2_500);
    await server?.kill('SIGCONT');
    const { code, stderr } = await running.done;
    expect(code, stderr).toBe(130);
    const counts = countStatuses(await readRows(scene.path('list.enriched.partial.csv')));
    expect((counts.matched ?? 0) + (counts.not_found ?? 0)).toBe(meter.billed);
    expect(stderr).toContain('all paid answers are stored');
  });

  test('answers are used even when locks, claims and the heartbeat of the run are out of date', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine);
    const { meter } = scene.service;
    const { code, stderr } = await runWithStandstill(scene, { timeout: '2s', standsMs: 40_000 });
    expect(code, stderr).toBe(0);
    expect(meter.mostBilledOnce()).toBe(1);
    expect(meter.billed).toBe(1 + ROWS);
    expect(await reportedIn(scene)).toEqual({ billed: meter.billed, unreported: 0 });
  });

  test('a worker keeps them although another worker has taken over its chunk', {
    tags: ['long'],
  }, async () => {
    const scene = await createScene(engine);
    const { meter, options } = scene.service;
    await scene.write('first.csv', domainList(1, 'first'));
    expect((await scene.run(['run', 'first.csv'])).code).toBe(0);
    await scene.write('list.csv', domainList(ROWS));
    options.latencyMs = 700;
    const command = ['run', 'list.csv', '--rate', '0'];
    const running = scene.start([...command, '--no-worker']);
    const stood = scene.start(['worker', '--concurrency', String(CONCURRENCY), '--timeout', '2s']);
    await scene.service.until(() => meter.billed > 1 && meter.inFlight === CONCURRENCY);
    stood.kill('SIGSTOP');
    await scene.service.until(() => meter.inFlight === 0);
    const arrived = [...meter.billedOf.keys()];
    options.latencyMs = 60_000;
    const other = scene.start(['worker', '--concurrency', '200']);
    await scene.service.until(() => meter.mostBilledOnce() === 2);
    stood.kill('SIGCONT');
    stood.kill('SIGTERM');
    const { code, stderr } = await stood.done;
    expect(code, stderr).toBe(0);
    other.kill('SIGKILL');
    running.kill('SIGKILL');
    await Promise.all([other.done, running.done]);

    options.latencyMs = 0;
    const again = await scene.run(command);
    expect(again.code, again.stderr).toBe(0);
    for (const name of arrived) expect(meter.billedOf.get(name), name).toBeLessThanOrEqual(2);
  });
});
