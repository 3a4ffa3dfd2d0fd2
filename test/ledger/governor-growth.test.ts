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

  test('a pace that others left behind grows by a tenth a second: nobody remembers how good it is', async () => {
    const stage = await createPacedStage(100);
    await work(stage, 10, null);
    expect(rateOf(stage)).toBeGreaterThan(220);
    expect(rateOf(stage)).toBeLessThan(260);
  });

  test('near a rate that was refused it grows by half a percent a second', async () => {
    const stage = await createPacedStage(100, 200);
    const { clock, governor, askMany } = stage;
    const askers = askMany(100);
    await clock.rest();
    for (const { permit } of askers.slice(1)) governor.settle(permit, 'billed', HEARD);
    governor.refuse(askers[0]?.permit ?? '', { isQuota: false, retryAfterMs: null }, UNHEARD);
    await stage.settleDown();
    expect(rateOf(stage)).toBeCloseTo(89.1);
    await clock.advance(2_000);
    await work(stage, 10, null);
    expect(rateOf(stage)).toBeGreaterThan(92);
    expect(rateOf(stage)).toBeLessThan(96);
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
    // Five seconds of growth are the most that a quiet one is good for, then those of the work itself.
    expect(rateOf(stage)).toBeLessThan(185);
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

describe('one refusal before anything was answered', () => {
  /** 64 at a time, each answered within 10 ms, for at most `seconds`. How many were answered. */
  async function workHard(stage: Stage, seconds: number): Promise<number> {
    let answered = 0;
    let under: ReturnType<Stage['askMany']> = [];
    for (let step = 0; step < seconds * 100 && answered < 2_000; step += 1) {
      const done = under.filter(({ permit }) => permit !== '');
      for (const { permit } of done) stage.governor.settle(permit, 'billed', HEARD);
      answered += done.length;
      under = under.filter(({ permit }) => permit === '');
      under.push(...stage.askMany(64 - under.length));
      await stage.clock.advance(10);
    }
    return answered;
  }

  test('costs 2,000 lookups a few seconds', async () => {
    const stage = await createPacedStage(null);
    const first = stage.ask('first');
    await stage.clock.rest();
    stage.governor.refuse(first.permit, { isQuota: false, retryAfterMs: null }, UNHEARD);
    await stage.settleDown();
    expect(await workHard(stage, 6)).toBeGreaterThanOrEqual(2_000);
  });

  test('not even a service that refuses everything for three seconds costs more', async () => {
    const stage = await createPacedStage(null);
    for (let seconds = 0; seconds < 3; seconds += 1) {
      const asker = stage.ask(`early-${seconds}`);
      await stage.clock.advance(1_050);
      stage.governor.refuse(asker.permit, { isQuota: false, retryAfterMs: null }, UNHEARD);
      await stage.settleDown();
    }
    expect(await workHard(stage, 8)).toBeGreaterThanOrEqual(2_000);
  });

  test('is followed by ten a second, and by no more than forty in the second after', async () => {
    const stage = await createPacedStage(null);
    const first = stage.ask('first');
    await stage.clock.rest();
    stage.governor.refuse(first.permit, { isQuota: false, retryAfterMs: null }, UNHEARD);
    await stage.settleDown();
    expect(rateOf(stage)).toBe(10);
    expect(await workHard(stage, 3)).toBeLessThan(60);
  });
});
