/** 429: a throughput refusal costs no attempt, and a spent quota ends the run. */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/brand-api/read-answer.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import type { Asked } from '../../src/worker/asked.js';
import { HALTS, USED_UP } from '../support/halts.js';
import {
  type Asking,
  askFor,
  askOnce,
  BEFORE,
  createAsking,
  DOWN,
  eventsOf,
  GRANTED,
  MATCHED,
  NOON,
  openBreaker,
  refused,
  SPENT_QUOTA,
  TOO_FAST,
} from './asking.js';

/** Only what is checked after a refusal. */
const STATE = {
  ...{ quota: 50, quotaCap: null, overage: 0, sent: 50, others: 0 },
  pace: { rate: null },
} as LedgerState;

describe('a throughput refusal', () => {
  it('costs no attempt: the identifier is asked for again as soon as the governor grants it', async () => {
    const { asked, log, clock } = await askOnce({ answers: [...Array(4).fill(TOO_FAST), MATCHED] });
    expect(asked).toEqual({ result: { type: 'matched' }, requests: 5, billed: 1 });
    expect(eventsOf({ log }, 'refuse')).toEqual([1, 2, 3, 4].map((at) => `refuse p${at} throughput null`));
    expect(clock.slept).toEqual([]);
  });

  it('passes on the wait that the service asks for', async () => {
    const { log } = await askOnce({ answers: [refused('throughput', 7_000), MATCHED] });
    expect(log).toContain('refuse p1 throughput 7000');
  });

  it('restores the quick retries of an identifier', async () => {
    const { asked } = await askOnce({ answers: [DOWN, DOWN, TOO_FAST, DOWN, DOWN, MATCHED] });
    expect(asked).toMatchObject({ result: { type: 'matched' }, requests: 6 });
  });

  it('of every request halts the run after 6 minutes', async () => {
    const asking = createAsking({ answers: [TOO_FAST] });
    asking.context.breaker.note(BEFORE, false, NOON);
    asking.clock.pass(359_999);
    expect((await askFor(asking)).result.type).toBe('again');
    asking.clock.pass(20_000);
    expect(await askFor(asking)).toMatchObject({ result: { type: 'halted', halt: { why: 'throttled' } } });
  });
});

describe('a refused probe of an open breaker', () => {
  const untilProbe = (asking: Asking) => {
    openBreaker(asking);
    asking.clock.pass(1_001);
  };

  it('does not lower the pace any further', async () => {
    const asking = createAsking({ answers: [TOO_FAST] });
    untilProbe(asking);
    await askFor(asking);
    expect(eventsOf(asking, 'refuse')).toEqual([]);
  });

  it('sends back waiting requests that got their permits meanwhile', async () => {
    const grant = async () => {
      openBreaker(asking);
      return GRANTED;
    };
    const asking: Asking = createAsking({ answers: [MATCHED], grants: [grant] });
    expect((await askFor(asking)).result.type).toBe('again');
    expect(asking.log).toEqual(['take p1', 'settle p1 free']);
  });

  it('respects Retry-After', async () => {
    const asking = createAsking({ answers: [refused(null, 5_000)] });
    untilProbe(asking);
    await askFor(asking);
    expect(asking.log).toContain('refuse p1 throughput 5000');
  });
});

describe('refusals while usage is beyond the quota', () => {
  const BEYOND = refused(null, null, { usage: 52, quota: 50 });
  /** Budget and plan allow 30 more than the quota. */
  const paid = { ...STATE, overage: 30, sent: 52, pace: { rate: 45 } } as LedgerState;

  async function probe(asking: Asking): Promise<Asked> {
    const asked = await askFor(asking);
    asking.clock.pass(10_000);
    return asked;
  }

  it('end the run, with budget and plan named, once they continue at one request a second or less', async () => {
    const asking = createAsking({ answers: [BEYOND], state: paid });
    openBreaker(asking);
    asking.clock.pass(1_001);
    for (let times = 0; times < 4; times += 1) expect((await probe(asking)).result.type).toBe('again');
    const halt = { why: 'limit', reached: { name: 'overstated', usage: 52, quota: 50 } };
    expect((await probe(asking)).result).toEqual({ type: 'halted', halt });
    // The cause may be the pace after all: the account stays open for others.
    expect(asking.log.filter((line) => line.includes('quota'))).toEqual([]);
  });

  it('end it at a pace that is down to one a second too, without a probe', async () => {
    const state = { ...paid, pace: { rate: 1 } } as LedgerState;
    const afterASecond = async () => {
      asking.clock.pass(1_300);
      return GRANTED;
    };
    const asking: Asking = createAsking({ answers: [BEYOND], state, grants: [afterASecond] });
    expect((await askFor(asking)).result).toMatchObject({ type: 'halted', halt: { why: 'limit' } });
    expect(eventsOf(asking, 'ask')).toHaveLength(5);
  });
});

describe('a refusal for quota', () => {
  const exhausted = { type: 'exhausted', limit: USED_UP } as const;

  it.each<[string, Answer, LedgerState | null]>([
    ['by its code', SPENT_QUOTA, null],
    ['by the usage header without a code', refused(null, null, { quota: 100, usage: 100 }), null],
    ['by our own count, where the headers lag or are missing', refused(null), STATE],
  ])('is known %s: it closes the account, whose state ends the run', async (_, answer, state) => {
    const { asked, log } = await askOnce({ answers: [answer], grants: [GRANTED, exhausted], state });
    expect(asked).toEqual({ result: { type: 'halted', halt: HALTS.limit }, requests: 1, billed: 0 });
    expect(log).toContain('refuse p1 quota null');
  });

  it('is no evidence that the service is down', async () => {
    const grants = [...Array(30).fill(GRANTED), exhausted];
    const asking = createAsking({ answers: [SPENT_QUOTA], grants });
    await askFor(asking);
    expect(asking.context.breaker.isOpen).toBe(false);
  });
});
