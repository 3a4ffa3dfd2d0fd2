/** One identifier from claim to durable outcome: the consequences of each kind of answer. */
import { describe, expect, it } from 'vitest';
import type { Grant } from '../../src/ledger/permit-waiters.js';
import { unpackProfile } from '../../src/stores/profile-codec.js';
import type { RunHalt } from '../../src/stores/run-store.js';
import { ask } from '../../src/worker/ask.js';
import type { Asked } from '../../src/worker/asked.js';
import { LeftOnDisk } from '../../src/worker/recorder.js';
import type { FetchedAnswer } from '../../src/worker/worker-listener.js';
import { ledgerState } from '../run/ledger-state.js';
import { createMemoryKeyValues } from '../support/memory-key-values.js';
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
  FAILED,
  MATCHED,
  NOON,
  NOT_FOUND,
  RECORDED_AT,
  runRecord,
  WASTED,
} from './asking.js';

const UNSENT = { isUnsent: true } as const;

/** Asks until the breaker is open. */
async function openBreaker(asking: Asking): Promise<void> {
  for (let count = 0; count < 10 && !asking.context.breaker.isOpen; count += 1) await askFor(asking);
  expect(asking.context.breaker.isOpen).toBe(true);
}

describe('an answer', () => {
  it('with a brand is recorded first and settled afterwards: a crash in between counts as sent', async () => {
    const { asked, log, recorded } = await askOnce({ answers: [MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 1, billed: 1 });
    expect(log).toEqual([
      'take p1',
      'ask acme.com',
      'answer matched',
      'record',
      'recorded',
      'settle p1 billed heard',
    ]);
    expect(recorded).toEqual([
      {
        key: 'k:u:domain:acme.com',
        status: 'matched',
        packed: expect.any(Buffer),
        billed: true,
        freshMs: null,
      },
    ]);
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

  it('that there is no such brand is recorded too', async () => {
    const { asked, recorded } = await askOnce({ answers: [NOT_FOUND] });
    expect(asked).toEqual({ result: { type: 'not_found' }, requests: 1, billed: 1 });
    expect(recorded).toMatchObject([{ status: 'not_found', packed: null, billed: true, freshMs: null }]);
  });

  it('that cost nothing (204) is recorded as not billed', async () => {
    const free = { ...NOT_FOUND, cost: 'free' } as const;
    const { asked, log, recorded } = await askOnce({ answers: [free] });
    expect(asked.billed).toBe(0);
    expect(recorded).toMatchObject([{ billed: false }]);
    expect(log.at(-1)).toBe('settle p1 free heard');
  });

  it('to retry later is believed for two minutes', async () => {
    const { recorded } = await askOnce({
      answers: [answerOf({ type: 'not_found', status: 404, retryLater: true, sign: 'own' })],
    });
    expect(recorded).toMatchObject([{ status: 'not_found', freshMs: 120_000 }]);
  });

  it('that is a permanent failure fails at once', async () => {
    const { asked, log, recorded } = await askOnce({ answers: [FAILED] });
    expect(asked).toEqual({
      result: { type: 'failed', reason: 'the service answered 410', billed: true },
      requests: 1,
      billed: 1,
    });
    // It was paid for: recorded first, so that a crash in between does not buy it again.
    expect(log.slice(-2)).toEqual(['keep failure: the service answered 410', 'settle p1 billed heard']);
    expect(recorded).toEqual([]);
  });

  it('about the credentials halts the run', async () => {
    const refused = answerOf({ type: 'credentials', status: 403, reason: 'the token is revoked' });
    const { asked, log } = await askOnce({ answers: [refused] });
    expect(asked).toEqual({
      result: { type: 'halted', halt: { why: 'credentials', sentence: 'the token is revoked (status 403)' } },
      requests: 1,
      billed: 0,
    });
    // A request that waits for the permit, in another process too, must see the halt first.
    expect(log.slice(-2)).toEqual(['halt run credentials', 'settle p1 free']);
  });
});

describe('a "not found" that any server may send', () => {
  const page = answerOf({ type: 'not_found', status: 404, retryLater: false, sign: 'none' });
  const object = answerOf({ type: 'not_found', status: 404, retryLater: false, sign: 'object' });
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

  it('with a page is no answer: paid for, not stored, and the run is halted', async () => {
    const { next, log, recorded } = asking({ answers: [page] });
    expect(await next()).toMatchObject({ result: { type: 'failed', billed: true }, requests: 1, billed: 1 });
    expect(recorded).toEqual([]);
    // A request that waits for the permit must see the halt first.
    expect(log.slice(-3)).toEqual([
      expect.stringMatching('keep failure'),
      'halt run useless',
      'settle p1 billed',
    ]);
  });

  it('with a page is no answer though unknown identifiers are expected', async () => {
    const { next, log } = asking({ answers: [page] });
    await next(runRecord({ allowUnknown: true }));
    expect(log).toContain('halt run useless');
  });

  it('with an object is not believed, and the fifth one halts the run', async () => {
    const { next, log, recorded } = asking({ answers: [object] });
    for (let count = 1; count <= 4; count += 1) {
      expect(await next()).toMatchObject({ result: { type: 'failed', billed: true } });
    }
    expect(log).not.toContain('halt run useless');
    await next();
    expect(log).toContain('halt run useless');
    expect(log.filter((line) => line.endsWith(' heard'))).toEqual([]);
    expect(recorded).toEqual([]);
  });

  it.each([
    ['a brand', MATCHED],
    ['a "not found" of its own', NOT_FOUND],
  ])('with an object is believed, and kept, once the address has given %s', async (_what, good) => {
    const { next, recorded } = asking({ answers: [object, object, good, object, page] });
    for (let count = 1; count <= 5; count += 1) await next();
    expect(recorded.map(({ key }) => key).sort()).toEqual(
      [1, 2, 3, 4, 5].map((count) => `k:u:domain:b${count}.com`),
    );
  });

  it('with an object is believed at once where unknown identifiers are expected, and proves nothing', async () => {
    const keyValues = createMemoryKeyValues(Date.now);
    const { next, recorded } = asking({ answers: [object], keyValues });
    for (let count = 1; count <= 7; count += 1) {
      expect((await next(runRecord({ allowUnknown: true }))).result.type).toBe('not_found');
    }
    expect(recorded).toHaveLength(7);
    const later = asking({ answers: [object], keyValues });
    expect((await later.next()).result.type).toBe('failed');
  });

  it('is believed of an address that gave a good answer to another worker', async () => {
    const keyValues = createMemoryKeyValues(Date.now);
    await asking({ answers: [MATCHED], keyValues }).next();
    const { next, recorded } = asking({ answers: [page], keyValues });
    expect((await next()).result.type).toBe('not_found');
    expect(recorded).toHaveLength(1);
  });
});

describe('a refusal that any server may send', () => {
  const gone = answerOf({ type: 'failed', reason: 'the service answered 410 (x)', sign: 'object' });
  const moved = answerOf({
    type: 'failed',
    reason: 'the service answered 301 (a redirect to https://right.example, not followed)',
    sign: 'none',
  });
  const noHttp = answerOf({ type: 'wasted', reason: 'that port does not speak HTTP', sign: 'none' });
  const empty = answerOf({
    type: 'failed',
    reason: 'the answer is no brand',
    sign: 'object',
    isNoBrand: true,
  });
  const asking = (answers: AskingOptions['answers'], run = runRecord()) => {
    const all = createAsking({ answers });
    const halted: RunHalt[] = [];
    const halt = async (_run: string, why: RunHalt) => {
      halted.push(why);
    };
    let asked = 0;
    const next = () => {
      asked += 1;
      const value = `b${asked}.com`;
      const context = { ...all.context, halt };
      return ask(context, run, `k:u:domain:${value}`, { kind: 'domain', value }, all.signals);
    };
    return { ...all, next, halted };
  };

  it.each([
    ['a refusal', gone],
    ['a 200 that is no brand', empty],
  ])('in JSON: %s halts the run when it is the fifth, and none counts as useful', async (_what, answer) => {
    const { next, halted, log } = asking([answer]);
    for (let count = 1; count <= 4; count += 1) {
      expect(await next()).toMatchObject({ result: { type: 'failed', billed: true } });
    }
    expect(halted).toEqual([]);
    await next();
    expect(halted).toMatchObject([{ why: 'useless', sentence: expect.stringContaining('address right?') }]);
    expect(log.filter((line) => line.endsWith(' heard'))).toEqual([]);
  });

  it.each([
    ['a redirect, with the place that it names', moved, 'https://right.example'],
    ['something that is no web server', noHttp, 'that port does not speak HTTP'],
  ])('halts the run at the first: %s', async (_what, answer, words) => {
    const { next, halted, log } = asking([answer]);
    expect(await next()).toMatchObject({ result: { type: 'failed', billed: true }, requests: 1 });
    expect(halted).toMatchObject([{ why: 'useless', sentence: expect.stringContaining(words) }]);
    expect(log.at(-1)).toMatch(/^settle p1 (billed|doubtful)$/);
  });

  it.each([
    ['a refusal', gone, 1],
    ['a redirect', moved, 1],
    ['something that is no web server, for a moment', noHttp, 2],
  ])('is believed once the address has given a good answer: %s', async (_what, answer, requests) => {
    const { next, halted } = asking([MATCHED, answer]);
    await next();
    for (let count = 1; count <= 8; count += 1)
      expect(await next()).toMatchObject({ result: { type: 'failed' }, requests });
    expect(halted).toEqual([]);
  });

  it('is believed where unknown identifiers are expected, unless it is a redirect', async () => {
    const insisted = runRecord({ allowUnknown: true });
    const one = asking([gone], insisted);
    for (let count = 1; count <= 8; count += 1) await one.next();
    expect(one.halted).toEqual([]);
    const other = asking([moved], insisted);
    await other.next();
    expect(other.halted).toHaveLength(1);
  });

  it('is never kept to be believed later', async () => {
    const { next, recorded } = asking([gone, gone, MATCHED]);
    for (let count = 1; count <= 3; count += 1) await next();
    expect(recorded.map(({ key }) => key)).toEqual(['k:u:domain:b3.com']);
  });
});

describe('a 200 that is no brand', () => {
  const noBrand = answerOf({
    type: 'failed',
    reason: 'the answer is no brand',
    sign: 'own',
    isNoBrand: true,
  });

  it('fails, billed, and is not repeated', async () => {
    const { asked, log } = await askOnce({ answers: [noBrand] });
    expect(asked).toMatchObject({ result: { type: 'failed', billed: true }, requests: 1, billed: 1 });
    expect(log).toContain('keep failure: the answer is no brand');
  });

  it('twenty times in a row halts the run, and a good answer resets the count', async () => {
    const row = (count: number) => Array<typeof noBrand>(count).fill(noBrand);
    const asking = createAsking({ answers: [...row(19), MATCHED, ...row(20)] });
    for (let count = 1; count <= 39; count += 1) await askFor(asking);
    expect(asking.log).not.toContain('halt run useless');
    await askFor(asking);
    expect(asking.log).toContain('halt run useless');
  });
});

describe('a useless answer that was or may have been billed', () => {
  it('is requested again once', async () => {
    const { asked, log } = await askOnce({ answers: [WASTED, MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 2, billed: 2 });
    expect(log.filter((line) => line.startsWith('settle'))).toEqual([
      'settle p1 doubtful',
      'settle p2 billed heard',
    ]);
  });

  it('twice fails, and says what was paid', async () => {
    const { asked, log } = await askOnce({ answers: [WASTED] });
    expect(asked).toEqual({
      result: { type: 'failed', reason: 'answer damaged, was billed (not a JSON object)', billed: true },
      requests: 2,
      billed: 2,
    });
    expect(log.filter((line) => line.startsWith('ask'))).toHaveLength(2);
  });

  it('in an earlier job of this run too is known to the ledger: nothing is sent', async () => {
    const { asked, log } = await askOnce({ answers: [MATCHED], grants: [{ type: 'spent' }] });
    expect(asked).toMatchObject({
      result: { type: 'failed', billed: true, isDeferred: true },
      requests: 0,
      billed: 0,
    });
    expect(log).toEqual(['take p1']);
  });

  it('is no evidence that the service is down', async () => {
    const asking = createAsking({ answers: [WASTED] });
    for (let count = 0; count < 10; count += 1) await askFor(asking);
    expect(asking.context.breaker.isOpen).toBe(false);
  });
});

describe('a failing service', () => {
  it('is retried quickly, each time with a permit of its own', async () => {
    const { asked, log, clock } = await askOnce({ answers: [DOWN, DOWN, MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 3, billed: 1 });
    expect(log.filter((line) => line.startsWith('settle'))).toEqual([
      'settle p1 free',
      'settle p2 free',
      'settle p3 billed heard',
    ]);
    expect(clock.slept).toHaveLength(2);
    expect(clock.slept[0]).toBeGreaterThanOrEqual(100);
    expect(clock.slept[1]).toBeGreaterThanOrEqual(500);
  });

  it('that stays down is retried by a later job, as an attempt', async () => {
    const { asked } = await askOnce({ answers: [DOWN] });
    expect(asked).toEqual({
      result: { type: 'again', countsAsAttempt: true, retryInMs: 0, reason: 'the service answered 503' },
      requests: 3,
      billed: 0,
    });
  });

  it('with a Retry-After is not waited for within a job', async () => {
    const busy = answerOf({ type: 'unavailable', reason: 'the service answered 503', retryAfterMs: 30_000 });
    const { asked, clock } = await askOnce({ answers: [busy] });
    expect(asked).toMatchObject({
      result: { type: 'again', countsAsAttempt: true, retryInMs: 30_000 },
      requests: 1,
    });
    expect(clock.slept).toEqual([]);
  });

  it('opens the breaker for all requests: no attempt is lost', async () => {
    const asking = createAsking({ answers: [DOWN] });
    await openBreaker(asking);
    const before = asking.log.length;
    const asked = await askFor(asking);
    expect(asked).toMatchObject({
      result: { type: 'again', countsAsAttempt: false, reason: 'the service is unavailable' },
      requests: 0,
    });
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
    ['that was never reached ends the run after a minute: its address is wrong', UNSENT, false, 'halted'],
    ['that was reached before is retried', UNSENT, true, 'again'],
    ['that is reached but does not answer is retried', {}, false, 'again'],
  ])('%s', async (_what, unsent, wasGood, type) => {
    const unreached = answerOf({ type: 'unavailable', reason: 'ENOTFOUND', retryAfterMs: null, ...unsent });
    const asking = createAsking({ answers: [unreached] });
    if (wasGood) asking.context.breaker.note(BEFORE, true, NOON - 1);
    await askFor(asking);
    asking.clock.pass(60_001);
    const { result } = await askFor(asking);
    expect(result.type).toBe(type);
    if (type === 'halted')
      expect(result).toEqual({
        type,
        halt: { why: 'unreachable', sentence: 'the service was unreachable for a minute: ENOTFOUND' },
      });
  });

  it.each([
    ['ends the run within seconds', {}, 'halted'],
    ['is retried when this run has had answers from it', { run: true }, 'again'],
    ['is retried when this account has had answers from it', { account: true }, 'again'],
    ['is retried when it gave a good answer to another run', { address: true }, 'again'],
  ])(
    'on whose port nothing listens %s',
    async (_what, known: { run?: boolean; account?: boolean; address?: boolean }, type) => {
      const reason = 'nothing listens at 127.0.0.1:9';
      const asking = createAsking({
        answers: [
          answerOf({ type: 'unavailable', reason, retryAfterMs: null, isUnsent: true, isRefused: true }),
        ],
        state: known.account ? ledgerState({ usage: 3 }) : null,
      });
      if (known.address) await asking.context.standing.prove();
      const notFound = known.run ? 1 : 0;
      const tally = { matched: 0, notFound, failed: 0, stored: 0, requests: 0, billed: 0 };
      const run = runRecord({}, { tally });
      const next = () => ask(asking.context, run, 'k:u:domain:acme.com', ACME, asking.signals);
      expect((await next()).result.type).toBe('again');
      asking.clock.pass(3_000);
      const { result } = await next();
      expect(result.type).toBe(type);
      if (type === 'halted')
        expect(result).toMatchObject({
          halt: { why: 'unreachable', sentence: expect.stringContaining(reason) },
        });
    },
  );

  it.each([
    ['with a misspelt host or a certificate that is not trusted ends the run within seconds', {}, 'halted'],
    ['is retried when this run has had answers from it', { run: true }, 'again'],
    ['is retried when this account has had answers from it', { account: true }, 'again'],
    [
      'behind a proxy that refuses ends the run too, although earlier runs had answers',
      { account: true, isBarred: true },
      'halted',
    ],
    ['behind such a proxy is retried when this run has had answers', { run: true, isBarred: true }, 'again'],
  ])('%s', async (_what, known: { run?: boolean; account?: boolean; isBarred?: boolean }, type) => {
    const asking = createAsking({
      answers: [
        answerOf({
          type: 'unavailable',
          reason: 'the host api.exmaple.com does not exist',
          retryAfterMs: null,
          isUnsent: true,
          isLasting: true,
          ...(known.isBarred ? { isBarred: true } : {}),
        }),
      ],
      state: known.account ? ledgerState({ usage: 3 }) : null,
    });
    const tally = { matched: 0, notFound: known.run ? 1 : 0, failed: 0, stored: 0, requests: 0, billed: 0 };
    const run = runRecord({}, { tally });
    const { result } = await ask(asking.context, run, 'k:u:domain:acme.com', ACME, asking.signals);
    expect(result.type).toBe(type);
    expect(asking.clock.now() - NOON).toBeLessThan(3_000);
    if (type === 'halted')
      expect(result).toMatchObject({
        halt: {
          why: 'unreachable',
          sentence: 'the service cannot be reached: the host api.exmaple.com does not exist',
        },
      });
  });

  it.each([
    ['that gives only useless paid answers ends the run after twenty of them', 20],
    ['that never gave a good answer ends it after five', 5],
  ])('%s', async (_what, atMost) => {
    const halted: RunHalt[] = [];
    const asking = createAsking({ answers: [WASTED] });
    if (atMost > 5) await asking.context.standing.prove();
    const halt = async (_run: string, why: RunHalt) => {
      halted.push(why);
    };
    let billed = 0;
    while (halted.length === 0) {
      const asked = await askFor({ ...asking, context: { ...asking.context, halt } });
      billed += asked.billed;
      expect(['failed', 'halted']).toContain(asked.result.type);
      if (asked.result.type === 'halted') halted.push(asked.result.halt);
    }
    expect(halted).toEqual([
      {
        why: 'useless',
        sentence: `${atMost} answers in a row were unusable: answer damaged, was billed (not a JSON object)`,
      },
    ]);
    expect(billed).toBe(atMost);
  });

  it.each([-3 * 86_400_000, -3_600_000])(
    'is retried a second later though the clock is set by %i ms',
    async (setMs) => {
      const asking = createAsking({ answers: [DOWN] });
      await openBreaker(asking);
      asking.clock.set(setMs);
      expect((await askFor(asking)).requests).toBe(0);
      asking.clock.pass(1_000);
      expect((await askFor(asking)).requests).toBe(1);
    },
  );

  it('is given up after half an hour: identifiers have failed, unpaid', async () => {
    const asking = createAsking({ answers: [DOWN] });
    await openBreaker(asking);
    for (let minutes = 0; minutes <= 30; minutes += 1) {
      asking.clock.pass(60_000);
      const admission = asking.context.breaker.enter(asking.clock.monotonic());
      if (admission.type === 'pass') asking.context.breaker.note(admission, false, asking.clock.monotonic());
    }
    expect(await askFor(asking)).toEqual({
      result: { type: 'failed', reason: 'the service gave no good answer for 30 minutes', billed: false },
      requests: 0,
      billed: 0,
    });
  });
});

describe('without a permit nothing is sent', () => {
  it.each<[Grant, Asked['result']]>([
    [
      { type: 'lost' },
      { type: 'again', countsAsAttempt: false, retryInMs: 400, reason: 'another worker is looking it up' },
    ],
    [
      { type: 'exhausted', why: 'limit 53' },
      { type: 'halted', halt: { why: 'limit', sentence: 'limit 53' } },
    ],
    [
      { type: 'paused', why: 'paused', retryInMs: 1_000 },
      { type: 'again', countsAsAttempt: false, retryInMs: 1_000, reason: 'paused' },
    ],
    [{ type: 'revoked', why: 'cancelled' }, { type: 'revoked' }],
    [{ type: 'revoked', why: 'dead' }, { type: 'revoked' }],
    [{ type: 'revoked', why: 'halted' }, { type: 'revoked' }],
  ])('%j', async (grant, result) => {
    const { asked, log } = await askOnce({ answers: [MATCHED], grants: [grant] });
    expect(asked).toEqual({ result, requests: 0, billed: 0 });
    expect(log).toEqual(['take p1']);
  });

  it('nor with one, when the run was halted meanwhile: the permit is returned', async () => {
    const halt = { why: 'credentials', sentence: 'the token is revoked' } as const;
    const halts = new Map<string, RunHalt>();
    const grant = async (): Promise<Grant> => {
      halts.set('run', halt);
      return { type: 'granted', permit: '' };
    };
    const asking = createAsking({ answers: [MATCHED], grants: [grant] });
    const asked = await askFor({ ...asking, context: { ...asking.context, halts } });
    expect(asked).toEqual({ result: { type: 'halted', halt }, requests: 0, billed: 0 });
    expect(asking.log).toEqual(['take p1', 'settle p1 free']);
  });

  it('no permit is requested when the run was halted while the identifier waited', async () => {
    const halt = { why: 'useless', sentence: 'is the address right?' } as const;
    const { asked, log } = await askOnce({ answers: [MATCHED], halts: { run: halt } });
    expect(asked).toEqual({ result: { type: 'halted', halt }, requests: 0, billed: 0 });
    expect(log).toEqual([]);
  });

  it('the place of a probe is released', async () => {
    const asking = createAsking({ answers: [DOWN], grants: [{ type: 'granted', permit: '' }] });
    await openBreaker(asking);
    asking.clock.pass(60_000);
    const turned = createAsking({ answers: [MATCHED], grants: [{ type: 'lost' }], clock: asking.clock });
    const context = { ...turned.context, breaker: asking.context.breaker };
    await ask(context, runRecord(), 'k', ACME, turned.signals);
    expect(asking.context.breaker.enter(asking.clock.now())).toEqual({ type: 'pass', isProbe: true });
  });
});

it('requests in flight are counted, and nothing else', async () => {
  const seen: number[] = [];
  const asking: Asking = createAsking({
    answers: [
      async () => {
        seen.push(asking.context.gauge.inFlight);
        return MATCHED;
      },
    ],
    record: async () => {
      seen.push(asking.context.gauge.inFlight);
    },
  });
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
  expect(asking.log.filter((line) => line.startsWith('settle'))).toEqual([]);
  expect(reported).toEqual(keys);
});
