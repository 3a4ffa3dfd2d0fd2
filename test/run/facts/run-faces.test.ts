/** Histories of runs: what the one judge concludes. `one-judge.test.ts`: every face says it. */
import { expect, it } from 'vitest';
import type { RunHalt } from '../../../src/engine/stores/run-reasons.js';
import type { Hold } from '../../../src/ledger/policy.js';
import { judgeRuns, type RunHold, type RunState, type Standing } from '../../../src/run/facts/judge-runs.js';
import { accountParts, dashboardData, NOW, runRecord } from '../../dashboard/views.js';
import { HALTS } from '../../support/halts.js';

const OTHER = { settings: { account: 'other' } };
const ADA = { by: 'ada@office', at: NOW };
const DONE = { matched: 1_400, requests: 1_400, billed: 1_400 };
const READING = { identifiers: null, rows: null };
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

it.each<[string, History, Standing, RunState, RunHold?]>([
  ['begins', { run: {} }, 'running', 'running'],
  ['works', { run: { tally: { requests: 1 } } }, 'running', 'running'],
  ['reads its file', { run: READING }, 'running', 'running'],
  ['had a heartbeat within 30 s', { run: { heartbeatAt: NOW - 29_999 } }, 'running', 'running'],
  ['had none for 30 s', { run: { heartbeatAt: NOW - 30_000 } }, 'dead', 'dead'],
  ['is dead at the limit', { run: { heartbeatAt: NOW - 60_000 }, account: USED_UP }, 'dead', 'dead'],
  ['has a heartbeat a little ahead', { run: { heartbeatAt: NOW + 4_000 } }, 'running', 'running'],
  ['had a heartbeat before a clock was set', { run: { heartbeatAt: NOW + 50_000 } }, 'dead', 'dead'],
  ['has lost its process', { run: {}, isGone: true }, 'dead', 'dead'],
  ['was paused and has lost its process', { run: { paused: ADA }, isGone: true }, 'dead', 'dead'],
  ['is paused', { run: { paused: ADA } }, 'held', 'paused'],
  ['is paused, as is all', { run: { paused: ADA }, account: { isPaused: true } }, 'held', 'paused'],
  ['is paused at the limit', { run: { paused: ADA }, account: USED_UP }, 'held', 'paused'],
  ['has all spending paused', { run: {}, account: { isPaused: true } }, 'held', 'waiting', 'paused'],
  ['reads while all is paused', { run: READING, account: { isPaused: true } }, 'held', 'waiting', 'paused'],
  ['has used up the limit', { run: {}, account: USED_UP }, 'held', 'waiting', 'used up'],
  ['was refused for quota', { run: {}, account: { closedAt: NOW } }, 'held', 'waiting', 'closed'],
  ['is at its own cap', { run: AT_CAP }, 'held', 'waiting', 'capped'],
  ['is below its own cap', { run: { ...AT_CAP, tally: { requests: 4 } } }, 'running', 'running'],
  ['is done at its own cap', { run: { ...AT_CAP, tally: DONE } }, 'running', 'running'],
  ['is done at the limit', { run: { tally: DONE }, account: USED_UP }, 'running', 'running'],
  ['is of another account', { run: OTHER, account: USED_UP }, 'running', 'running'],
  ['is of one at its limit', { run: OTHER, others: { other: 'used up' } }, 'held', 'waiting', 'used up'],
  ['is of one, all paused', { run: OTHER, account: { isPaused: true } }, 'held', 'waiting', 'paused'],
  ['completed', { run: { status: 'completed', tally: DONE } }, 'finished', 'finished'],
  ['stopped', { run: stoppedBy(HALTS.limit), account: USED_UP }, 'stopped', 'stopped'],
  ['is held for a person', { run: stoppedBy(HALTS.unmatched) }, 'stopped', 'waiting'],
  ['was cancelled', { run: { status: 'cancelled' } }, 'cancelled', 'cancelled'],
])('a run that %s', (_, { run: parts, account, others = {}, isGone = false }, standing, state, hold) => {
  const run = runRecord(parts);
  const data = dashboardData({
    runs: [run],
    ...(account && accountParts(account, 'free')),
    otherHolds: new Map(Object.entries(others)),
    gone: new Set(isGone ? [run.id] : []),
  });
  const why = hold === undefined ? {} : { why: { type: 'held', hold } };
  expect(judgeRuns(data)).toMatchObject([{ standing, state, ...why }]);
});

it('a run waits behind live runs, not behind one whose process is gone', () => {
  const first = runRecord({ id: 'first', asOf: NOW - 60_000, label: { host: 'h', name: 'first.csv' } });
  const second = runRecord({ id: 'second', asOf: NOW - 30_000 });
  const queuedOf = (gone: string[]) => {
    const judged = judgeRuns(dashboardData({ runs: [second, first], gone: new Set(gone) }));
    return judged.find(({ run }) => run.id === 'second')?.why;
  };
  expect(queuedOf([])).toEqual({ type: 'queued', behind: 'queued behind first.csv' });
  expect(queuedOf(['first'])).toBeNull();
});
