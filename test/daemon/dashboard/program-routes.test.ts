/** What a program reads of a run, by where its file is and what its record says. */
import { describe, expect, it } from 'vitest';
import { programRun } from '../../../src/daemon/dashboard/program-routes.js';
import { judgeRuns } from '../../../src/facts/judge-runs.js';
import type { EndedJob } from '../../../src/jobs/ended-jobs.js';
import type { Started } from '../../../src/jobs/find-started.js';
import { faultsOf } from '../../support/schemas.js';
import { dashboardData, NOW, runRecord } from './views.js';

const ORDER = { by: 'Ada', at: NOW };

function judged(parts: Parameters<typeof runRecord>[0]) {
  const [shown] = judgeRuns({ ...dashboardData({ runs: [runRecord(parts)] }), ledger: null });
  return shown ?? null;
}

function ended(
  place: EndedJob['place'],
  ...names: [name: string, type: EndedJob['files'][number]['type']][]
): Started {
  const files = names.map(([name, type]) => ({ name, type, size: 1 }));
  const reason = { headline: place === 'done' ? '' : 'why', details: '' };
  const at = { root: '/data', inbox: 0, place, folder: 'list-2026', endedAt: NOW };
  return {
    place: 'ended',
    job: {
      ...at,
      file: 'list.csv',
      reason,
      waitsFor: null,
      isAtOwnCap: false,
      under: undefined,
      runId: 'r-1',
      files,
    },
  };
}

const INBOX: Started = { place: 'inbox', root: '/in', file: 'list.csv' };
const PROCESSING: Started = { place: 'processing', root: '/in', file: 'list.csv', run: 'r-1' };
const LIVE = judged({});
const DONE = judged({ status: 'completed' });
const STOPPED = judged({ status: 'stopped', stop: { type: 'stopped' } });
const CANCELLED = judged({ status: 'cancelled', cancelled: ORDER });

describe('a run for programs', () => {
  it.each<[string, boolean, Started | null, ReturnType<typeof judged>]>([
    ['queued', false, INBOX, null],
    ['queued', false, INBOX, STOPPED],
    ['running', false, PROCESSING, null],
    ['running', false, PROCESSING, LIVE],
    ['paused', false, PROCESSING, judged({ paused: ORDER })],
    ['running', false, PROCESSING, judged({ settings: { maxRequests: 5 }, tally: { requests: 5 } })],
    // Its file has not moved yet.
    ['running', false, PROCESSING, DONE],
    ['waiting', false, ended('waiting'), STOPPED],
    [
      'paused',
      false,
      ended('waiting'),
      judged({ status: 'stopped', stop: { type: 'stopped' }, paused: ORDER }),
    ],
    ['finished', true, ended('done'), DONE],
    ['finished', true, ended('done'), null],
    ['failed', true, ended('failed'), null],
    ['failed', true, ended('failed'), STOPPED],
    ['cancelled', true, ended('failed'), CANCELLED],
    ['running', false, null, LIVE],
    ['finished', true, null, DONE],
    ['stopped', true, null, STOPPED],
    ['dead', true, null, judged({ heartbeatAt: NOW - 3_600_000 })],
  ])('is %s (ended: %s)', (state, isEnded, started, shown) => {
    const run = programRun('j-1', started, shown);
    expect([run.state, run.isEnded]).toEqual([state, isEnded]);
    expect(faultsOf('run', { version: 1, ...run })).toEqual([]);
  });

  it('leads to the files of its folder, whatever their names', () => {
    const place = ended('done', ['Kunden 1#?.enriched.csv', 'output'], ['a.report.html', 'page']);
    expect(programRun('j-1', place, DONE).links).toEqual({
      run: '/runs/j-1.json',
      page: `/runs/${DONE?.run.id}`,
      output: '/inboxes/0/done/list-2026/Kunden%201%23%3F.enriched.csv',
      partial: null,
      errors: null,
      report: null,
      reportPage: '/inboxes/0/done/list-2026/a.report.html',
    });
  });
});
