/**
 * A process exits within `--stop-grace` (25 s) of SIGTERM, however slow the service is and whether
 * or not the engine is reachable, and counts what it cuts off.
 */
import { expect, test } from 'vitest';
import { onEngines } from '../e2e/commands.js';
import type { CliProcess } from '../support/cli.js';
import { embeddedEngine, postgresEngine, redisEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { expectHonestStop, STOPPED_COMMANDS } from '../support/stopped-work.js';
import { createDice } from './dice.js';

/** For each time of an answer, each with all commands at once. */
const MOMENTS = Number(process.env.MOMENTS ?? '1');

/** Seconds from the signal to the end. */
async function terminate(process: CliProcess): Promise<number> {
  const startedAt = performance.now();
  process.kill('SIGTERM');
  await process.done;
  return (performance.now() - startedAt) / 1_000;
}

const redis = redisEngine();
onEngines([redis], () => {
  test('a run and a worker exit within 25 s', async () => {
    const scene = await createScene(redis, { latencyMs: 200 });
    const { meter } = scene.service;
    await scene.write('list.csv', domainList(2_000));
    const worker = scene.start(['worker']);
    const running = scene.start(['run', 'list.csv', '--concurrency', '8']);
    await scene.service.until(() => meter.billed >= 100);
    await redis.server.kill('SIGKILL');
    const seconds = await Promise.all([terminate(worker), terminate(running)]);
    for (const each of seconds) expect(each).toBeLessThan(25.5);
  });
});

onEngines([redis, embeddedEngine(), postgresEngine()], (engine) => {
  test('SIGTERM at any moment: what is reported is never below the bill', {
    tags: ['kills'],
    timeout: 1_800_000,
  }, async () => {
    const dice = createDice(`SIGTERM at any moment on ${engine.name}`);
    for (let moment = 0; moment < MOMENTS; moment += 1)
      for (const [latencyMs, grace, rows] of [
        [100, '25s', 600],
        [3_000, dice.pick(['4s', '25s']), 100],
        [30_000, dice.pick(['8s', '25s']), 60],
      ] as const) {
        const stops = STOPPED_COMMANDS.map((command) =>
          expectHonestStop(engine, { command, latencyMs, afterMs: dice.between(0, 4_000), grace, rows }),
        );
        for (const { lost, seen } of await Promise.all(stops)) console.log(`${lost} lost: ${seen}`);
      }
  });
});
