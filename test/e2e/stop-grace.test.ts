/** SIGTERM while answers take longer than `--stop-grace` allows: what may be lost is said. */
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { CONCURRENCY, expectHonestStop, STOPPED_COMMANDS } from '../support/stopped-work.js';
import { onEngines } from './commands.js';

onEngines([redisEngine(), embeddedEngine(), postgresEngine()].map(inLongTests), (engine) => {
  test.each(STOPPED_COMMANDS)(
    '%s counts the requests that it cuts off as perhaps billed, and says it',
    async (command) => {
      const work = { command, latencyMs: 30_000, afterMs: 1_000, grace: '4s', rows: 2_000 };
      expect((await expectHonestStop(engine, work)).lost).toBe(CONCURRENCY);
    },
  );

  test.each(STOPPED_COMMANDS)('%s waits within --stop-grace for answers that come', async (command) => {
    const work = { command, latencyMs: 3_000, afterMs: 500, grace: '20s', rows: 200 };
    expect((await expectHonestStop(engine, work)).lost).toBe(0);
  });
});
