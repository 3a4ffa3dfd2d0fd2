import { expect, it } from 'vitest';
import { judgeSpending, unattributedOf } from '../../src/commands/spending.js';
import { scheduleOwner } from '../../src/engine/stores/run-store.js';
import { judgeRuns } from '../../src/run/facts/judge-runs.js';
import { dashboardData, NOW, runRecord } from '../dashboard/views.js';

const DAY = 86_400_000;
const EARLIER = { starts: 2, matched: 5, notFound: 0, billed: 5, unreported: 1, overage: 2, tookMs: 0 };

const runs = judgeRuns(
  dashboardData({
    runs: [
      runRecord({
        id: 'r-1',
        status: 'completed',
        tally: { billed: 40 },
        settings: { startedBy: 'ada@etl-1' },
        earlier: EARLIER,
      }),
      runRecord({
        id: 'r-2',
        status: 'completed',
        label: { host: 'etl-2', name: 'list.csv' },
        owner: scheduleOwner('ticks-etl-2-0a1b/nightly'),
        asOf: NOW - 30 * DAY,
        tally: { billed: 7 },
        overageBilled: 3,
      }),
      // Killed: two of its requests were never reported.
      runRecord({
        id: 'r-3',
        status: 'stopped',
        stop: { type: 'killed' },
        tally: { billed: 100 },
        spent: 102,
        endedAt: NOW - DAY,
        settings: { startedBy: 'ada@etl-1', account: 'another' },
      }),
    ],
  }),
);

const sums = (by: Parameters<typeof judgeSpending>[0]) =>
  judgeSpending(by, runs, '0.1').map(({ name, runs, billed, unreported, overageCost }) => [
    name,
    runs,
    billed,
    unreported,
    overageCost,
  ]);

it('sums earlier starts and possibly billed requests, and lists the dearest first', () => {
  expect(sums('input')).toEqual([
    ['customers.csv', 4, 145, 3, '0.2'],
    ['list.csv', 1, 7, 0, '0.3'],
  ]);
  expect(sums('schedule')).toEqual([
    [null, 4, 145, 3, '0.2'],
    ['nightly', 1, 7, 0, '0.3'],
  ]);
  expect(sums('person').map(([name]) => name)).toEqual(['ada@etl-1', null]);
  expect(sums('month').map(([name]) => name)).toEqual(['2026-11', '2026-10']);
});

it('leaves the requests that no run of the account and period accounts for', () => {
  const { account } = runRecord().settings;
  expect(unattributedOf(60, runs, account, NOW - 20 * DAY)).toBe(60 - 46);
  expect(unattributedOf(60, runs, account, null)).toBe(60 - 46 - 7);
  expect(unattributedOf(5, runs, account, null)).toBe(0);
});
