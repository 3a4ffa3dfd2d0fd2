import { describe, expect, it } from 'vitest';
import { unpackProfile } from '../../src/engine/stores/profile-codec.js';
import type { RunHalt } from '../../src/engine/stores/run-reasons.js';
import { NO_TALLY } from '../../src/engine/stores/run-store.js';
import type { Grant } from '../../src/ledger/permit-waiters.js';
import { ask } from '../../src/worker/ask.js';
import type { Asked, FetchedAnswer } from '../../src/worker/asked.js';
import { LeftOnDisk } from '../../src/worker/recorder.js';
import { ledgerState } from '../run/ledger-state.js';
import { HALTS } from '../support/halts.js';
import {
  ACME,
  type Asking,
  type AskingOptions,
  answerOf,
  askFor,
  askOnce,
  BEFORE,
  createAsking,
  DOWN,
  eventsOf,
  FAILED,
  GRANTED,
  MATCHED,
  NOON,
  NOT_FOUND,
  RECORDED_AT,
  runRecord,
  UNUSABLE,
  unavailable,
} from './asking.js';

const NOTHING = { requests: 0, billed: 0 };

/** Asks until the breaker is open. */
async function openBreaker(asking: Asking): Promise<void> {
  for (let count = 0; count < 10 && !asking.context.breaker.isOpen; count += 1) await askFor(asking);
  expect(asking.context.breaker.isOpen).toBe(true);
}

describe('an answer', () => {
  it('with a brand is kept by the exchange that settles its permit: a crash before it counts as sent', async () => {
    const { asked, log, recorded } = await askOnce({ answers: [MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 1, billed: 1 });
    expect(log).toEqual([
      'take p1',
      'ask acme.com',
      'answer matched',
      'record',
      'settle p1 billed confirmed with its answer',
      'recorded',
    ]);
    const outcome = { key: 'k:u:domain:acme.com', status: 'matched', billed: true, freshMs: null };
    expect(recorded).toEqual([{ ...outcome, packed: expect.any(Buffer) }]);
    expect(unpackProfile(recorded[0]?.packed ?? Buffer.alloc(0)).toString()).toBe('{"name":"Acme"}');
  });

  it("is reported to its process as soon as it is recorded, with the store's date", async () => {
    const asking = createAsking({ answers: [MATCHED] });
    const reported: FetchedAnswer[] = [];
    const listener = {
      onAnswer(answer: FetchedAnswer) {
        expect(asking.log).toContain('recorded');
        reported.push(answer);
      },
    };
    await askFor({ ...asking, context: { ...asking.context, listener } });
    expect(reported).toMatchObject([
      { key: 'k:u:domain:acme.com', profile: { brand: { name: 'Acme' } }, fetchedAt: RECORDED_AT },
    ]);
  });

  it('of "not found" is recorded too', async () => {
    const { asked, recorded } = await askOnce({ answers: [NOT_FOUND] });
    expect(asked).toEqual({ result: { type: 'not_found' }, requests: 1, billed: 1 });
    expect(recorded).toMatchObject([{ status: 'not_found', packed: null, billed: true, freshMs: null }]);
  });

  it('that cost nothing (204) is recorded as not billed', async () => {
    const free = { ...NOT_FOUND, cost: 'free' } as const;
    const { asked, log, recorded } = await askOnce({ answers: [free] });
    expect(asked.billed).toBe(0);
    expect(recorded).toMatchObject([{ billed: false }]);
    expect(log.at(-2)).toBe('settle p1 free confirmed with its answer');
  });

  it('of "retry later" is fresh for two minutes', async () => {
    const later = answerOf({ type: 'not_found', status: 404, retryLater: true, evidence: 'own' });
    const { recorded } = await askOnce({ answers: [later] });
    expect(recorded).toMatchObject([{ status: 'not_found', freshMs: 120_000 }]);
  });

  it('that is a permanent failure fails at once', async () => {
    const { asked, log, recorded } = await askOnce({ answers: [FAILED] });
    const reason = { code: 'answer', text: 'the service answered 410' };
    expect(asked).toEqual({ result: { type: 'failed', reason, billed: true }, requests: 1, billed: 1 });
    // It was paid for: recorded first, so that a crash in between does not buy it again.
    expect(log.slice(-2)).toEqual(['keep failure: the service answered 410', 'settle p1 billed confirmed']);
    expect(recorded).toEqual([]);
  });

  it('about the credentials halts the run', async () => {
    const what = { reason: 'the token is revoked', status: 403 } as const;
    const { asked, log } = await askOnce({ answers: [answerOf({ type: 'credentials', ...what })] });
    const result = { type: 'halted', halt: { why: 'credentials', ...what } };
    expect(asked).toEqual({ result, requests: 1, billed: 0 });
    // A request that waits for the permit, in another process too, must see the halt first.
    expect(log.slice(-2)).toEqual(['halt run credentials', 'settle p1 free']);
  });
});

describe('a "not found" that any server may send', () => {
  const page = answerOf({ type: 'not_found', status: 404, retryLater: false, evidence: 'none' });
  const asking = (options: AskingOptions) => {
    const all = createAsking(options);
    let asked = 0;
    const next = (run = runRecord()) => {
      asked += 1;
      const value = `b${asked}.com`;
      return ask(all.context, run, `k:u:domain:${value}`, { kind: 'domain', value }, all.signals);
    };
    return { ...all, next };
  };

  it('with a page is not an answer: paid for, not stored, and the run is halted', async () => {
    const { next, log, recorded } = asking({ answers: [page] });
    expect(await next()).toMatchObject({ result: { type: 'failed', billed: true }, requests: 1, billed: 1 });
    expect(recorded).toEqual([]);
    // A request that waits for the permit must see the halt first.
    const kept = expect.stringMatching('keep failure');
    expect(log.slice(-3)).toEqual([kept, 'halt run useless', 'settle p1 billed']);
  });

  it('is the only refusal that is kept until the address is trusted', async () => {
    const gone = answerOf({ type: 'failed', reason: 'the service answered 410', evidence: 'object' });
    const { next, recorded } = asking({ answers: [gone, gone, MATCHED] });
    for (let count = 1; count <= 3; count += 1) await next();
    expect(recorded.map(({ key }) => key)).toEqual(['k:u:domain:b3.com']);
  });
});

it('a 200 that is not a brand halts the run at the twentieth in a row, and a good answer resets it', async () => {
  const reason = 'the answer is not a brand';
  const noBrand = answerOf({ type: 'failed', reason, evidence: 'own', isNoBrand: true });
  const row = (count: number) => Array<typeof noBrand>(count).fill(noBrand);
  const asking = createAsking({ answers: [...row(19), MATCHED, ...row(20)] });
  for (let count = 1; count <= 39; count += 1) await askFor(asking);
  expect(asking.log).not.toContain('halt run useless');
  await askFor(asking);
  expect(asking.log).toContain('halt run useless');
});

describe('an unusable answer that was or may have been billed', () => {
  it('is requested again once', async () => {
    const { asked, log } = await askOnce({ answers: [UNUSABLE, MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 2, billed: 2 });
    const settled = ['settle p1 maybe_billed', 'settle p2 billed confirmed with its answer'];
    expect(eventsOf({ log }, 'settle')).toEqual(settled);
  });

  it('fails the second time, and says what was paid', async () => {
    const { asked, log } = await askOnce({ answers: [UNUSABLE] });
    const reason = { code: 'answer', text: 'answer damaged, was billed (not a JSON object)' };
    expect(asked).toEqual({ result: { type: 'failed', reason, billed: true }, requests: 2, billed: 2 });
    expect(eventsOf({ log }, 'ask')).toHaveLength(2);
  });

  it('in an earlier job of this run too is known to the ledger: nothing is sent', async () => {
    const { asked, log } = await askOnce({ answers: [MATCHED], grants: [{ type: 'attempts_exhausted' }] });
    expect(asked).toMatchObject({ result: { type: 'failed', billed: true, isDeferred: true }, ...NOTHING });
    expect(log).toEqual(['take p1']);
  });

  it('is no evidence that the service is down', async () => {
    const asking = createAsking({ answers: [UNUSABLE] });
    for (let count = 0; count < 10; count += 1) await askFor(asking);
    expect(asking.context.breaker.isOpen).toBe(false);
  });
});

describe('a failing service', () => {
  it('is retried quickly, each time with a permit of its own', async () => {
    const { asked, log, clock } = await askOnce({ answers: [DOWN, DOWN, MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 3, billed: 1 });
    const paid = 'settle p3 billed confirmed with its answer';
    expect(eventsOf({ log }, 'settle')).toEqual(['settle p1 free', 'settle p2 free', paid]);
    expect(clock.slept).toHaveLength(2);
    expect(clock.slept[0]).toBeGreaterThanOrEqual(100);
    expect(clock.slept[1]).toBeGreaterThanOrEqual(500);
  });

  it('that stays down is retried by a later job, as an attempt', async () => {
    const { asked } = await askOnce({ answers: [DOWN] });
    const result = { type: 'again', retryInMs: 0, failedAttempt: 'the service answered 503' };
    expect(asked).toEqual({ result, requests: 3, billed: 0 });
  });

  it('with a Retry-After is not waited for within a job', async () => {
    const { asked, clock } = await askOnce({ answers: [unavailable({ retryAfterMs: 30_000 })] });
    const result = { type: 'again', retryInMs: 30_000, failedAttempt: 'the service answered 503' };
    expect(asked).toMatchObject({ result, requests: 1 });
    expect(clock.slept).toEqual([]);
  });

  it('opens the breaker for all requests: no attempt is lost', async () => {
    const asking = createAsking({ answers: [DOWN] });
    await openBreaker(asking);
    const before = asking.log.length;
    const asked = await askFor(asking);
    expect(asked).toMatchObject({ result: { type: 'again', failedAttempt: null }, requests: 0 });
    expect(asking.log).toHaveLength(before);
  });

  it('is reported to people while the breaker is open, and no longer', async () => {
    const asking = createAsking({ answers: [...Array(8).fill(DOWN), MATCHED] });
    const { breaker, gauge } = asking.context;
    await askFor(asking);
    expect(gauge.outage).toBeNull();
    await openBreaker(asking);
    expect(gauge.outage).toBe('the service answered 503');
    asking.clock.pass(60_000);
    await askFor(asking);
    expect([breaker.isOpen, gauge.outage]).toEqual([false, null]);
  });

  it.each([
    ['ends the run within seconds', null, 'halted'],
    ['is retried when this run has had answers from it', 'run', 'again'],
    ['is retried when this account has had answers from it', 'account', 'again'],
    ['is retried when it gave this worker a good answer for the run', 'worker', 'again'],
    ['is retried when this process had any answer from it', 'process', 'again'],
  ])('without a listener on its port %s', async (_what, known, type) => {
    const reason = 'nothing listens at 127.0.0.1:9';
    const state = known === 'account' ? ledgerState({ usage: 3 }) : null;
    const asking = createAsking({ answers: [unavailable({ reason, unsent: 'refused' })], state });
    const run = runRecord({}, { tally: { ...NO_TALLY, notFound: known === 'run' ? 1 : 0 } });
    if (known === 'process') asking.context.breaker.note(BEFORE, true, NOON - 1);
    if (known === 'worker') asking.context.addressTrust.of(run).isTrusted = true;
    const next = () => ask(asking.context, run, 'k:u:domain:acme.com', ACME, asking.signals);
    expect((await next()).result.type).toBe('again');
    asking.clock.pass(3_000);
    const halt = { why: 'unreachable', how: 'unanswered', reason };
    expect((await next()).result).toMatchObject(type === 'halted' ? { type, halt } : { type });
  });

  it.each([-72, -1])('is retried a second later though the clock is set by %i hours', async (hours) => {
    const asking = createAsking({ answers: [DOWN] });
    await openBreaker(asking);
    asking.clock.set(hours * 3_600_000);
    expect((await askFor(asking)).requests).toBe(0);
    asking.clock.pass(1_000);
    expect((await askFor(asking)).requests).toBe(1);
  });

  it.each([
    ['given up after half an hour: identifiers have failed, unpaid', false],
    ['waited for as long as it refuses', true],
  ])('is %s', async (_, isThere) => {
    const asking = createAsking({ answers: [DOWN] });
    await openBreaker(asking);
    for (let minutes = 0; minutes <= 30; minutes += 1) {
      asking.clock.pass(60_000);
      const now = asking.clock.monotonic();
      const admission = asking.context.breaker.enter(now);
      if (admission.type === 'pass') asking.context.breaker.note(admission, false, now, isThere);
    }
    const result = isThere
      ? { type: 'again', retryInMs: 10_000, failedAttempt: null }
      : { type: 'failed', reason: { code: 'unavailable' }, billed: false };
    expect(await askFor(asking)).toEqual({ result, ...NOTHING });
  });
});

describe('without a permit nothing is sent', () => {
  const reached = { name: 'quota', quota: 53, overage: 0 } as const;
  const again = (retryInMs: number): Asked['result'] => ({ type: 'again', retryInMs, failedAttempt: null });
  it.each<[Grant, Asked['result']]>([
    [{ type: 'lost' }, again(400)],
    [
      { type: 'exhausted', limit: reached },
      { type: 'halted', halt: { why: 'limit', reached } },
    ],
    [{ type: 'paused', retryInMs: 1_000 }, again(1_000)],
    [{ type: 'revoked', why: 'cancelled' }, { type: 'revoked' }],
    [{ type: 'revoked', why: 'dead' }, { type: 'revoked' }],
    [{ type: 'revoked', why: 'halted' }, { type: 'revoked' }],
  ])('%j', async (grant, result) => {
    const { asked, log } = await askOnce({ answers: [MATCHED], grants: [grant] });
    expect(asked).toEqual({ result, ...NOTHING });
    expect(log).toEqual(['take p1']);
  });

  it('and the permit is returned when the run was halted meanwhile', async () => {
    const halt = HALTS.credentials;
    const halts = new Map<string, RunHalt>();
    const grant = async (): Promise<Grant> => {
      halts.set('run', halt);
      return GRANTED;
    };
    const asking = createAsking({ answers: [MATCHED], grants: [grant] });
    const asked = await askFor({ ...asking, context: { ...asking.context, halts } });
    expect(asked).toEqual({ result: { type: 'halted', halt }, ...NOTHING });
    expect(asking.log).toEqual(['take p1', 'settle p1 free']);
  });

  it('no permit is requested when the run was halted while the identifier waited', async () => {
    const halt = HALTS.useless;
    const { asked, log } = await askOnce({ answers: [MATCHED], halts: { run: halt } });
    expect(asked).toEqual({ result: { type: 'halted', halt }, ...NOTHING });
    expect(log).toEqual([]);
  });

  it('the place of a probe is released', async () => {
    const asking = createAsking({ answers: [DOWN], grants: [GRANTED] });
    await openBreaker(asking);
    asking.clock.pass(60_000);
    const turned = createAsking({ answers: [MATCHED], grants: [{ type: 'lost' }], clock: asking.clock });
    const context = { ...turned.context, breaker: asking.context.breaker };
    await ask(context, runRecord(), 'k', ACME, turned.signals);
    expect(asking.context.breaker.enter(asking.clock.now())).toEqual({ type: 'pass', isProbe: true });
  });
});

it('the gauge counts requests in flight only', async () => {
  const seen: number[] = [];
  const record = async () => void seen.push(asking.context.gauge.inFlight);
  const answer = async () => record().then(() => MATCHED);
  const asking: Asking = createAsking({ answers: [answer], record });
  await askFor(asking);
  expect(seen).toEqual([1, 0]);
});

it.each([
  ['left on disk is in the file of its run', new LeftOnDisk('in the spool'), ['k:u:domain:acme.com']],
  ['lost is not in the file of its run', new Error('in the spool'), []],
])('an answer that is %s, and its permit is unsettled: it expires as sent', async (_title, error, keys) => {
  const asking = createAsking({ answers: [MATCHED], record: () => Promise.reject(error) });
  const reported: string[] = [];
  const onAnswer = ({ key }: FetchedAnswer) => void reported.push(key);
  const context = { ...asking.context, listener: { onAnswer, onChunk: () => undefined } };
  await expect(askFor({ ...asking, context })).rejects.toThrow('in the spool');
  expect(eventsOf(asking, 'settle')).toEqual([]);
  expect(reported).toEqual(keys);
});
