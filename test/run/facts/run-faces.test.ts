/** Histories of runs: every face says of each what the one judge concludes. */
import { expect, it } from 'vitest';
import { statusText } from '../../../src/commands/admin.js';
import { statusOf } from '../../../src/dashboard/gather-dashboard.js';
import { renderParts } from '../../../src/dashboard/render-dashboard.js';
import type { RunHalt } from '../../../src/engine/stores/run-reasons.js';
import type { Hold } from '../../../src/ledger/policy.js';
import { judgeRuns, type Standing } from '../../../src/run/facts/judge-runs.js';
import { accountParts, dashboardData, dashboardView, NOW, runRecord, VIEWER } from '../../dashboard/views.js';
import { HALTS } from '../../support/halts.js';
import { pageOf } from './run-page-of.js';

const OTHER = { settings: { account: 'other' } };
const ADA = { by: 'ada@office', at: NOW };
const DONE = { matched: 1_400, requests: 1_400, billed: 1_400 };
const AT_CAP = { settings: { maxRequests: 5 }, tally: { requests: 5 } };
const stoppedBy = (halt: RunHalt) => ({ status: 'stopped', stop: { type: 'halted', halt } }) as const;
const USED_UP = { quota: 1_000, overage: 0, sent: 1_000 };

interface History {
  readonly run: Parameters<typeof runRecord>[0];
  /** The own account. */
  readonly account?: Parameters<typeof accountParts>[0];
  readonly others?: Readonly<Record<string, Hold>>;
  readonly isGone?: boolean;
}

it.each<[string, History, standing: Standing, word: string, mark: string]>([
  ['begins', { run: {} }, 'running', 'running', 'Starting'],
  ['works', { run: { tally: { requests: 1 } } }, 'running', 'running', 'Running'],
  ['reads its file', { run: { identifiers: null, rows: null } }, 'running', 'running', 'Starting'],
  ['had a heartbeat 29 s ago', { run: { heartbeatAt: NOW - 29_000 } }, 'running', 'running', 'Starting'],
  ['had a heartbeat 31 s ago', { run: { heartbeatAt: NOW - 31_000 } }, 'dead', 'dead', 'Dead'],
  ['had a heartbeat 59 s ago', { run: { heartbeatAt: NOW - 59_000 } }, 'dead', 'dead', 'Dead'],
  ['has a heartbeat a little ahead', { run: { heartbeatAt: NOW + 4_000 } }, 'running', 'running', 'Starting'],
  ['had a heartbeat before a clock was set', { run: { heartbeatAt: NOW + 50_000 } }, 'dead', 'dead', 'Dead'],
  ['has lost its process', { run: {}, isGone: true }, 'dead', 'dead', 'Dead'],
  ['was paused and has lost its process', { run: { paused: ADA }, isGone: true }, 'dead', 'dead', 'Dead'],
  ['is paused', { run: { paused: ADA } }, 'held', 'paused', 'Paused'],
  ['is paused, as is all', { run: { paused: ADA }, account: { isPaused: true } }, 'held', 'paused', 'Paused'],
  ['has all spending paused', { run: {}, account: { isPaused: true } }, 'held', 'waiting', 'Waiting'],
  ['has used up the limit', { run: {}, account: USED_UP }, 'held', 'waiting', 'Waiting'],
  ['was refused for quota', { run: {}, account: { closedAt: NOW } }, 'held', 'waiting', 'Waiting'],
  ['is at its own cap', { run: AT_CAP }, 'held', 'waiting', 'Waiting'],
  ['is done at the limit', { run: { tally: DONE }, account: USED_UP }, 'running', 'running', 'Running'],
  ['is of another account', { run: OTHER, account: USED_UP }, 'running', 'running', 'Starting'],
  ['is of one at its limit', { run: OTHER, others: { other: 'used up' } }, 'held', 'waiting', 'Waiting'],
  ['is of one, all paused', { run: OTHER, account: { isPaused: true } }, 'held', 'waiting', 'Waiting'],
  ['completed', { run: { status: 'completed', tally: DONE } }, 'finished', 'finished', 'Finished'],
  ['stopped', { run: stoppedBy(HALTS.limit), account: USED_UP }, 'stopped', 'stopped', 'Stopped'],
  ['is held for a person', { run: stoppedBy(HALTS.unmatched) }, 'stopped', 'waiting', 'Waiting'],
  ['was cancelled', { run: { status: 'cancelled' } }, 'cancelled', 'cancelled', 'Cancelled'],
])('a run that %s', async (_, { run: parts, account, others = {}, isGone = false }, standing, word, mark) => {
  const run = runRecord(parts);
  const data = dashboardData({
    runs: [run],
    inboxes: [],
    ...(account && accountParts(account, 'free')),
    otherHolds: new Map(Object.entries(others)),
    gone: new Set(isGone ? [run.id] : []),
  });
  const view = dashboardView({ data });
  const lines = statusText(data, []).split('\n');
  const line = lines.find((each) => each.startsWith(run.id));
  expect(line?.split(/ +/)[1]).toBe(word);
  expect(statusOf(view).data?.runs).toMatchObject([{ id: run.id, status: standing }]);
  const dashboard = renderParts(view, VIEWER);
  expect(markIn(dashboard, /<li class="run">.*?<span class="state[^"]*">([^<]*)</s)).toBe(mark);
  const page = await pageOf(run, view);
  expect(markIn(page, /<h1>.*?<span class="verdict[^"]*"[^>]*>([^<]*)</s)).toBe(mark);
});

const markIn = (page: string, pattern: RegExp) => pattern.exec(page)?.[1];

it('a run waits behind those that are there, not behind one whose process is gone', () => {
  const first = runRecord({ id: 'first', asOf: NOW - 60_000, label: { host: 'h', name: 'first.csv' } });
  const second = runRecord({ id: 'second', asOf: NOW - 30_000 });
  const queuedOf = (gone: string[]) => {
    const judged = judgeRuns(dashboardData({ runs: [second, first], gone: new Set(gone) }));
    return judged.find(({ run }) => run.id === 'second')?.why;
  };
  expect(queuedOf([])).toEqual({ type: 'queued', behind: 'queued behind first.csv' });
  expect(queuedOf(['first'])).toBeNull();
});
