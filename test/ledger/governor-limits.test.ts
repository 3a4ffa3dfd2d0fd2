import { describe, expect, test } from 'vitest';
import type { SettledAs } from '../../src/ledger/ledger.js';
import {
  type Asker,
  CONFIRMED,
  createStage,
  granted,
  headers,
  outcomes,
  type Stage,
  THROTTLED,
  UNCONFIRMED,
} from './governing.js';

describe('the limit', () => {
  test('is exhausted only when the last request of it was spent', async () => {
    const { clock, governor, askMany } = await createStage({ quota: 4 });
    const askers = askMany(6);
    for (let granted = 1; granted <= 4; granted += 1) {
      await clock.advance(20);
      expect(outcomes(askers)).toEqual({ granted, waiting: 6 - granted });
      governor.settle(askers[granted - 1]?.permit ?? '', 'billed', CONFIRMED);
    }
    await clock.advance(200);
    expect(outcomes(askers)).toEqual({ granted: 4, exhausted: 2 });
    expect(askers[5]?.grant).toEqual({ type: 'exhausted', limit: { name: 'account', overage: 0 } });
  });

  test('of a run is exhausted once its requests were spent, whatever is left of the quota', async () => {
    const stage = await createStage({ quota: 50, settings: { maxRequests: 2 } });
    for (const key of ['one', 'two']) stage.governor.settle(await granted(stage, key), 'billed', CONFIRMED);
    const last = stage.ask('one more');
    await stage.settleDown();
    expect(last.grant).toEqual({ type: 'exhausted', limit: { name: 'maxRequests', maxRequests: 2 } });
  });
});

describe('a refusal for quota', () => {
  const FOR_QUOTA = { isQuota: true, retryAfterMs: null };

  test('closes the account: waiting requests are rejected, and no permit is granted', async () => {
    const { clock, governor, askMany, asked } = await createStage({ quota: 100 });
    const askers = await asked(3);
    governor.settle(askers[1]?.permit ?? '', 'billed', CONFIRMED);
    governor.settle(askers[2]?.permit ?? '', 'billed', CONFIRMED);
    governor.refuse(askers[0]?.permit ?? '', FOR_QUOTA, UNCONFIRMED);
    const later = askMany(2);
    await clock.advance(1_000);
    const refused = { type: 'exhausted', limit: { name: 'service' } };
    expect(later.map(({ grant }) => grant)).toEqual([refused, refused]);
  });

  test('lets one request probe the account a minute later', async () => {
    const stage = await createStage({ quota: 100 });
    const { clock, governor, asked } = stage;
    governor.refuse(await granted(stage, 'refused'), FOR_QUOTA, UNCONFIRMED);
    await clock.advance(60_015);
    const askers = await asked(3);
    expect(outcomes(askers)).toEqual({ granted: 1, waiting: 2 });
    governor.settle(askers[0]?.permit ?? '', 'billed', headers(200, 101));
    await clock.advance(200);
    expect(outcomes(askers)).toEqual({ granted: 3 });
  });

  test.each([
    [FOR_QUOTA, headers(100, 100), 100],
    [THROTTLED, UNCONFIRMED, 0],
  ])('like any (%j) costs nothing', async (refusal, observation, others) => {
    const stage = await createStage({ quota: 100 });
    stage.governor.refuse(await granted(stage, 'key'), refusal, observation);
    await stage.settleDown();
    expect(stage.account()).toMatchObject({ sent: 0, held: 0, others });
    expect(stage.account().closedAt === null).toBe(refusal === THROTTLED);
  });
});

test('four governors use a limit of 53 to the last request, though every fifth answer is free', async () => {
  /**
   * Every governor has `slots` requests in flight, each taking a random time and ending as `comeTo`
   * says, until all are told that the limit is exhausted. Returns how many requests were sent and
   * how many were billed.
   */
  async function workUntilExhausted(
    stage: Stage,
    slots: number,
    comeTo: (serial: number) => SettledAs,
  ): Promise<{ sent: number; billed: number; most: number }> {
    const count = { sent: 0, billed: 0, most: 0 };
    let alive = 0;
    let usage = 0;
    const work = async (by: number): Promise<void> => {
      for (;;) {
        const asker = stage.askMany(1, { by })[0] as Asker;
        while (asker.result === 'waiting') await stage.clock.sleep(5);
        if (asker.result !== 'granted') break;
        const { held, sent } = stage.account();
        count.most = Math.max(count.most, held + sent);
        count.sent += 1;
        const as = comeTo(count.sent);
        if (as !== 'free') usage += 1;
        await stage.clock.sleep(20 + ((count.sent * 37) % 90));
        if (as === 'billed') count.billed += 1;
        const shown = as === 'free' ? UNCONFIRMED : headers(stage.account().quota, usage);
        stage.governors[by]?.settle(asker.permit, as, shown);
      }
      alive -= 1;
    };
    for (let by = 0; by < stage.governors.length; by += 1)
      for (let slot = 0; slot < slots; slot += 1) {
        alive += 1;
        void work(by);
      }
    while (alive > 0) await stage.clock.advance(50);
    await stage.settleDown();
    return count;
  }
  const stage = await createStage({ governors: 4, quota: 50, settings: { plan: 'paid', overage: 3 } });
  const { billed, sent, most } = await workUntilExhausted(stage, 8, (serial) =>
    serial % 5 === 0 ? 'free' : 'billed',
  );
  expect([billed, most]).toEqual([53, 53]);
  expect(sent).toBe(66);
  expect(stage.account()).toMatchObject({ sent: 53, held: 0, others: 0 });
});
