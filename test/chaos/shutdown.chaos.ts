/** A process that is stopped by SIGTERM, however slow the service is, counts what it cuts off. */
import { test } from 'vitest';
import { onEngines } from '../e2e/commands.js';
import { embeddedEngine, postgresEngine, redisEngine } from '../support/engines.js';
import { expectHonestStop, STOPPED_COMMANDS } from '../support/stopped-work.js';
import { createDice } from './dice.js';

/** For each time of an answer, each with all commands at once. */
const MOMENTS = Number(process.env.MOMENTS ?? '1');

onEngines([redisEngine(), embeddedEngine(), postgresEngine()], (engine) => {
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
