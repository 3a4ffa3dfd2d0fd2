import { describe, expect, test } from 'vitest';
import { CONFIRMED, createPacedStage, outcomes, type Stage, THROTTLED, UNCONFIRMED } from './governing.js';

const rateOf = (stage: Stage) => stage.account().rate;

describe('slots', () => {
  test('are one interval apart', async () => {
    const { clock, asked } = await createPacedStage(10);
    const askers = await asked(5);
    const passed: number[] = [];
    for (let time = 0; time < 5; time += 1) {
      passed.push(outcomes(askers).granted ?? 0);
      await clock.advance(100);
    }
    expect(passed).toEqual([1, 2, 3, 4, 5]);
  });

  test('missed during a long sleep are timed anew, never sent in a burst', async () => {
    const { clock, account, asked } = await createPacedStage(10);
    const askers = await asked(9);
    expect(outcomes(askers)).toEqual({ granted: 1, waiting: 8 });
    await clock.leap(10_000);
    expect(outcomes(askers).granted).toBe(2);
    await clock.advance(100);
    expect(outcomes(askers).granted).toBe(3);
    await clock.advance(600);
    expect(outcomes(askers)).toEqual({ granted: 9 });
    expect([account().held, account().sent]).toEqual([9, 0]);
  });

  test('are not missed when a timer is slightly late', async () => {
    const { clock, ledger, asked } = await createPacedStage(10);
    const askers = await asked(2);
    const before = ledger.requests.length;
    await clock.leap(150);
    expect(outcomes(askers)).toEqual({ granted: 2 });
    expect(ledger.requests.length).toBe(before);
  });

  test('are returned with the permit when the request is aborted', async () => {
    const { clock, account, asked } = await createPacedStage(10);
    const [, second] = await asked(2);
    expect(account().held).toBe(2);
    second?.stop.abort(new Error('stopped'));
    await clock.advance(15);
    expect([second?.result, account().held]).toEqual(['rejected: stopped', 1]);
  });
});

describe('refusals', () => {
  test('in one burst lower the pace once', async () => {
    const stage = await createPacedStage(100, 20);
    const { clock, governor, asked } = stage;
    const askers = await asked(20);
    for (const { permit } of askers) {
      governor.refuse(permit, THROTTLED, UNCONFIRMED);
      await clock.advance(20);
    }
    expect(rateOf(stage)).toBe(45);
  });

  test('that two workers meet at once lower the pace once', async () => {
    const stage = await createPacedStage(100, 20, 2);
    const { clock, governors } = stage;
    const askers = [0, 1].flatMap((by) => stage.askMany(4, { by }).map((asker) => ({ asker, by })));
    await clock.rest();
    for (const { asker, by } of askers) governors[by]?.refuse(asker.permit, THROTTLED, UNCONFIRMED);
    await clock.advance(15);
    expect(rateOf(stage)).toBe(45);
  });

  test.each([
    [null, 1_000],
    [4_000, 4_000],
  ])('with a Retry-After of %s ms block all sending for %s ms', async (retryAfterMs, silentMs) => {
    const { clock, governors, askMany, asked } = await createPacedStage(100, 1, 2);
    const [refused] = await asked(1, { by: 0 });
    governors[0]?.refuse(refused?.permit ?? '', { isQuota: false, retryAfterMs }, UNCONFIRMED);
    await clock.advance(15);
    const askers = [...askMany(1, { by: 0 }), ...askMany(1, { by: 1 })];
    await clock.advance(silentMs - 16);
    expect(outcomes(askers)).toEqual({ waiting: 2 });
    await clock.advance(1_100);
    expect(outcomes(askers)).toEqual({ granted: 2 });
  });

  test('with a longer Retry-After still block after the pace was lowered', async () => {
    const stage = await createPacedStage(100, 2);
    const { clock, governor, ask, asked } = stage;
    const [first, second] = await asked(2);
    governor.refuse(first?.permit ?? '', { isQuota: false, retryAfterMs: 1_000 }, UNCONFIRMED);
    await clock.advance(15);
    const lowered = rateOf(stage);
    governor.refuse(second?.permit ?? '', { isQuota: false, retryAfterMs: 9_000 }, UNCONFIRMED);
    await clock.advance(15);
    const third = ask('third');
    await clock.advance(8_900);
    expect([third.result, rateOf(stage)]).toEqual(['waiting', lowered]);
    await clock.advance(2_000);
    expect(third.result).toBe('granted');
  });

  test('that lower nothing let the pace grow a second later', async () => {
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

test('the pace does not grow beyond the rate that the run allows', async () => {
  const stage = await createPacedStage(100);
  for (let half = 0; half < 20; half += 1) {
    const [asker] = stage.askMany(1, { run: { maxRate: 102 } });
    await stage.clock.advance(485);
    if (asker?.permit) stage.governor.settle(asker.permit, 'billed', CONFIRMED);
    await stage.settleDown();
  }
  expect(rateOf(stage)).toBe(102);
});
