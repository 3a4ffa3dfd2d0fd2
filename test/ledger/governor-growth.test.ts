/** Growth of the shared pace: how fast while all is well, and what is no evidence for it. */
import { describe, expect, test } from 'vitest';
import type { Stage } from './governing.js';
import { CONFIRMED, createPacedStage, THROTTLED, UNCONFIRMED } from './governing.js';

const rateOf = (stage: Stage) => stage.account().rate;
describe('growth', () => {
  /** Requests once every half second for this many seconds; every answer is good. */
  async function work(stage: Stage, seconds: number, maxRate: number | null): Promise<void> {
    for (let half = 0; half < seconds * 2; half += 1) {
      const [asker] = stage.askMany(1, { run: { maxRate } });
      await stage.clock.advance(485);
      if (asker?.permit) stage.governor.settle(asker.permit, 'billed', CONFIRMED);
      await stage.settleDown();
    }
  }

  test('the pace does not grow beyond the rate that the run allows', async () => {
    const stage = await createPacedStage(100);
    await work(stage, 10, 102);
    expect(rateOf(stage)).toBe(102);
  });

  test('after a refusal that lowers nothing the pace grows a second later', async () => {
    const stage = await createPacedStage(100, 3);
    const { clock, governor, settleDown, asked } = stage;
    const [first, second, third] = await asked(3);
    governor.refuse(first?.permit ?? '', THROTTLED, UNCONFIRMED);
    await settleDown();
    const lowered = rateOf(stage);
    await clock.advance(900);
    governor.refuse(second?.permit ?? '', THROTTLED, UNCONFIRMED);
    await clock.advance(600);
    governor.settle(third?.permit ?? '', 'billed', CONFIRMED);
    await settleDown();
    expect(rateOf(stage)).toBe(lowered);
  });
});

/** 64 requests at a time, answered within 10 ms, for at most `seconds`; how many were. */
async function workHard(stage: Stage, seconds: number): Promise<number> {
  let answered = 0;
  let under: ReturnType<Stage['askMany']> = [];
  for (let step = 0; step < seconds * 100 && answered < 2_000; step += 1) {
    const done = under.filter(({ permit }) => permit !== '');
    for (const { permit } of done) stage.governor.settle(permit, 'billed', CONFIRMED);
    answered += done.length;
    under = under.filter(({ permit }) => permit === '');
    under.push(...stage.askMany(64 - under.length));
    await stage.clock.advance(10);
  }
  return answered;
}

test('a refusal before anything was answered: costs 2,000 lookups a few seconds', async () => {
  const stage = await createPacedStage(null);
  const first = stage.ask('first');
  await stage.clock.rest();
  stage.governor.refuse(first.permit, THROTTLED, UNCONFIRMED);
  await stage.settleDown();
  expect(await workHard(stage, 6)).toBeGreaterThanOrEqual(2_000);
});
