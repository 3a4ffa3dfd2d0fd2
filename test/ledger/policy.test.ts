import { describe, expect, test } from 'vitest';
import { sayPhrase } from '../../src/core/phrase.js';
import type { LedgerState, RunSpending } from '../../src/ledger/ledger.js';
import {
  doubtOf,
  isQuotaRefusal,
  judgeDenial,
  limitOf,
  ownDomainWarning,
  type ReachedLimit,
  roomOf,
  seesRaisedQuota,
} from '../../src/ledger/policy.js';
import { ledgerState, runSpending } from '../run/ledger-state.js';

const NOW = Date.UTC(2030, 0, 15, 12);
function stateOf(some: Partial<LedgerState> = {}, run: Partial<RunSpending> = {}): LedgerState {
  return ledgerState({
    now: NOW,
    confirmedAt: NOW,
    period: '2030-01-01',
    quota: 100,
    usage: 0,
    run: runSpending(run),
    ...some,
  });
}

describe('the limit', () => {
  test.each<[number | null, number | null, number, number | null]>([
    [100, null, 0, 100],
    [100, null, 3, 103],
    [100, 60, 0, 60],
    [60, 100, 0, 60],
    [null, 60, 0, 60],
    [null, 60, 3, 63],
    [100, 0, 0, 0],
    [0, null, 5, 5],
    [null, null, 5, null],
  ])('header %s, --quota %s, overage %d: %s', (quota, quotaCap, overage, limit) => {
    expect(limitOf({ quota, quotaCap, overage })).toBe(limit);
  });

  test.each<[Partial<LedgerState>, number | null]>([
    [{}, 100],
    [{ sent: 50, held: 20, others: 9 }, 21],
    [{ sent: 90, others: 90 }, 0],
    [{ quota: null }, null],
    [{ quota: 0 }, 0],
  ])('%j leaves %s', (some, room) => {
    expect(roomOf(stateOf(some))).toBe(room);
  });
});

const revoked = (why: 'dead' | 'cancelled' | 'halted') => ({ type: 'revoked', why });
const wait = (retryInMs: number) => ({ type: 'wait', retryInMs });
const exhausted = (limit: ReachedLimit) => ({ type: 'exhausted', limit });
const PAUSED = wait(1_000);
const PAUSED_ALONE = { type: 'paused', retryInMs: 1_000 };
const LAST = wait(100);
const SERVICE = exhausted({ name: 'service' });
const CAP = exhausted({ name: 'maxRequests', maxRequests: 5 });
const MONEY = exhausted({ name: 'maxCost' });
const account = (overage: number) => exhausted({ name: 'account', overage });
const quota = (overage: number) => exhausted({ name: 'quota', quota: 60, overage });
const MINUTES = 60_000;
const usedUp = (some: Partial<LedgerState>) =>
  stateOf({ sent: 100, confirmedAt: NOW - 10 * MINUTES, ...some });

test.each<[string, LedgerState, object]>([
  ['nobody knows the run', stateOf({ run: null }), revoked('dead')],
  ['the run is dead', stateOf({}, { status: 'dead' }), revoked('dead')],
  ['the run was cancelled', stateOf({}, { status: 'cancelled' }), revoked('cancelled')],
  ['the run was halted', stateOf({}, { status: 'halted' }), revoked('halted')],
  ['cancelled before paused', stateOf({ isPaused: true }, { status: 'cancelled' }), revoked('cancelled')],
  ['paused', stateOf({ isPaused: true }), PAUSED],
  ['the run is paused', stateOf({}, { status: 'paused' }), PAUSED_ALONE],
  ['the run and all spending are paused', stateOf({ isPaused: true }, { status: 'paused' }), PAUSED_ALONE],
  ['paused before used up', stateOf({ isPaused: true, sent: 100 }), PAUSED],
  ['rests for long', stateOf({ restsUntil: NOW + 60_000 }), wait(5_000)],
  ['rests for another moment', stateOf({ restsUntil: NOW + 300 }), wait(300)],
  ['has rested', stateOf({ restsUntil: NOW, sent: 99, held: 1 }), LAST],
  ['closed', stateOf({ closedAt: NOW, sent: 90, others: 10 }), SERVICE],
  ['closed, quota unknown', stateOf({ closedAt: NOW, quota: null, sent: 9 }), SERVICE],
  ['closed, with others in flight', stateOf({ closedAt: NOW, held: 3 }), SERVICE],
  ['closed, while a probe is in flight', stateOf({ closedAt: NOW, probes: 1 }), wait(200)],
  ['full, the last permits are in flight', stateOf({ sent: 60, held: 40 }), LAST],
  ['full, while a probe is in flight', stateOf({ sent: 100, probes: 1 }), LAST],
  ['used up', stateOf({ sent: 100 }), account(0)],
  ['used up by others', stateOf({ sent: 40, others: 60 }), account(0)],
  ['used up with overage', stateOf({ sent: 103, overage: 3 }), account(3)],
  ['--quota used up', stateOf({ sent: 60, quotaCap: 60 }), quota(0)],
  ['--quota used up without a header', stateOf({ sent: 60, quotaCap: 60, quota: null }), quota(0)],
  ['--quota used up, which leaves no overage', stateOf({ sent: 60, quotaCap: 60, overage: 3 }), quota(0)],
  ['--quota and overage, no header', stateOf({ sent: 63, quotaCap: 60, overage: 3, quota: null }), quota(3)],
  ['--quota above the header has no effect', stateOf({ sent: 100, quotaCap: 200 }), account(0)],
  ['the cap of the run', stateOf({ sent: 5 }, { requests: 5, maxRequests: 5 }), CAP],
  [
    'its cap, one in flight',
    stateOf({ sent: 4, held: 1 }, { requests: 5, held: 1, maxRequests: 5 }),
    wait(100),
  ],
  ['its cap, others in flight', stateOf({ sent: 5, held: 64 }, { requests: 5, maxRequests: 5 }), CAP],
  ['a money cap', stateOf({ sent: 102, overage: 10 }, { overageRequests: 2, maxOverageRequests: 2 }), MONEY],
  ['its cap, one in flight elsewhere', stateOf({ sent: 5 }, { requests: 5, held: 1, maxRequests: 5 }), CAP],
  [
    'the cap on money, while requests of others decide what was overage',
    stateOf({ sent: 100, held: 1, overage: 10 }, { overageInFlight: 1, maxOverageRequests: 1 }),
    wait(100),
  ],
  [
    'the cap on money, with requests of others in flight',
    stateOf({ sent: 102, held: 4, overage: 10 }, { overageRequests: 2, maxOverageRequests: 2 }),
    MONEY,
  ],
  [
    'the same while what others have in flight may leave room in the quota',
    stateOf({ sent: 98, held: 4, overage: 10 }, { overageRequests: 2, maxOverageRequests: 2 }),
    wait(100),
  ],
  ['no money at all, in the quota', stateOf({ sent: 50, overage: 10 }, { maxOverageRequests: 0 }), wait(50)],
  ['a pause of the service', stateOf({ pace: { ...stateOf().pace, floorMs: 9_000 } }), wait(1_000)],
  ['the end of that pause', stateOf({ pace: { ...stateOf().pace, floorMs: 150 } }), wait(150)],
  ['pace', stateOf({ pace: { ...stateOf().pace, rate: 10 } }), wait(100)],
  ['a fast pace', stateOf({ pace: { ...stateOf().pace, rate: 1_000 } }), wait(20)],
  ['a slow pace', stateOf({ pace: { ...stateOf().pace, rate: 0.2 } }), wait(1_000)],
  ['the first request is alone', stateOf({ confirmedAt: 0, held: 1 }), wait(50)],
  // Used up, and it may ask for the next period.
  ['asks never', usedUp({ asksAt: null }), account(0)],
  ['asks in an hour', usedUp({ asksAt: NOW + 60 * MINUTES }), account(0)],
  ['asks in a few minutes', usedUp({ asksAt: NOW + 14 * MINUTES }), wait(5_000)],
  ['asks in a second', usedUp({ asksAt: NOW + 1_000 }), wait(1_000)],
  ['asks now, soon after the last answer', usedUp({ asksAt: NOW, confirmedAt: NOW - 20_000 }), wait(5_000)],
  ['asks now, a minute after an answer', usedUp({ asksAt: NOW, confirmedAt: NOW - MINUTES }), wait(100)],
  ['asks now, shortly after another probe', usedUp({ asksAt: NOW, nextProbeAt: NOW + 700 }), wait(700)],
  ['asks now, after a refusal', usedUp({ asksAt: NOW, closedAt: NOW - 1, confirmedAt: NOW }), wait(100)],
])('a denied permit: %s', (_why, state, verdict) => {
  expect(judgeDenial(state)).toEqual(verdict);
});

const reading = (quota: number | null, usage: number | null) => ({ quota, usage });
test.each<[string, Parameters<typeof isQuotaRefusal>, boolean]>([
  ['the service says quota', ['quota', reading(null, null), null], true],
  ['quota, whatever the numbers', ['quota', reading(100, 3), stateOf()], true],
  ['throughput, whatever the numbers', ['throughput', reading(100, 100), stateOf({ sent: 100 })], false],
  ['usage at the quota', [null, reading(100, 100), null], true],
  ['usage over the quota', [null, reading(100, 101), null], true],
  ['usage below the quota', [null, reading(100, 99), null], false],
  ['usage at the quota, overage left', [null, reading(100, 100), stateOf({ overage: 3 })], false],
  ['usage at quota and overage', [null, reading(100, 103), stateOf({ overage: 3 })], true],
  ['no headers, nothing known', [null, reading(null, null), null], false],
  ['no headers, room by our count', [null, reading(null, null), stateOf({ sent: 50 })], false],
  ['no headers, none by our count', [null, reading(null, null), stateOf({ sent: 90, others: 10 })], true],
  ['no headers, quota unknown', [null, reading(null, null), stateOf({ sent: 90, quota: null })], false],
  ['a header that lags, none by our count', [null, reading(100, 97), stateOf({ sent: 100 })], true],
  ['the last request of the limit by our count', [null, reading(100, 60), stateOf({ sent: 99 })], true],
  ['two are left by our count', [null, reading(100, 60), stateOf({ sent: 98 })], false],
  ['what is in flight is not yet spent', [null, reading(100, 90), stateOf({ sent: 90, held: 10 })], false],
])('the kind of a 429: %s', (_what, asked, isQuota) => {
  expect(isQuotaRefusal(...asked)).toBe(isQuota);
});

describe('the own domain', () => {
  const settings = { service: 'https://api.example', ownDomain: 'own.example' };
  const known = { of: 'https://api.example own.example', isProven: false, booked: 2, rises: 1 };
  test.each<[string, Partial<LedgerState['own']>, boolean]>([
    ['after a rise that nothing else explains', {}, true],
    ['once it is proven free', { isProven: true }, false],
    ['before anything was measured', { rises: 0 }, false],
    ['after a rise of another domain', { of: 'https://api.example other.example' }, false],
    ['after a rise at another service', { of: 'https://other.example own.example' }, false],
  ])('gets a warning %s: %j', (_when, some, isWarned) => {
    const warning = ownDomainWarning(stateOf({ own: { ...known, ...some } }), settings);
    expect(warning !== null).toBe(isWarned);
    if (warning !== null)
      expect(sayPhrase(warning, 'keys')).toMatch(/^ownDomain own\.example seems to be billed/);
  });

  test.each([
    ['free', false, true],
    ['unspecified', false, true],
    ['paid', false, false],
    ['paid', true, true],
  ] as const)('on plan %s, proven free %s: a raised quota is seen by itself: %s', (plan, isProven, sees) => {
    expect(seesRaisedQuota(plan, stateOf({ own: { ...known, isProven } }))).toBe(sees);
  });
});

test.each<[Partial<LedgerState>, RegExp]>([
  [{ usage: 100, lastUsage: 100, sent: 50, held: 1 }, /^$/],
  [{ usage: 180, lastUsage: 20, sent: 100 }, /fell from 180 to 20 .* another day, set --period DAY$/],
  [{ usage: 95_000, lastUsage: 95_000, sent: 9 }, /95,000 is far above our 9 requests: .* observe --usage N/],
  [{ usage: 100, lastUsage: 20, behindMs: 31 * 86_400_000 }, /^the engine's clock is 31.days ahead of the/],
  [{ usage: null, lastUsage: null, behindMs: 86_400_000 }, /^$/],
])('a usage of %j is doubted', (some, words) => {
  expect(sayPhrase(doubtOf(stateOf(some)), 'flags')).toMatch(words);
});
