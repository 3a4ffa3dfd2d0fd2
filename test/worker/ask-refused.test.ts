/** 429: too many at once costs no attempt and ends with patience, a spent quota ends the run. */
import { describe, expect, it } from 'vitest';
import type { LedgerState } from '../../src/ledger/ledger.js';
import type { Answer } from '../../src/lookup/read-answer.js';
import { type Asked, ask } from '../../src/worker/ask.js';
import {
  type Asking,
  type AskingOptions,
  answerOf,
  BEFORE,
  createAsking,
  DOWN,
  MATCHED,
  NOON,
  runRecord,
  SPENT_QUOTA,
  TOO_FAST,
} from './asking.js';

const ACME = { kind: 'domain', value: 'acme.com' } as const;

function askFor(asking: Asking): Promise<Asked> {
  return ask(asking.context, runRecord(), 'k:u:domain:acme.com', ACME, asking.signals);
}

async function askOnce(options: AskingOptions): Promise<Asking & { asked: Asked }> {
  const asking = createAsking(options);
  return { ...asking, asked: await askFor(asking) };
}

describe('a refusal as too many', () => {
  it('costs no attempt: it is asked again as soon as the governor grants it', async () => {
    const { asked, log, clock } = await askOnce({
      answers: [TOO_FAST, TOO_FAST, TOO_FAST, TOO_FAST, MATCHED],
    });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 5, billed: 1 });
    expect(log.filter((line) => line.startsWith('refuse'))).toEqual([
      'refuse p1 throughput null',
      'refuse p2 throughput null',
      'refuse p3 throughput null',
      'refuse p4 throughput null',
    ]);
    expect(clock.slept).toEqual([]);
  });

  it('hands on how long the service wants to be left alone', async () => {
    const slow = answerOf({ type: 'refused', code: 'throughput', retryAfterMs: 7_000 });
    const { log } = await askOnce({ answers: [slow, MATCHED] });
    expect(log).toContain('refuse p1 throughput 7000');
  });

  it('gives back the quick tries of an identifier', async () => {
    const { asked } = await askOnce({ answers: [DOWN, DOWN, TOO_FAST, DOWN, DOWN, MATCHED] });
    expect(asked).toMatchObject({ result: { type: 'matched' }, requests: 6 });
  });

  it.each<[string, Answer, number]>([
    ['without any hint: after 45 s', answerOf({ type: 'refused', code: null, retryAfterMs: null }), 45_001],
    ['with a code: after 6 minutes', TOO_FAST, 360_001],
    [
      'with Retry-After: after 6 minutes',
      answerOf({ type: 'refused', code: null, retryAfterMs: 1 }),
      360_001,
    ],
    ['with a usage header: after 6 minutes', { ...TOO_FAST, usage: 3, quota: 100 }, 360_001],
  ])('of every request halts the run, %s', async (_when, refusal, afterMs) => {
    const asking = createAsking({ answers: [refusal] });
    const { breaker } = asking.context;
    breaker.note(BEFORE, false, NOON);
    asking.clock.pass(afterMs - 2);
    const early = await askFor(asking);
    expect(early.result.type).toBe('again');
    asking.clock.pass(20_000);
    expect(await askFor(asking)).toMatchObject({ result: { type: 'halted', halt: { why: 'throttled' } } });
  });
});

describe('a refusal of the one request that is sent while nothing is answered', () => {
  const openBreaker = (asking: ReturnType<typeof createAsking>) => {
    for (let times = 0; times < 8; times += 1) asking.context.breaker.note(BEFORE, false, NOON);
    asking.clock.pass(1_001);
  };

  it('does not lower the pace any further', async () => {
    const asking = createAsking({ answers: [TOO_FAST] });
    openBreaker(asking);
    await askFor(asking);
    expect(asking.log.filter((line) => line.startsWith('refuse'))).toEqual([]);
  });

  it('keeps those who waited for their permits meanwhile from asking', async () => {
    const asking = createAsking({
      answers: [MATCHED],
      grants: [
        async () => {
          for (let times = 0; times < 8; times += 1) asking.context.breaker.note(BEFORE, false, NOON);
          return { type: 'granted', permit: '' };
        },
      ],
    });
    expect((await askFor(asking)).result.type).toBe('again');
    expect(asking.log).toEqual(['take p1', 'settle p1 free']);
  });

  it('is heeded where it says when to come back', async () => {
    const asking = createAsking({
      answers: [answerOf({ type: 'refused', code: null, retryAfterMs: 5_000 })],
    });
    openBreaker(asking);
    await askFor(asking);
    expect(asking.log).toContain('refuse p1 throughput 5000');
  });
});

describe('refusals at a usage that stands over the quota', () => {
  const BEYOND = answerOf({ type: 'refused', code: null, retryAfterMs: null }, { usage: 52, quota: 50 });
  /** Budget and plan allow 30 more than the quota. */
  const paid = {
    quota: 50,
    quotaCap: null,
    overage: 30,
    sent: 52,
    others: 0,
    pace: { rate: 45 },
  } as LedgerState;

  async function probe(asking: Asking): Promise<Asked> {
    const asked = await askFor(asking);
    asking.clock.pass(10_000);
    return asked;
  }

  it('end the run, with budget and plan named, once they go on at a request a second or less', async () => {
    const asking = createAsking({ answers: [BEYOND], state: paid });
    for (let times = 0; times < 8; times += 1) asking.context.breaker.note(BEFORE, false, NOON);
    asking.clock.pass(1_001);
    for (let times = 0; times < 4; times += 1) expect((await probe(asking)).result.type).toBe('again');
    expect((await probe(asking)).result).toEqual({
      type: 'halted',
      halt: {
        why: 'limit',
        sentence:
          'the service refuses every request at a usage of 52 and a quota of 50: --plan or --overage-budget is higher than in the account',
      },
    });
    // It may be the pace after all: the account stays open for others.
    expect(asking.log.filter((line) => line.includes('quota'))).toEqual([]);
  });

  it('end it at a pace that is down to one a second too, without a lone request', async () => {
    const state = { ...paid, pace: { rate: 1 } } as LedgerState;
    const asking = createAsking({
      answers: Array(5).fill(BEYOND),
      state,
      grants: Array(5).fill(afterASecond()),
    });
    expect((await askFor(asking)).result).toMatchObject({ type: 'halted', halt: { why: 'limit' } });
    expect(asking.log.filter((line) => line.startsWith('ask'))).toHaveLength(5);

    function afterASecond() {
      return async () => {
        asking.clock.pass(1_300);
        return { type: 'granted', permit: '' } as const;
      };
    }
  });
});

describe('a refusal for quota', () => {
  it('closes the account; what the ledger says then ends the run', async () => {
    const { asked, log } = await askOnce({
      answers: [SPENT_QUOTA],
      grants: [
        { type: 'granted', permit: '' },
        { type: 'exhausted', why: 'the quota is used up' },
      ],
    });
    expect(asked).toEqual({
      result: { type: 'halted', halt: { why: 'limit', sentence: 'the quota is used up' } },
      requests: 1,
      billed: 0,
    });
    expect(log).toContain('refuse p1 quota null');
  });

  it('is told by the usage header where the service names no code', async () => {
    const { log } = await askOnce({
      answers: [answerOf({ type: 'refused', code: null, retryAfterMs: null }, { quota: 100, usage: 100 })],
      grants: [
        { type: 'granted', permit: '' },
        { type: 'exhausted', why: 'the quota is used up' },
      ],
    });
    expect(log).toContain('refuse p1 quota null');
  });

  it('is no reason to believe that the service is down', async () => {
    const asking = createAsking({
      answers: [SPENT_QUOTA],
      grants: [...Array(30).fill({ type: 'granted', permit: '' }), { type: 'exhausted', why: 'spent' }],
    });
    await askFor(asking);
    expect(asking.context.breaker.isOpen).toBe(false);
  });
});

/** Only what is looked at after a refusal. */
const state = {
  quota: 50,
  quotaCap: null,
  overage: 0,
  sent: 50,
  others: 0,
  pace: { rate: null },
} as LedgerState;

it('our own count tells a refusal for quota where the headers lag or are missing', async () => {
  const { log } = await askOnce({
    answers: [answerOf({ type: 'refused', code: null, retryAfterMs: null })],
    grants: [
      { type: 'granted', permit: '' },
      { type: 'exhausted', why: 'spent' },
    ],
    state,
  });
  expect(log).toContain('refuse p1 quota null');
});
