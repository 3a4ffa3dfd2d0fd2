/** What is concluded of an account: whether it may spend, and what is left of limit and budget. */
import { describe, expect, it } from 'vitest';
import type { LedgerState } from '../../../src/ledger/ledger.js';
import { judgeAccount, judgeBudget } from '../../../src/run/facts/judge-account.js';
import { ledgerState } from '../ledger-state.js';

const NOW = Date.UTC(2026, 10, 20);

describe('an account', () => {
  it.each<[string, Partial<LedgerState>, string | null]>([
    ['is unknown', { sent: 99 }, null],
    ['has room', { quota: 100, sent: 99 }, null],
    ['holds its last permit', { quota: 100, sent: 99, held: 1 }, null],
    ['has used its quota', { quota: 100, sent: 60, others: 40 }, 'used up'],
    ['has overage left', { quota: 100, overage: 1, sent: 60, others: 40 }, null],
    ['has used --quota', { quota: 100, quotaCap: 99, sent: 99 }, 'used up'],
    ['was refused', { quota: 100, closedAt: NOW, sent: 100 }, 'closed'],
    ['is paused, and more', { quota: 100, isPaused: true, closedAt: NOW }, 'paused'],
    ['is paused, and at its turn', { isPaused: true, isTurnUnconfirmed: true }, 'paused'],
    ['seems to have a new period', { quota: 100, sent: 100, closedAt: NOW, isTurnUnconfirmed: true }, null],
  ])('that %s', (_, state, hold) => {
    expect(judgeAccount(ledgerState(state)).hold).toBe(hold);
  });

  it.each<[Partial<LedgerState>, readonly (number | boolean | null)[]]>([
    // Room now, and left of: limit, quota, overage; overage used, beyond the limit.
    [{}, [true, null, null, 0, 0, 0]],
    [{ overage: 5 }, [true, null, null, 5, 0, 0]],
    [{ quota: 10, sent: 3, others: 2 }, [true, 5, 5, 0, 0, 0]],
    [{ quota: 10, overage: 5, sent: 9, held: 3 }, [true, 3, 0, 3, 2, 0]],
    [{ quota: 10, overage: 5, sent: 9, held: 6 }, [false, 0, 0, 0, 5, 0]],
    [{ quota: 10, overage: 5, others: 20 }, [false, 0, 0, 0, 5, 5]],
    [{ quota: 10, quotaCap: 4, overage: 5, sent: 6 }, [false, 0, 0, 0, 0, 2]],
    [{ quotaCap: 4, overage: 5, sent: 6 }, [true, 3, 0, 3, 2, 0]],
    [{ quota: 10, closedAt: NOW }, [false, 10, 10, 0, 0, 0]],
    [{ quota: 10, isPaused: true }, [true, 10, 10, 0, 0, 0]],
  ])('of %j has the right rest', (state, figures) => {
    const { hasRoom, left, quotaLeft, overageLeft, overageUsed, beyond } = judgeAccount(ledgerState(state));
    expect([hasRoom, left, quotaLeft, overageLeft, overageUsed, beyond]).toEqual(figures);
  });

  it.each<[Partial<LedgerState>, boolean]>([
    [{ quota: 100 }, false],
    [{ quota: 100, sent: 50, held: 20, others: 9 }, false],
    [{ quota: 100, sent: 50, held: 20, others: 10 }, true],
    [{ quota: 100, sent: 100 }, true],
    [{ quota: null, sent: 100 }, false],
    [{ quota: 0 }, false],
    // Of a month that is over by the service's clock.
    [{ quota: 100, sent: 100, period: '2026-11-01', now: Date.UTC(2026, 11, 1) }, false],
    [{ quota: 100, sent: 100, period: '2026-11-01', now: Date.UTC(2026, 11, 1), behindMs: 1 }, true],
  ])('of %j has used 80 %% of its limit: %s', (state, isNear) => {
    expect(judgeAccount(ledgerState(state)).isNearLimit).toBe(isNear);
  });

  it.each([
    [9_999, null],
    [10_000, NOW + 10_000],
  ])('a Retry-After of %i ms ends at %s', (floorMs, until) => {
    const state = ledgerState({ now: NOW });
    expect(judgeAccount({ ...state, pace: { ...state.pace, floorMs } }).waitsUntil).toBe(until);
  });
});

const PAID = { plan: 'paid', budget: '100', price: '0.1' } as const;

describe('the overage budget', () => {
  it.each([
    [90, PAID, [0, '0', 1_000, '100']],
    [100, PAID, [0, '0', 1_000, '100']],
    [112, PAID, [12, '1.2', 988, '98.8']],
    [1_100, PAID, [1_000, '100', 0, '0']],
    // More than it allows: the service has a higher one.
    [1_200, PAID, [1_100, '110', 0, '0']],
    // What is left is what can be bought of it.
    [101, { ...PAID, budget: '0.35' }, [1, '0.1', 2, '0.2']],
  ] as const)('after %i of 100 requests, %j', (used, terms, [overageRequests, spent, requestsLeft, left]) => {
    const state = ledgerState({ quota: 100, sent: used - 9, held: 2, others: 7 });
    const { budget, price } = terms;
    const requestsAllowed = budget === '100' ? 1_000 : 3;
    const money = { overageRequests, used: spent, requestsLeft, left };
    const expected = { budget, price, quotaCap: null, requestsAllowed, ...money };
    expect(judgeBudget(state, terms)).toEqual(expected);
  });

  it.each([
    // used, --quota: requests beyond the quota, money used, requests left, money left
    [40, 50, [0, '0', 0, '0.3']],
    [101, 99, [1, '0.1', 0, '0.2']],
    [120, 50, [20, '2', 0, '0']],
  ] as const)('of 3 requests, after %i of 100 with --quota %i', (sent, quotaCap, figures) => {
    const state = judgeBudget(ledgerState({ quota: 100, quotaCap, sent }), { ...PAID, budget: '0.3' });
    expect(state).toMatchObject({ quotaCap, requestsAllowed: 3 });
    expect([state?.overageRequests, state?.used, state?.requestsLeft, state?.left]).toEqual(figures);
  });

  it.each([
    [{ quota: 100 }, { ...PAID, plan: 'free' as const }],
    [{ quota: 100 }, { ...PAID, plan: null }],
    [{ quota: null }, PAID],
  ])('is not shown with %j and %j', (state, terms) => {
    expect(judgeBudget(ledgerState(state), terms)).toBeNull();
  });
});
