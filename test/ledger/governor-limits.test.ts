/** The governor at the limit: exhausted, refused for quota, and several governors on one ledger. */
import { describe, expect, test } from 'vitest';
import type { SettledAs } from '../../src/ledger/ledger.js';
import type { Asker, Stage } from './governing.js';
import { CONFIRMED, createStage, headers, outcomes, UNCONFIRMED } from './governing.js';

describe('the limit', () => {
  test('requests beyond a quarter of what is left wait while that is in flight', async () => {
    const { clock, askMany } = await createStage({ quota: 19 });
    const askers = askMany(6);
    await clock.advance(10_000);
    expect(outcomes(askers)).toEqual({ granted: 4, waiting: 2 });
  });

  test('the limit is exhausted only when the last of them was spent', async () => {
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

  test('a free request is replaced by another one', async () => {
    const { clock, governor, asked } = await createStage({ quota: 4 });
    const askers = await asked(6);
    for (const asker of askers) {
      await clock.advance(20);
      governor.settle(asker.permit, 'free', UNCONFIRMED);
    }
    expect(outcomes(askers)).toEqual({ granted: 6 });
  });

  test('a permit that is never settled expires and counts as spent', async () => {
    const { clock, account, askMany } = await createStage({ quota: 1 });
    const askers = askMany(5);
    await clock.advance(49_000);
    expect(outcomes(askers)).toEqual({ granted: 1, waiting: 4 });
    await clock.advance(2_000);
    expect([outcomes(askers), account().sent]).toEqual([{ granted: 1, exhausted: 4 }, 1]);
  });

  test('spending by others is seen through readings and deducted from the limit', async () => {
    const { clock, governor, askMany } = await createStage({ quota: 10 });
    governor.note(headers(10, 7));
    await clock.advance(15);
    expect(await exhaust({ clock, governor, askMany })).toBe(3);
  });

  test('after the quota is raised the rest is granted', async () => {
    const stage = await createStage({ quota: 3, settings: { plan: 'paid' } });
    expect(await exhaust(stage)).toBe(3);
    stage.governor.note(headers(5, 3));
    await stage.clock.advance(15);
    expect(await exhaust(stage)).toBe(2);
  });

  test('overage is used to the last request and not beyond', async () => {
    const stage = await createStage({ quota: 50, settings: { plan: 'paid', overage: 3 } });
    expect(await exhaust(stage)).toBe(53);
  });

  test('a cap of the run is exhausted once its requests were spent, whatever is left of the quota', async () => {
    const stage = await createStage({ quota: 50, settings: { maxRequests: 2 } });
    expect(await exhaust(stage)).toBe(2);
    const last = stage.ask('one more');
    await stage.clock.rest();
    expect(last.grant).toEqual({ type: 'exhausted', limit: { name: 'maxRequests', maxRequests: 2 } });
  });
});

describe('a refusal for quota', () => {
  const FOR_QUOTA = { isQuota: true, retryAfterMs: null };
  /** A minute after a refusal one of three requests is on its way. */
  async function probing() {
    const stage = await createStage({ quota: 100 });
    const { clock, governor, ask, asked } = stage;
    const refused = await taken(ask('refused'), clock);
    governor.refuse(refused.permit, FOR_QUOTA, UNCONFIRMED);
    await clock.advance(60_015);
    const askers = await asked(3);
    return { ...stage, askers };
  }

  test('closes the account: waiting requests are rejected, and no other is granted', async () => {
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
    const { clock, governor, askers } = await probing();
    expect(outcomes(askers)).toEqual({ granted: 1, waiting: 2 });
    governor.settle(askers[0]?.permit ?? '', 'billed', headers(200, 101));
    await clock.advance(200);
    expect(outcomes(askers)).toEqual({ granted: 3 });
  });

  test('by a probe rejects the rest, and the next probe goes a minute later', async () => {
    const { clock, governor, ask, askers } = await probing();
    governor.refuse(askers[0]?.permit ?? '', FOR_QUOTA, UNCONFIRMED);
    await clock.advance(200);
    expect(outcomes(askers)).toEqual({ granted: 1, exhausted: 2 });
    const soon = ask('soon');
    await clock.advance(30_000);
    expect(soon.result).toBe('exhausted');
  });

  test('does not count the refused permit as spent', async () => {
    const { clock, governor, account, ask } = await createStage({ quota: 100 });
    const { permit } = await taken(ask('key'), clock);
    governor.refuse(permit, FOR_QUOTA, headers(100, 100));
    await clock.advance(15);
    expect([account().sent, account().held, account().others]).toEqual([0, 0, 100]);
  });
});

describe('several governors on one ledger', () => {
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
        stage.governors[by]?.settle(
          asker.permit,
          as,
          as === 'free' ? UNCONFIRMED : headers(stage.account().quota, usage),
        );
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

  test('two never exceed the limit', async () => {
    const stage = await createStage({ governors: 2, quota: 40 });
    const { billed, most } = await workUntilExhausted(stage, 8, () => 'billed');
    expect([billed, most]).toEqual([40, 40]);
  });

  test('four use a limit of 53 to the last request, though every fifth answer is free', async () => {
    const stage = await createStage({ governors: 4, quota: 50, settings: { plan: 'paid', overage: 3 } });
    const { billed, sent, most } = await workUntilExhausted(stage, 8, (serial) =>
      serial % 5 === 0 ? 'free' : 'billed',
    );
    expect([billed, most]).toEqual([53, 53]);
    expect(sent).toBe(66);
    expect(stage.account()).toMatchObject({ sent: 53, held: 0, others: 0 });
  });

  test('possibly billed requests are counted, so that the limit holds', async () => {
    const stage = await createStage({ governors: 3, quota: 40 });
    const { billed, sent } = await workUntilExhausted(stage, 4, (serial) =>
      serial % 4 === 0 ? 'maybe_billed' : 'billed',
    );
    expect([billed, sent]).toEqual([30, 40]);
  });
});

async function taken(asker: Asker, clock: { rest(): Promise<void> }): Promise<{ permit: string }> {
  await clock.rest();
  expect(asker.result).toBe('granted');
  return { permit: asker.permit };
}

/** One by one until nothing is left; returns how many were billed. */
async function exhaust({
  clock,
  governor,
  askMany,
}: Pick<Stage, 'clock' | 'governor' | 'askMany'>): Promise<number> {
  for (let billed = 0; ; billed += 1) {
    const [asker] = askMany(1);
    await clock.advance(100);
    if (asker?.result !== 'granted') {
      expect(asker?.result).toBe('exhausted');
      return billed;
    }
    governor.settle(asker.permit, 'billed', CONFIRMED);
    await clock.advance(15);
  }
}
