import { describe, expect, test } from 'vitest';
import { CONFIRMED, createStage, headers, outcomes, UNCONFIRMED } from './governing.js';

describe('an unreachable ledger', () => {
  test('receives a failed exchange again word for word', async () => {
    const { clock, ledger, governor, askMany, asked } = await createStage({ quota: 100 });
    const [first] = await asked(1);
    ledger.setReach('out');
    const before = ledger.requests.length;
    governor.settle(first?.permit ?? '', 'billed', headers(100, 1));
    askMany(4);
    await clock.advance(10_000);
    const tries = ledger.requests.slice(before);
    expect(tries[0]).toMatchObject({ settle: [{ permit: first?.permit }], take: [{}, {}, {}, {}] });
    expect(tries.length).toBeGreaterThan(3);
    for (const each of tries) expect(each).toEqual(tries[0]);
  });

  test('is retried after 0.2 s, then less and less often, at least every 5 s', async () => {
    const { clock, ledger, ask } = await createStage({ quota: 100 });
    ledger.setReach('out');
    const before = ledger.requests.length;
    ask('key');
    await clock.rest();
    const waits: number[] = [];
    for (let time = 0; time < 7; time += 1) {
      const [wait = 0] = clock.dueInMs;
      waits.push(wait);
      await clock.advance(wait);
    }
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    expect(ledger.requests.length - before).toBe(8);
  });

  test('causes no second permit and no second settlement when an answer was lost', async () => {
    const { clock, ledger, governor, account, askMany, settleDown, asked } = await createStage({
      quota: 100,
    });
    const [first] = await asked(1);
    ledger.setReach('deaf');
    governor.settle(first?.permit ?? '', 'billed', CONFIRMED);
    const askers = askMany(4);
    await clock.advance(2_000);
    ledger.setReach('good');
    await clock.advance(5_000);
    await settleDown();
    expect(outcomes(askers)).toEqual({ granted: 4 });
    expect([account().sent, account().held]).toEqual([1, 4]);
  });

  test('that went back in time is restored from observations, and spending rests', async () => {
    const { clock, ledger, governor, account, askMany, asked } = await createStage({ quota: 100 });
    const before = await asked(3);
    for (const { permit } of before) governor.settle(permit, 'billed', CONFIRMED);
    await clock.advance(15);
    await ledger.reset('account');
    const askers = askMany(2);
    await clock.advance(59_000);
    expect(outcomes(askers)).toEqual({ waiting: 2 });
    expect(account().sent).toBe(3);
    governor.note(headers(100, 3));
    await clock.advance(10_000);
    expect(outcomes(askers)).toEqual({ granted: 2 });
  });
});

describe('closing', () => {
  test('settles all permits before it closes', async () => {
    const { clock, ledger, governor, account, asked } = await createStage({ quota: 100 });
    const askers = await asked(3);
    for (const { permit } of askers) governor.settle(permit, 'billed', headers(100, 3));
    const before = ledger.requests.length;
    await governor.close(5_000);
    expect([account().sent, account().held, account().usage]).toEqual([3, 0, 3]);
    expect(ledger.requests.length - before).toBe(1);
    expect(clock.dueInMs).toEqual([]);
  });

  test('ends at once when nothing is left to settle', async () => {
    const { clock, ledger, governor } = await createStage({ quota: 100 });
    const before = ledger.requests.length;
    await governor.close(5_000);
    expect([ledger.requests.length, clock.dueInMs]).toEqual([before, []]);
  });

  test('rejects waiting and later requests', async () => {
    const { clock, governor, ask, asked } = await createStage({ quota: 1 });
    const askers = await asked(3);
    await governor.close(5_000);
    const late = ask('late');
    await clock.rest();
    expect(outcomes([...askers, late])).toEqual({ granted: 1, 'rejected: the governor is closed': 3 });
  });

  test('rejects a request that waits for its slot, and returns its permit', async () => {
    const { clock, ledger, governor, account, asked } = await createStage({ quota: 100 });
    await ledger.open('account', { rate: 10, burst: 1 });
    governor.note(CONFIRMED);
    await clock.advance(15);
    const askers = await asked(4);
    expect([outcomes(askers), account().held]).toEqual([{ granted: 1, waiting: 3 }, 4]);
    await governor.close(5_000);
    expect(outcomes(askers)).toEqual({ granted: 1, 'rejected: the governor is closed': 3 });
    expect(account().held).toBe(1);
  });

  test('returns permits granted by the exchange in flight', async () => {
    const { clock, ledger, governor, account, askMany } = await createStage({ quota: 100 });
    const release = ledger.hold();
    askMany(3);
    await clock.rest();
    const closed = governor.close(5_000);
    await clock.rest();
    release();
    await closed;
    expect([account().sent, account().held]).toEqual([0, 0]);
  });

  test('tries an unreachable ledger once more, and does not wait for it', async () => {
    const { clock, ledger, governor, asked } = await createStage({ quota: 100 });
    const [asker] = await asked(1);
    ledger.setReach('out');
    governor.settle(asker?.permit ?? '', 'billed', CONFIRMED);
    await clock.advance(10_000);
    const before = ledger.requests.length;
    await governor.close(5_000);
    expect([ledger.requests.length - before, clock.dueInMs]).toEqual([1, []]);
  });

  test('waits for a ledger that never answers until the deadline', async () => {
    const { clock, ledger, governor, askMany } = await createStage({ quota: 100 });
    ledger.hold();
    askMany(1);
    await clock.rest();
    let isClosed = false;
    const closed = governor.close(5_000).then(() => {
      isClosed = true;
    });
    await clock.advance(4_999);
    expect(isClosed).toBe(false);
    await clock.advance(1);
    await closed;
    expect(clock.dueInMs).toEqual([]);
  });

  test('settles an answer that arrives after the close', async () => {
    const { clock, governor, account, asked } = await createStage({ quota: 100 });
    const [asker] = await asked(1);
    await governor.close(5_000);
    governor.settle(asker?.permit ?? '', 'free', UNCONFIRMED);
    await clock.rest();
    expect([account().sent, account().held]).toEqual([0, 0]);
  });
});
