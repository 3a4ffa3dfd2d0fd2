/** A clock that is set back during a run or between two commands: the bill does not change. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { engineAt } from '../support/engines.js';
import { createFakeTime, missingFakeTime } from '../support/fake-time.js';
import { startPostgres } from '../support/postgres-server.js';
import { hasRedisServer, startRedis } from '../support/redis-server.js';
import { createScene, domainList } from '../support/scene.js';
import { answeredIn, ends, expectPaidOnce, kill, LONG } from './commands.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Env = Readonly<Record<string, string>>;
const servers = [
  // Redis' allocator reads the time before libfaketime is loaded; its ledger contract sets that
  // clock.
  { name: 'redis', isMissing: !hasRedisServer(), hasFakeTime: false, start: () => startRedis() },
  { name: 'postgres', isMissing: false, hasFakeTime: true, start: (env: Env) => startPostgres([], env) },
] as const;

/** Whose clock is set. */
type Whose = 'of the run' | 'of the engine' | 'of both';

type Changes = Parameters<typeof createScene>[1];
/** `env`: the environment of the run. */
async function createSet({ name, start }: (typeof servers)[number], whose: Whose, changes: Changes = {}) {
  const clock = await createFakeTime();
  const server = await start(whose === 'of the run' ? {} : clock.env);
  onTestFinished(() => server.stop());
  const scene = await createScene(engineAt(name, server.url), changes);
  return { scene, clock, env: whose === 'of the engine' ? {} : clock.env };
}

const missing = missingFakeTime();
for (const server of servers) {
  const both: Whose = server.hasFakeTime ? 'of both' : 'of the run';
  const engine: Whose = server.hasFakeTime ? 'of the engine' : 'of the run';
  const title = `on ${server.name}${missing === null ? '' : ` (skipped: ${missing})`}`;
  describe.skipIf(server.isMissing || missing !== null)(title, LONG, () => {
    type Case = readonly [Whose, string, number];
    const others: readonly Case[] = server.hasFakeTime
      ? [
          [both, 'an hour', -HOUR],
          ['of the run', 'two days', -2 * DAY],
          [engine, 'an hour', -HOUR],
        ]
      : [];
    const cases: readonly Case[] = [[both, 'three days', -3 * DAY], [both, 'an hour ahead', HOUR], ...others];
    describe.each(cases)('the clock %s is set by %s while chunks are parked', (whose, _, setMs) => {
      test('the run ends, and buys each identifier once', async () => {
        const { scene, env, clock } = await createSet(server, whose);
        const { meter, options } = scene.service;
        await scene.write('list.csv', domainList(300));
        const running = scene.start(['run', 'list.csv', '--concurrency', '16'], env);
        await scene.service.until(() => meter.billed >= 50);
        options.alwaysStatus = 503;
        await running.untilSaid(/the service is unavailable/);
        clock.set(setMs);
        options.alwaysStatus = null;
        await ends(0, running.done);
        expectPaidOnce(meter, 300);
      });
    });

    describe.each<Case>([
      [both, 'three days', -3 * DAY],
      [engine, 'an hour', -HOUR],
    ])('the clock %s is set back by %s near the limit', (whose, _, setMs) => {
      test('the run ends with 7 at the last request', async () => {
        const { scene, env, clock } = await createSet(server, whose, { latencyMs: 300, quota: 100 });
        const { meter } = scene.service;
        await scene.write('list.csv', domainList(300));
        const running = scene.start(['run', 'list.csv', '--concurrency', '8'], env);
        await scene.service.until(() => meter.billed >= 60);
        clock.set(setMs);
        await ends(7, running.done);
        expect(meter.billed).toBe(100);
        expect(await answeredIn(scene.path('list.enriched.partial.csv'))).toBe(100);
      });
    });

    test('the clock is set back by three days between a kill and the next run: nothing is bought again', async () => {
      const { scene, env, clock } = await createSet(server, both, { latencyMs: 100 });
      const { meter, options } = scene.service;
      await scene.write('list.csv', domainList(300));
      const killed = scene.start(['run', 'list.csv', '--concurrency', '8'], env);
      await scene.service.until(() => meter.billed >= 100);
      await kill(killed);
      clock.set(-3 * DAY);
      options.latencyMs = 0;
      await ends(0, scene.run(['run', 'list.csv'], env));
      expect(meter.billed).toBeLessThanOrEqual(300 + 8);
      expect(meter.mostBilledOnce()).toBeLessThanOrEqual(2);
    });

    test('a machine that is 40 days ahead of the engine purges nothing that is young', async () => {
      const { scene, env, clock } = await createSet(server, 'of the run');
      const { meter } = scene.service;
      await scene.write('list.csv', domainList(20));
      await ends(0, scene.run(['run', 'list.csv']));
      clock.set(40 * DAY);
      const purged = await scene.run(['outcomes', 'purge', '--older-than', '30d', '--json'], env);
      expect(JSON.parse(purged.stdout)).toMatchObject({ forgotten: 0 });
      await ends(0, scene.run(['run', 'list.csv']));
      expect(meter.billed).toBe(20);
    });
  });
}
