/** When parked files of an inbox go on. */
import { describe, expect, it } from 'vitest';
import { type AccountView, chooseRetries, parkStateOf } from '../../../src/daemon/inbox/inbox-retries.js';
import type { ParkedJob } from '../../../src/daemon/inbox/job-folder.js';
import type { LedgerState } from '../../../src/ledger/ledger.js';
import { runSettings } from '../../engine/contract/run-settings.js';
import { ledgerState } from '../../run/ledger-state.js';

const NOW = Date.UTC(2026, 0, 14, 12);
const FULL = { quota: 100, sent: 100, period: '2026-01-01', now: NOW };
const ROOM = { ...FULL, sent: 60 };

function parked(file: string, parkState: string, parkedAt = NOW - 600_000): ParkedJob {
  return { folder: `/waiting/${file}`, file, parkedAt, parkState };
}

const byLimit = parkStateOf('limit', ledgerState(FULL), runSettings(), NOW);

function view(state: Partial<LedgerState>, more: Partial<AccountView> = {}): AccountView {
  return {
    state: ledgerState(state),
    settings: runSettings(),
    isQuotaTold: false,
    now: NOW,
    wentAheadAt: 0,
    ...more,
  };
}

function choose(jobs: readonly ParkedJob[], account: AccountView) {
  const { jobs: chosen, goesAhead } = chooseRetries(jobs, account);
  return [chosen.map(({ file }) => file).join(' '), goesAhead];
}

describe('files that wait for the account', () => {
  const jobs = [parked('a', byLimit), parked('b', byLimit)];
  const probedAgoMs = (ms: number) => ({ ...FULL, nextProbeAt: NOW - ms + 60_000 });
  it.each([
    ['all go on when there is room', view(ROOM), ['a b', false]],
    ['all go on when the quota is not known', view({ now: NOW }), ['a b', false]],
    [
      'all go on when the budget was raised',
      view(FULL, { settings: runSettings({ overage: 5 }) }),
      ['a b', false],
    ],
    ['one goes ahead when there is none', view(probedAgoMs(45_000)), ['a', true]],
    ['none does so soon after a probe of anybody', view(probedAgoMs(44_000)), ['', false]],
    [
      'none does so soon after the last one did',
      view(probedAgoMs(60_000), { wentAheadAt: NOW - 44_000 }),
      ['', false],
    ],
    [
      'none needs to when a free look tells the quota',
      view(probedAgoMs(60_000), { isQuotaTold: true }),
      ['', false],
    ],
    [
      'one goes ahead when the month may have turned all the same',
      view({ ...probedAgoMs(60_000), period: '2025-12-01' }, { isQuotaTold: true }),
      ['a', true],
    ],
    [
      'none goes on while the service refuses',
      view({ ...ROOM, closedAt: NOW, nextProbeAt: NOW + 60_000 }),
      ['', false],
    ],
  ] as const)('%s', (_, account, expected) => {
    expect(choose(jobs, account)).toEqual(expected);
  });
});

describe('a file that its own cap holds back', () => {
  const settings = runSettings({ maxRequests: 5 });
  const capped = parked('a', parkStateOf('limit', ledgerState(ROOM), settings, NOW));
  it.each([
    ['stays while nothing has changed', {}, ['', false]],
    ['goes on when its cap was raised', { settings: runSettings({ maxRequests: 6 }) }, ['a', false]],
    ['goes on when the month has turned', { now: Date.UTC(2026, 1, 1) }, ['a', false]],
  ] as const)('%s', (_, more, expected) => {
    expect(choose([capped], view(ROOM, { settings, ...more }))).toEqual(expected);
  });

  it('does not go ahead of one that waits for the account', () => {
    expect(choose([capped, parked('b', byLimit)], view({ ...FULL, nextProbeAt: 0 }, { settings }))).toEqual([
      'b',
      true,
    ]);
  });
});

it.each(['unreachable', 'throttled'] as const)(
  'a file whose service was %s tries again after a minute',
  (why) => {
    const parkState = parkStateOf(why, null, runSettings(), NOW);
    const account = view({ ...FULL, nextProbeAt: NOW + 60_000 });
    expect(choose([parked('a', parkState, NOW - 59_999)], account)).toEqual(['', false]);
    expect(choose([parked('a', parkState, NOW - 60_000)], account)).toEqual(['a', false]);
  },
);

it('a file whose note is lost goes on with the others', () => {
  expect(choose([parked('a', '')], view(ROOM))).toEqual(['a', false]);
});
