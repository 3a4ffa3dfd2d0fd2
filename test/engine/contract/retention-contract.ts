/** How an engine purges expired answers; Redis expires each by itself. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHandClock } from '../../model/hand-clock.js';
import { createTurnedClock, type EngineUnderTest, type OpenEngineUnderTest } from './engine-under-test.js';
import { createOutcomesBench, DAY_MS } from './outcomes-bench.js';
import { runSettings } from './run-settings.js';

const HOUR_MS = 3_600_000;

export function describeRetention(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: retention`, () => {
    async function begin() {
      const storeClock = createTurnedClock();
      const upkeepClock = createHandClock();
      const subject: EngineUnderTest = await open({ clockOffsetMs: storeClock.offsetMs, upkeepClock });
      onTestFinished(() => subject.close());
      const bench = createOutcomesBench(() => subject.engine, storeClock);
      const waits = () => expect.poll(() => upkeepClock.dueInMs).toEqual([HOUR_MS]);
      /** All that is due is done when it waits again. */
      const passDays = async (days: number, meanwhile?: () => Promise<unknown>) => {
        storeClock.advance(days * DAY_MS);
        await meanwhile?.();
        await waits();
        await upkeepClock.advance(HOUR_MS);
        await waits();
      };
      const { matched } = bench;
      const { keys } = bench.begin(2);
      await bench.store().record([matched(keys[0] ?? '')]);
      return { bench, passDays, keys };
    }
    const stored = async ({ store }: ReturnType<typeof createOutcomesBench>) =>
      (await store().stats()).matched;

    test('an open engine purges data older than 30 days, and no younger data', async () => {
      const { bench, passDays, keys } = await begin();
      await passDays(20);
      expect(await stored(bench)).toBe(1);
      await bench.store().record([bench.matched(keys[1] ?? '')]);
      await passDays(11);
      expect(await stored(bench)).toBe(1);
      expect(await bench.store().read(keys, bench.fresh({ maxAgeMs: 60 * DAY_MS }))).toMatchObject([
        null,
        { key: keys[1] },
      ]);
    });

    test('answers that a live run may still use are spared', async () => {
      const { bench, passDays } = await begin();
      const { runs } = bench.engine();
      const run = await runs.start({
        id: 'r-spares',
        key: 'k-spares',
        label: { host: 'etl-1', name: 'test' },
        settings: runSettings({ account: 'a-spares' }),
      });
      await passDays(31, () => runs.heartbeat(run.id));
      expect(await stored(bench)).toBe(1);
      await runs.end(run.id, null);
      await passDays(1);
      expect(await stored(bench)).toBe(0);
    });
  });
}
