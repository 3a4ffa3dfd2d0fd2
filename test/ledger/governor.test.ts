import { describe, expect, test } from 'vitest';
import { CONFIRMED, createStage, granted, headers, outcomes, TIMEOUT_MS, UNCONFIRMED } from './governing.js';

const RUN = { id: 'run', period: 'month', maxRate: null } as const;

describe('asking', () => {
  test('asks for at most two hundred permits per exchange; the others follow at once', async () => {
    const { ledger, asked } = await createStage({ quota: 1_800 });
    const before = ledger.requests.length;
    const askers = await asked(450);
    expect(outcomes(askers)).toEqual({ granted: 450 });
    expect(ledger.requests.slice(before).map(({ take }) => take.length)).toEqual([200, 200, 50]);
  });

  test('sends requests that arrive during an exchange with the next one', async () => {
    const { clock, ledger, asked } = await createStage({ quota: 100 });
    const release = ledger.hold();
    const early = await asked(2);
    const late = await asked(3);
    expect(outcomes([...early, ...late])).toEqual({ waiting: 5 });
    release();
    await clock.rest();
    expect(outcomes([...early, ...late])).toEqual({ granted: 5 });
    expect(ledger.requests.slice(-2).map(({ take }) => take.length)).toEqual([2, 3]);
  });

  test('asks again for a waiting request only when it is due, whatever arrives meanwhile', async () => {
    const { clock, ledger, askMany, ask } = await createStage({ quota: 2 });
    askMany(5);
    await clock.rest();
    ask('late');
    await clock.rest();
    expect(ledger.requests.at(-1)?.take.map(({ key }) => key)).toEqual(['late']);
    await clock.advance(100);
    expect(ledger.requests.at(-1)?.take).toHaveLength(5);
  });

  test('makes one exchange per run, each under its own caps', async () => {
    const { ledger, askMany, asked } = await createStage({ quota: 100 });
    ledger.addRun('capped', { maxRequests: 1 });
    const free = askMany(2);
    const capped = await asked(2, { run: { id: 'capped' } });
    expect(ledger.requests.slice(-2).map(({ run, take }) => [run, take.length])).toEqual([
      ['run', 2],
      ['capped', 2],
    ]);
    expect([outcomes(free), outcomes(capped)]).toEqual([{ granted: 2 }, { granted: 1, waiting: 1 }]);
  });

  test('takes permits that live ten seconds longer than a request may take', async () => {
    const { clock, ledger, ask } = await createStage({ quota: 100 });
    ask('key');
    await clock.rest();
    expect(ledger.requests.at(-1)?.permitMs).toBe(TIMEOUT_MS + 10_000);
  });

  test('reports a key claimed by another worker as lost', async () => {
    const { clock, ledger, ask } = await createStage({ quota: 100 });
    ledger.claim('key', 'another');
    const asker = ask('key');
    await clock.rest();
    expect(asker.result).toBe('lost');
  });
});

test('requests of a paused run are rejected, and those of other runs are served', async () => {
  const { clock, ledger, ask } = await createStage({ quota: 100 });
  ledger.addRun('other');
  const run = ledger.world.runs.get('run');
  if (run) run.isPaused = true;
  const [paused, other] = [ask('one'), ask('two', { run: { id: 'other' } })];
  await clock.advance(1);
  expect(paused.grant).toMatchObject({ type: 'paused', retryInMs: 1_000 });
  expect(other.result).toBe('granted');
  if (run) run.isPaused = false;
  const resumed = ask('one');
  await clock.advance(1);
  expect(resumed.result).toBe('granted');
});

test.each([0, -3 * 86_400_000, -3_600_000])(
  'a permit that another process returned is granted within 0.2 s, the clock set by %i ms',
  async (setMs) => {
    const { clock, governors, ask, settleDown } = await createStage({ quota: 1, governors: 2 });
    const first = ask('one');
    await settleDown();
    // Another process, which learns of the returned permit only when it asks again.
    const second = ask('two', { by: 1 });
    await settleDown();
    expect([first.result, second.result]).toEqual(['granted', 'waiting']);
    clock.set(setMs);
    governors[0]?.settle(first.permit, 'free', UNCONFIRMED);
    await clock.advance(200);
    expect(second.result).toBe('granted');
  },
);

describe('giving up', () => {
  test('reports a key that cost two requests without a usable answer', async () => {
    const stage = await createStage({ quota: 100 });
    for (const permit of [await granted(stage, 'key'), await granted(stage, 'key')]) {
      stage.governor.settle(permit, 'maybe_billed', UNCONFIRMED);
      await stage.settleDown();
    }
    const third = stage.ask('key');
    await stage.clock.rest();
    expect(third.result).toBe('attempts_exhausted');
  });

  test('before the exchange sends nothing', async () => {
    const { clock, ledger, ask } = await createStage({ quota: 100 });
    const before = ledger.requests.length;
    const asker = ask('key');
    asker.stop.abort(new Error('stopped'));
    await clock.advance(1_000);
    expect(asker.result).toBe('rejected: stopped');
    expect(ledger.requests.length).toBe(before);
  });

  test('before asking rejects at once', async () => {
    const { clock, governor } = await createStage({ quota: 100 });
    const taken = governor.take(RUN, 'key', AbortSignal.abort(new Error('stopped')));
    await expect(taken).rejects.toThrow('stopped');
    await clock.rest();
  });

  test('after a grant returns the permit', async () => {
    const { clock, ledger, settleDown, account, ask } = await createStage({ quota: 100 });
    const release = ledger.hold();
    const asker = ask('key');
    await clock.rest();
    asker.stop.abort(new Error('stopped'));
    await clock.rest();
    expect(asker.result).toBe('rejected: stopped');
    release();
    await settleDown();
    expect([account().held, account().sent]).toEqual([0, 0]);
  });
});

describe('settling', () => {
  test('batches settlements for 15 ms when nothing else is sent', async () => {
    const { clock, ledger, governor, account, asked } = await createStage({ quota: 100 });
    const askers = await asked(3);
    const before = ledger.requests.length;
    for (const { permit } of askers) governor.settle(permit, 'billed', CONFIRMED);
    await clock.advance(14);
    expect(ledger.requests.length).toBe(before);
    await clock.advance(1);
    expect(ledger.requests.length).toBe(before + 1);
    expect([account().held, account().sent]).toEqual([0, 3]);
  });

  test('sends settlements with the next permit request', async () => {
    const stage = await createStage({ quota: 100 });
    const { clock, ledger, governor, ask } = stage;
    const permit = await granted(stage, 'one');
    governor.settle(permit, 'billed', CONFIRMED);
    ask('two');
    await clock.rest();
    expect(ledger.requests.at(-1)).toMatchObject({
      settle: [{ permit, as: 'billed' }],
      take: [{ key: 'two' }],
    });
  });

  test('merges readings into the highest usage and the latest quota', async () => {
    const { clock, governor, account } = await createStage({ quota: 100 });
    governor.note(headers(100, 40));
    governor.note(headers(150, 38));
    governor.note(headers(null, 39));
    await clock.advance(15);
    expect([account().quota, account().usage, account().others]).toEqual([150, 40, 40]);
  });

  test('reuses a permit of its own in the same exchange', async () => {
    const stage = await createStage({ quota: 1 });
    const { clock, ledger, governor, ask } = stage;
    const permit = await granted(stage, 'one');
    const second = ask('two');
    await clock.rest();
    governor.settle(permit, 'free', UNCONFIRMED);
    await clock.advance(15);
    expect(second.result).toBe('granted');
    expect(ledger.requests.at(-1)).toMatchObject({ settle: [{ permit }], take: [{ key: 'two' }] });
  });
});

describe('a look', () => {
  const own = { own: 'service own.example', key: null, quotaCap: null };
  const signal = new AbortController().signal;
  const lookOf = async ({ clock, governor }: Awaited<ReturnType<typeof createStage>>, usage: number) => {
    const taken = governor.takeLook(own, 'month', signal);
    await clock.rest();
    const permit = await taken;
    if (permit !== null) governor.settle(permit, 'billed', headers(100, usage));
    await clock.advance(20);
    return permit;
  };

  test('counts until two quiet readings prove it free, and then its rows wait for each other at the limit', async () => {
    const stage = await createStage({ quota: 100 });
    const { clock, governor, account, ledger } = stage;
    for (let time = 0; time < 3; time += 1) {
      expect(await lookOf(stage, 0)).not.toBeNull();
      if (time < 2) expect(account().sent).toBe(time + 1);
      await clock.advance(120_000);
    }
    expect(account()).toMatchObject({ sent: 0, lookProven: true });
    governor.note(headers(0, 0));
    await clock.advance(20);
    const grants = ['one', 'two'].map((key) => governor.take(RUN, key, signal, own.own));
    await clock.rest();
    const first = await grants[0];
    expect(first).toMatchObject({ type: 'granted', isFree: true });
    expect(ledger.requests.at(-1)?.take).toHaveLength(2);
    if (first?.type === 'granted') governor.settle(first.permit, 'billed', CONFIRMED);
    await clock.advance(120);
    expect(await grants[1]).toMatchObject({ type: 'granted', isFree: true });
    expect(account()).toMatchObject({ sent: 0, free: 1 });
  });

  test('gets no permit at the limit without proof, nor after the governor has closed', async () => {
    const stage = await createStage({ quota: 0 });
    expect(await lookOf(stage, 0)).toBeNull();
    const closing = stage.governor.close(1_000);
    await stage.clock.advance(1_000);
    await closing;
    expect(await stage.governor.takeLook(own, 'month', signal)).toBeNull();
  });
});

test('lookups that ask again come before later ones', async () => {
  const { clock, ledger, governor } = await createStage({ quota: 100 });
  const release = ledger.hold();
  const never = new AbortController().signal;
  void governor.take(RUN, 'first', never, undefined, 1);
  await clock.rest();
  for (const place of [7, 9, 3]) void governor.take(RUN, `key-${place}`, never, undefined, place);
  release();
  await clock.rest();
  expect(ledger.requests.at(-1)?.take.map(({ key }) => key)).toEqual(['key-3', 'key-7', 'key-9']);
});
