/** When parked files of an inbox are retried. */
import { describe, expect, it, test } from 'vitest';
import type { ParkedJob } from '../../src/jobs/find-files.js';
import { type AccountView, chooseRetries, followOrders, parkStateOf } from '../../src/jobs/inbox-retries.js';
import { jobOf, type ParkState } from '../../src/jobs/job-folder.js';
import type { LedgerState } from '../../src/ledger/ledger.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { ledgerState } from '../run/ledger-state.js';

const NOW = Date.UTC(2026, 0, 14, 12);
const ADA = { by: 'ada@office', at: NOW };
const FULL = { quota: 100, sent: 100, period: '2026-01-01', now: NOW };
const ROOM = { ...FULL, sent: 60 };

const TRIED: ParkState = { why: 'tried', capMark: null };
const PAUSED: ParkState = { why: 'paused', capMark: null };

function parked(file: string, state: ParkState, at = NOW - 600_000): ParkedJob {
  const waits = { at, since: at, state };
  const record = { id: `job of ${file}`, run: null, file, reason: null, parked: waits };
  return { ...jobOf(`/waiting/${file}`, record), parked: waits };
}

const byLimit = parkStateOf('limit', ledgerState(FULL), runSettings(), NOW);

function view(state: Partial<LedgerState>, more: Partial<AccountView> = {}): AccountView {
  return {
    state: ledgerState(state),
    settings: runSettings(),
    ownSettings: new Map(),
    isQuotaKnown: false,
    now: NOW,
    probedAt: 0,
    ...more,
  };
}

/** Returns the names of the files that are retried, and `goes ahead` behind a probe. */
function choose(jobs: readonly ParkedJob[], account: AccountView): string {
  const { jobs: chosen, goesAhead } = chooseRetries(jobs, account);
  return chosen.map(({ file }) => file).join(' ') + (goesAhead ? ' goes ahead' : '');
}

describe('files that wait for the account', () => {
  const jobs = [parked('a', byLimit), parked('b', byLimit)];
  const probedAgoMs = (ms: number) => ({ ...FULL, nextProbeAt: NOW - ms + 60_000 });
  it.each([
    ['all are when there is room', view(ROOM), 'a b'],
    ['all are when the quota is unknown', view({ now: NOW }), 'a b'],
    ['all are when the budget was raised', view(FULL, { settings: runSettings({ overage: 5 }) }), 'a b'],
    ['one is as a probe when there is no room', view(probedAgoMs(45_000)), 'a goes ahead'],
    ['none is soon after any probe', view(probedAgoMs(44_000)), ''],
    ['none is soon after one of the inbox', view(probedAgoMs(60_000), { probedAt: NOW - 44_000 }), ''],
    ['none is when a free request tells it', view(probedAgoMs(60_000), { isQuotaKnown: true }), ''],
    [
      'one is when it may ask for the next month',
      view({ ...probedAgoMs(60_000), asksAt: NOW }, { isQuotaKnown: true }),
      'a goes ahead',
    ],
    [
      'none is before it may ask for that',
      view({ ...probedAgoMs(60_000), asksAt: NOW + 1 }, { isQuotaKnown: true }),
      '',
    ],
    ['none is while it refuses', view({ ...ROOM, closedAt: NOW, nextProbeAt: NOW + 60_000 }), ''],
  ] as const)('of them %s retried', (_, account, expected) => {
    expect(choose(jobs, account)).toEqual(expected);
  });
});

describe('a file stopped by its own cap', () => {
  const settings = runSettings({ maxRequests: 5 });
  const of9 = runSettings({ maxRequests: 9 });
  const capped = parked('a', parkStateOf('limit', ledgerState(ROOM), settings, NOW));
  const own = (maxRequests: number) => ({
    ownSettings: new Map([[capped.folder, runSettings({ maxRequests })]]),
  });
  const noQuota = { state: ledgerState({ ...ROOM, quota: null }) };
  it.each([
    ['stays parked while nothing has changed', own(5), ''],
    ['stays, whatever its folder says', { ...own(5), settings: of9 }, ''],
    ['stays parked when an emptied engine does not know the quota', { ...own(5), ...noQuota }, ''],
    ['is retried when its cap was raised and the quota is not known', { ...own(6), ...noQuota }, 'a'],
    ['is retried when its cap was raised', own(6), 'a'],
    ['is retried, to say so, when its settings cannot be read', {}, 'a'],
    ['is retried in the next month', { ...own(5), now: Date.UTC(2026, 1, 1) }, 'a'],
  ] as const)('%s', (_, more, expected) => {
    expect(choose([capped], view(ROOM, more))).toEqual(expected);
  });

  it('does not start before one that waits for the account', () => {
    expect(choose([capped, parked('b', byLimit)], view({ ...FULL, nextProbeAt: 0 }))).toEqual('b goes ahead');
  });
});

it.each(['unreachable', 'throttled'] as const)(
  'a file whose service was %s is retried after a minute',
  (why) => {
    const state = parkStateOf(why, null, runSettings(), NOW);
    const account = view({ ...FULL, nextProbeAt: NOW + 60_000 });
    expect(choose([parked('a', state, NOW - 59_999)], account)).toEqual('');
    expect(choose([parked('a', state, NOW - 60_000)], account)).toEqual('a');
  },
);

test.each([
  ['a limit and nothing ordered', byLimit, {}, 'others'],
  ['a pause that stands', PAUSED, { paused: ADA }, 'nothing'],
  ['a pause that has ended', PAUSED, {}, 'ordered'],
  ['its turn, since a person tried it again', { why: 'again', capMark: null } as const, {}, 'ordered'],
  ['the word of a person after its trial', TRIED, {}, 'nothing'],
  ['that word after it ended its process', { why: 'crashed', capMark: null } as const, {}, 'nothing'],
  ['that word, and is cancelled', TRIED, { cancelled: ADA }, 'ordered'],
  ['that word, and is paused', TRIED, { paused: ADA }, 'ordered'],
  ['a limit, and is paused', byLimit, { paused: ADA }, 'ordered'],
  ['a limit, and is cancelled', byLimit, { cancelled: ADA }, 'ordered'],
  ['a pause that stands, and is cancelled', PAUSED, { paused: ADA, cancelled: ADA }, 'ordered'],
])('a file that waits for %s', (_, state, orders, expected) => {
  const job = parked('a.csv', state);
  const { ordered, others } = followOrders([job], [{ cancelled: null, paused: null, ...orders }]);
  expect([ordered.length, others.length]).toEqual([
    Number(expected === 'ordered'),
    Number(expected === 'others'),
  ]);
});
