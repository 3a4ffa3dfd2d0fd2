/** A process that stood still for longer than its time-outs, as on a suspended machine. */
import { setTimeout as after } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  type EngineUnderTest,
  embeddedEngine,
  inLongTests,
  postgresEngine,
  redisEngine,
} from '../support/engines.js';
import type { RedisServer } from '../support/redis-server.js';
import { createScene, domainList } from '../support/scene.js';
import { reportedIn } from '../support/stopped-work.js';
import { answeredIn, ends, expectPaidOnce, LONG, onEngines, stop } from './commands.js';

const CONCURRENCY = 24;
const ROWS = 120;

/** A scene whose address has shown a brand, so that all requests may be in flight at once. */
async function provenScene(engine: EngineUnderTest) {
  const scene = await createScene(engine, {}, domainList(ROWS));
  const { meter, options } = scene.service;
  await scene.write('first.csv', domainList(1, 'first'));
  await ends(0, scene.run(['run', 'first.csv']));
  options.latencyMs = 700;
  const untilFull = () => scene.service.until(() => meter.billed > 1 && meter.inFlight === CONCURRENCY);
  return { scene, meter, options, untilFull };
}

const AT_ONCE = ['--concurrency', String(CONCURRENCY), '--timeout', '2s'];

onEngines([redisEngine(), embeddedEngine(), postgresEngine()].map(inLongTests), (engine) => {
  test('answers that arrived while a stopping run stood still are written', LONG, async () => {
    const scene = await createScene(engine, { latencyMs: 300 }, domainList(ROWS));
    const { meter, options } = scene.service;
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
    const { stderr } = await ends(130, running.done);
    expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(meter.billed);
    expect(stderr).toContain('all paid answers are stored');
  });

  test('answers that arrived while a run stood still are used', LONG, async () => {
    const { scene, meter, options, untilFull } = await provenScene(engine);
    const running = scene.start(['run', 'list.csv', '--rate', '0', ...AT_ONCE]);
    await untilFull();
    running.kill('SIGSTOP');
    await Promise.all([after(40_000), scene.service.until(() => meter.inFlight === 0)]);
    running.kill('SIGCONT');
    options.latencyMs = 0;
    await ends(0, running.done);
    expectPaidOnce(meter, 1 + ROWS);
    expect(await reportedIn(scene)).toEqual({ billed: meter.billed, unreported: 0 });
  });

  test('a worker keeps them although another worker has taken over its chunk', LONG, async () => {
    const { scene, meter, options, untilFull } = await provenScene(engine);
    const command = ['run', 'list.csv', '--rate', '0'];
    const running = scene.start([...command, '--no-worker']);
    const stood = scene.start(['worker', ...AT_ONCE]);
    await untilFull();
    stood.kill('SIGSTOP');
    await scene.service.until(() => meter.inFlight === 0);
    const arrived = [...meter.billedOf.keys()];
    options.latencyMs = 60_000;
    const other = scene.start(['worker', '--concurrency', '200']);
    await scene.service.until(() => meter.mostBilledOnce() === 2);
    stood.kill('SIGCONT');
    await stop(stood);
    other.kill('SIGKILL');
    running.kill('SIGKILL');
    await Promise.all([other.done, running.done]);

    options.latencyMs = 0;
    await ends(0, scene.run(command));
    for (const name of arrived) expect(meter.billedOf.get(name), name).toBeLessThanOrEqual(2);
  });
});
