import { describe, expect, it } from 'vitest';
import { statusText } from '../../src/commands/admin.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import { judgeBudget } from '../../src/run/facts/judge-account.js';
import { ledgerState } from '../run/ledger-state.js';
import { HALTS } from '../support/halts.js';
import { NOON, runRecord } from '../worker/asking.js';
import { STARTED_AT } from './results.js';

const NO_OUTCOMES = { matched: 0, notFound: 0, oldestFetchedAt: null, newestFetchedAt: null };

const STATUS = {
  engine: 'redis',
  address: 'redis://127.0.0.1:6379',
  warnings: [],
  account: null,
  ledger: null,
  plan: null,
  projection: null,
  budget: null,
  queue: null,
  outcomes: NO_OUTCOMES,
  runs: [],
  storeNow: NOON,
  gone: new Set<string>(),
  otherHolds: new Map(),
  pauses: [],
} as const;

/** The lines about the account. */
function accountLines(ledger: LedgerState): string[] {
  const lines = statusText({ ...STATUS, account: 'key-1', ledger }, []).split('\n');
  return lines.slice(
    1,
    lines.findIndex((each) => each.startsWith('stored answers')),
  );
}

const line = (word: string, text: string) => text.split('\n').find((each) => each.startsWith(word));

describe('the account text', () => {
  it('shows a new account, before any answer', () => {
    expect(accountLines(ledgerState())).toEqual([
      'account     key-1',
      'period      unknown until the first answer',
      'quota       unknown until the first answer',
      'limit       unknown (quota)',
      'used        0: 0 sent by us, 0 in flight, 0 by others',
      'service     last reported no usage',
    ]);
  });

  it('shows every line of a used account', () => {
    const state = ledgerState({
      period: '2026-03-01',
      quota: 1_000,
      overage: 200,
      usage: 1_100,
      sent: 1_050,
      held: 40,
      others: 10,
      closedAt: STARTED_AT,
      isPaused: true,
      pace: { ...ledgerState().pace, rate: 81.04, burst: 10 },
    });
    expect(accountLines(state)).toEqual([
      'account     key-1',
      'period      2026-03-01',
      'quota       1,000',
      'limit       1,200 (quota and 200 overage requests)',
      'used        1,100: 1,050 sent by us, 40 in flight, 10 by others',
      'service     last reported 1,100 used',
      'left        100 (100 at extra cost)',
      'closed      the service refused for quota at 2026-03-15 12:00:00 UTC',
      'paused      nothing is spent until `brand-enrich resume`',
      'pace        81.0 requests a second, burst 10',
    ]);
  });

  it.each<[Partial<LedgerState>, string]>([
    [{ quota: 10, sent: 12 }, 'left        0'],
    [{ quotaCap: 7 }, 'limit       7 (--quota 7)'],
    [{ quota: 10, quotaCap: 7 }, 'limit       7 (--quota 7)'],
    [{ quota: 10, quotaCap: 70, overage: 1 }, 'limit       11 (quota and 1 overage request)'],
    [{ quota: 100_000, quotaCap: 50, overage: 3 }, 'limit       50 (--quota 50)'],
    [{ quotaCap: 50, overage: 3 }, 'limit       53 (--quota 50 and 3 requests beyond it)'],
  ])('%j', (some, expected) => {
    expect(accountLines(ledgerState(some))).toContain(expected);
  });
});

describe('the status text', () => {
  it('reports paid answers on disk with their engine and how long they are kept', () => {
    const spool = { answers: 1_200, folder: '/state/spool/b', since: NOON, engine: 'b', isOwn: false };
    const lines = statusText(STATUS, [spool, { ...spool, engine: 'a', isOwn: true, answers: 1 }])
      .split('\n')
      .filter((line) => line.startsWith('on disk'));
    const kept = new Date(NOON + 30 * 86_400_000).toISOString().slice(0, 10);
    expect(lines).toEqual([
      `on disk     1,200 paid answers in /state/spool/b, for another engine (b): kept until ${kept}`,
      'on disk     1 paid answer in /state/spool/b: the next run or worker with this state folder stores them',
    ]);
  });

  it('escapes a line break in a file name, so that no name can pass for another run', () => {
    const label = { host: 'host', name: 'a\nr-2  completed.csv' };
    const run = runRecord({}, { id: 'r', label, rows: 1, identifiers: 1 });
    const text = statusText({ ...STATUS, runs: [run] }, []);
    expect(text.trimEnd().split('\n').at(-1)).toContain('host: a\\nr-2  completed.csv, 1 row, 1 identifier,');
  });

  it('shows counts and ages of stored answers', () => {
    const fetched = { oldestFetchedAt: STARTED_AT - 3_600_000, newestFetchedAt: STARTED_AT };
    const outcomes = { matched: 12_000, notFound: 30, ...fetched };
    expect(statusText({ ...STATUS, outcomes }, [])).toContain(
      'stored answers   12,000 matched, 30 not found\nfetched          from 2026-03-15 11:00:00 UTC to 2026-03-15 12:00:00 UTC\n',
    );
  });

  it('shows an unused engine without an account', () => {
    expect(statusText(STATUS, []).split('\n')).toEqual([
      'engine      redis at redis://127.0.0.1:6379',
      'account     unknown: set the service and its token (or --account)',
      'stored answers   0 matched, 0 not found',
      '',
      'no runs yet',
      '',
    ]);
  });

  it('shows the warnings of an engine with risky settings', () => {
    const text = 'A power loss can cost up to 1 s of permits and answers.';
    const shown = statusText({ ...STATUS, warnings: [{ code: 'risk', text }] }, []);
    expect(shown).toContain(`  note      ${text}\n`);
  });

  describe('the projection in the status', () => {
    const spending = (byUs: number, byOthers: number) => ({ byUs, byOthers, total: byUs + byOthers });
    const projection = {
      endsOn: '2026-04-01',
      daysGone: 15.5,
      daysLeft: 15.5,
      used: spending(2_000, 500),
      projected: spending(4_000, 1_000),
      limitReachedOn: null,
    };
    const status = { ...STATUS, account: 'key-1', ledger: ledgerState({ quota: 4_500 }) };
    it('shows the expected usage, who spends it, and when the limit would not last', () => {
      const ledger = ledgerState({ quota: 6_000 });
      const lasting = line('projected', statusText({ ...status, ledger, projection }, []));
      expect(lasting).toMatch(/others; 15\.5 days gone, 15\.5 days left\)$/);
      const short = { ...projection, daysGone: 10, limitReachedOn: '2026-03-28' };
      expect(line('projected', statusText({ ...status, projection: short }, []))).toBe(
        'projected   5,000 requests by 2026-04-01 at the current rate (4,000 by us, 1,000 by others; 10 days gone, 15.5 days left); 500 more than the limit, which is reached on 2026-03-28',
      );
    });

    it('shows what is left of the money', () => {
      const ledger = ledgerState({ quota: 4_500, overage: 1_000, sent: 4_512 });
      const budget = judgeBudget(ledger, { plan: 'paid', budget: '100', price: '0.1' });
      expect(line('budget', statusText({ ...status, budget }, []))).toBe(
        'budget      1.2 of 100 used: 12 requests beyond the quota at 0.1; 98.8 left for 988',
      );
    });

    it('says that a lower --quota leaves the budget unused', () => {
      const ledger = ledgerState({ quota: 100_000, quotaCap: 50, overage: 3, sent: 40 });
      const budget = judgeBudget(ledger, { plan: 'paid', budget: '0.3', price: '0.1' });
      expect(line('budget', statusText({ ...status, ledger, budget }, []))).toBe(
        'budget      0 of 0.3 used: 0 requests beyond the quota at 0.1; --quota 50 leaves it unused',
      );
    });
  });

  it('shows account, queue and runs', () => {
    const stopped = {
      id: 'r-20260315-aa',
      label: { host: 'host', name: 'customers.csv' },
      status: 'stopped',
      stop: { type: 'halted', halt: HALTS.limit },
      rows: 1_200,
      identifiers: 1_000,
      tally: { matched: 80, notFound: 15, failed: 5, stored: 3, requests: 101, billed: 100 },
    } as const;
    const label = { host: 'host', name: 'new.csv' };
    const paused = { id: 'r-20260315-bb', label, paused: { by: 'ada', at: 1 } };
    const runs = [stopped, paused].map((parts) => runRecord({}, parts));
    const queue = { waiting: 1_500, active: 2, delayed: 3 };
    const ledger = ledgerState({ quota: 100 });
    const text = statusText({ ...STATUS, account: 'key-1', ledger, queue, runs }, []);
    expect(text).not.toMatch(/^(projected|budget)/m);
    expect(text).toContain('queue       1,500 chunks waiting, 2 active, 3 parked\n');
    expect(text.trimEnd().split('\n').slice(-2)).toEqual([
      'r-20260315-bb  paused     2026-03-15 12:00:00 UTC  host: new.csv, 0 answered, 0 requests, 0 billed: by ada since 1 Jan 1970, 00:00 UTC; `brand-enrich resume r-20260315-bb` continues it',
      'r-20260315-aa  stopped    2026-03-15 12:00:00 UTC  host: customers.csv, 1,200 rows, 1,000 identifiers, 98 answered, 5 failed, 101 requests, 100 billed: the quota is used up',
    ]);
  });

  it('counts what a finished run found stored as answered', () => {
    const run = runRecord({}, { status: 'completed', identifiers: 100 });
    expect(statusText({ ...STATUS, runs: [run] }, [])).toContain('100 answered, 0 requests');
  });

  it.each([
    ['stopped', NOON, ', 3 more may have been billed: in flight when their worker ended'],
    ['running', NOON, ''],
    [
      'running',
      NOON + 60_000,
      ', 3 more may have been billed: in flight when their worker ended: it has no heartbeat: it was killed, or lost its engine; run the same command again to continue',
    ],
  ] as const)('counts what killed workers may have sent: %s, seen at %d', (status, now, lost) => {
    const tally = { matched: 9, notFound: 0, failed: 0, stored: 0, requests: 9, billed: 9 };
    const parts = { id: 'r', job: 'r', label: { host: 'etl-1', name: 'x' }, status, tally, spent: 12 };
    const run = runRecord({}, parts);
    expect(statusText({ ...STATUS, runs: [run], storeNow: now }, [])).toContain(
      `9 answered, 9 requests, 9 billed${lost}\n`,
    );
  });
});
