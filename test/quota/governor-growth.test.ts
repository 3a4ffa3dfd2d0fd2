/**
 * The governor and the shared pace: how it grows while all is well, and what is no proof that all is well.
 */
import { describe, expect, test } from 'vitest';
import type { Stage } from './governing.js';
import { createStage, HEARD, UNHEARD } from './governing.js';

/** A stage whose account has a pace and has been heard of. */
function createPacedStage(rate: number | null, burst = 1, governors = 1): Promise<Stage> {
  return createStage({ quota: 100_000, governors, pace: { rate, burst } });
}

const rateOf = (stage: Stage) => stage.account().rate;
describe('growth', () => {
  /** Asks once every half second for so many seconds; every answer is good. */
  async function work(stage: Stage, seconds: number, maxRate: number | null): Promise<void> {
    for (let half = 0; half < seconds * 2; half += 1) {
      const [asker] = stage.askMany(1, { run: { maxRate } });
      await stage.clock.advance(485);
      if (asker?.permit) stage.governor.settle(asker.permit, 'billed', HEARD);
      await stage.settleDown();
    }
  }

  test('without refusals the pace grows by half a percent a second', async () => {
    const stage = await createPacedStage(100);
    await work(stage, 10, null);
    expect(rateOf(stage)).toBeGreaterThan(104);
    expect(rateOf(stage)).toBeLessThan(106);
  });

  test('it does not grow beyond the rate that the run allows', async () => {
    const stage = await createPacedStage(100);
    await work(stage, 10, 102);
    expect(rateOf(stage)).toBe(102);
  });

  test('an hour without work is no proof: the pace does not leap', async () => {
    const stage = await createPacedStage(100);
    await stage.clock.advance(3_600_000);
    await work(stage, 2, null);
    expect(rateOf(stage)).toBeLessThan(105);
  });

  test('a refusal that lowers nothing is a refusal all the same: it grows a second later', async () => {
    const stage = await createPacedStage(100, 3);
    const { clock, governor, askMany, settleDown } = stage;
    const [first, second, third] = askMany(3);
    await clock.rest();
    governor.refuse(first?.permit ?? '', { isQuota: false, retryAfterMs: null }, UNHEARD);
    await settleDown();
    const lowered = rateOf(stage);
    await clock.advance(900);
    governor.refuse(second?.permit ?? '', { isQuota: false, retryAfterMs: null }, UNHEARD);
    await clock.advance(600);
    governor.settle(third?.permit ?? '', 'billed', HEARD);
    await settleDown();
    expect(rateOf(stage)).toBe(lowered);
  });

  test('a pause is no proof: while nobody may send the pace stays', async () => {
    const stage = await createPacedStage(100);
    await stage.ledger.setPaused(true);
    stage.ask('key');
    await stage.clock.advance(60_000);
    expect(rateOf(stage)).toBe(100);
  });

  test('what is not paced stays unpaced', async () => {
    const stage = await createPacedStage(null);
    await work(stage, 10, 50);
    expect(rateOf(stage)).toBeNull();
  });
});
