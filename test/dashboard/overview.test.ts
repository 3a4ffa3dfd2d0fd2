/** The top of the page: status word, what needs a person, and what hinders the work. */
import { describe, expect, it } from 'vitest';
import type { DashboardData } from '../../src/dashboard/gather-dashboard.js';
import { Banners, needsOf, verdictOf } from '../../src/dashboard/overview.js';
import { CANCELLED } from '../../src/jobs/job-folder.js';
import { htmlOf } from '../../src/run/report/kit/page.js';
import { HALTS } from '../support/halts.js';
import {
  accountParts,
  crowdedView,
  dashboardData,
  dashboardView,
  ENDED_WELL as ENDED,
  emptyView,
  foundFile,
  inboxState,
  NOW,
  renderParts,
  runRecord,
  scheduleState,
  VIEWER,
  waitingFile,
} from './views.js';

const withData = (parts: Partial<DashboardData>) => dashboardView({ data: dashboardData(parts) });

it.each([
  ['Working', dashboardView()],
  ['Service unavailable', dashboardView({ serviceOutage: 'status 503' })],
  ['Paused', { ...withData(accountParts({ isPaused: true })), serviceOutage: 'status 503' }],
  ['Idle', emptyView()],
  ['Idle', withData({ runs: [runRecord({ heartbeatAt: NOW - 60_000 })] })],
  ['Stopping', dashboardView({ isStopping: true, outageNoticedAt: NOW })],
  ['Engine unavailable', dashboardView({ outageNoticedAt: NOW })],
  ['Engine unavailable', dashboardView({ data: null, outageNoticedAt: NOW })],
  ['Starting', dashboardView({ data: null })],
  ['Paused', withData(accountParts({ quota: 10, sent: 10, isPaused: true, closedAt: 1 }))],
  ['No answers', withData(accountParts({ quota: 10, held: 1, answeredAt: NOW - 30_000 }))],
  ['Working', withData(accountParts({ quota: 10, held: 1, answeredAt: NOW - 29_999 }))],
  ['Quota reached', withData(accountParts({ quota: 10, closedAt: 1 }))],
  ['Limit used up', withData(accountParts({ quota: 10, sent: 10 }, 'free'))],
])('the status word is %s', (label, view) => {
  expect(verdictOf(view)[0]).toBe(label);
});

const WAITING = ['limit', 'unreachable', 'throttled', 'tried', 'again', 'paused'] as const;
const CANCELLED_REASON = { headline: 'Cancelled by ada.', details: '', code: CANCELLED };

describe('what needs a person', () => {
  const dead = runRecord({ id: 'r-dead', heartbeatAt: NOW - 60_000 });
  const withInbox = (parts: Parameters<typeof inboxState>[0]) => ({ inboxes: [inboxState(parts)] });
  const QUIET = { runs: [], schedules: [], ...withInbox({}) };
  const cancelled = foundFile({ reason: CANCELLED_REASON });

  it.each<[string, Partial<DashboardData>, string[]]>([
    ['nothing', {}, []],
    ['failed files', { failed: [{ count: 5, cancelled: 0, files: [] }] }, ['5 files failed: #files, bad']],
    ['none that a person cancelled', { failed: [{ count: 1, cancelled: 1, files: [cancelled] }] }, []],
    [
      'files that wait, for a person first; those whose turn comes are not meant',
      withInbox({
        waiting: [
          ...WAITING.map((why) => waitingFile(why)),
          waitingFile('limit', { state: { why: 'limit', capMark: '40' } }),
        ],
      }),
      ['2 files wait for your decision: #files, warn', '3 files wait: #files, warn'],
    ],
    ['a dead run, by its page', { runs: [dead] }, ['1 run is dead: /runs/r-dead, bad']],
    ['two dead runs', { runs: [dead, { ...dead, id: 'r-2', key: 'b' }] }, ['2 runs are dead: #files, bad']],
    ['no dead run whose file was started again', { runs: [runRecord({ asOf: NOW }), dead] }, []],
    [
      'an inbox that takes nothing',
      withInbox({ closed: 'x', waiting: null }),
      // One cause is one line.
      ['1 inbox is closed: #files, bad'],
    ],
    ['an inbox that cannot be read', withInbox({ waiting: null }), ['1 inbox cannot be read: #files, bad']],
    [
      'what is paused by hand; a paused schedule is its own matter',
      {
        pauses: ['j-1', 'schedule:q/nightly'].map((owner) => {
          return { by: 'ada', at: NOW, owner, label: { host: 'etl-1', name: 'a.csv' }, run: null };
        }),
      },
      ['1 file is paused: #files, warn'],
    ],
    [
      'schedules that did not do their work',
      {
        schedules: [
          scheduleState(),
          scheduleState({ isHostOffline: true }),
          scheduleState({ ended: { ...ENDED, exitCode: 7 } }),
          scheduleState({ ended: { ...ENDED, exitCode: 7 }, paused: { by: 'ada', at: 1 } }),
        ],
      },
      ['2 schedules need a look: #schedules, warn'],
    ],
    ['a run alone', { runs: [runRecord()], workers: [] }, ['No worker is running: #technical, bad']],
  ])('%s', (_, parts, needs) => {
    const data = dashboardData({ ...QUIET, ...parts });
    const found = needsOf({ data, uploads: { roots: [], received: [] } });
    expect(found.map(({ text, path, tone }) => `${text}: ${path}, ${tone}`)).toEqual(needs);
  });

  it('is linked to where it is on the page, and said to be nothing when it is', () => {
    const page = renderParts(crowdedView());
    const needs = page.slice(page.indexOf('<ul class="needs"'), page.indexOf('</ul>'));
    const links = [...needs.matchAll(/href="#(\w+)">([^<]+)/g)].map(([, id, text]) => [id, text]);
    expect(links).toEqual([
      ['files', '5 files failed'],
      ['files', '1 file waits'],
      ['sent', '5 sent files are not started'],
    ]);
    for (const [id] of links) expect(page).toContain(`id="${id}"`);
    expect(renderParts(emptyView())).toContain('Nothing needs your attention.');
  });
});

const HOUR = 3_600_000;
const began = (agoMs: number) => [runRecord({ asOf: NOW - agoMs })];
it.each<[string, Partial<DashboardData>, string | null]>([
  [
    'is dated while requests are in flight',
    accountParts({ held: 3, answeredAt: NOW - 55_000 }),
    'The service last answered 55 s ago; 3 lookups without an answer yet.',
  ],
  ['is nothing within 30 s', accountParts({ held: 3, answeredAt: NOW - 29_000 }), null],
  ['is nothing while nothing is in flight', accountParts({ answeredAt: NOW - HOUR }), null],
  [
    'is nothing without an active run',
    { runs: [runRecord({ heartbeatAt: 1 })], ...accountParts({ held: 3, answeredAt: 1 }) },
    null,
  ],
  ['is nothing while spending is paused', accountParts({ held: 3, isPaused: true, answeredAt: 1 }), null],
  [
    'is nothing to runs of another account',
    { runs: [runRecord({ settings: { account: 'other' } })], ...accountParts({ held: 3 }) },
    null,
  ],
  [
    'counts from the start of the run, when the answer is from before',
    { runs: began(2_000), ...accountParts({ held: 3, answeredAt: NOW - HOUR }) },
    null,
  ],
  [
    'counts from the start of the run, when there is no answer',
    { runs: began(90_000), ...accountParts({ held: 1 }) },
    'The service has not answered for 1 min; 1 lookup without an answer yet.',
  ],
])('the silence of the service %s', (_, parts, warning) => {
  const data = dashboardData(parts);
  const shown = htmlOf(Banners({ view: dashboardView({ data }), viewer: VIEWER }));
  if (warning === null) expect(shown).not.toContain('answered');
  else expect(shown.replaceAll('\u00a0', ' ')).toContain(warning);
});

describe('a run without a match', () => {
  const shown = (run: Parameters<typeof runRecord>[0]) =>
    htmlOf(Banners({ view: withData({ runs: [runRecord(run)] }), viewer: VIEWER }));

  it.each([
    [19, 0, 0, 'running', false],
    [20, 0, 0, 'running', true],
    [500, 0, 0, 'running', true],
    [500, 1, 0, 'running', false],
    [500, 0, 1, 'running', false],
    [500, 0, 0, 'completed', false],
  ] as const)('%i not found, %i matched, %i stored, %s: a banner with Pause is %s', (...known) => {
    const [notFound, matched, stored, status, isShown] = known;
    const page = shown({ status, tally: { notFound, matched, stored, requests: notFound } });
    expect(page.includes(`: 0 of ${notFound} found. Is the column right?`)).toBe(isShown);
    expect(page.includes('action="/runs/r-20261120-8ce9ee49/pause"')).toBe(isShown);
  });

  it('waits for a person once it is held', () => {
    const data = dashboardData({
      runs: [runRecord({ status: 'stopped', stop: { type: 'halted', halt: HALTS.unmatched } })],
    });
    const needs = needsOf({ data, uploads: { roots: [], received: [] } });
    expect(needs).toContainEqual({ text: '1 run waits for your decision', path: '#files', tone: 'warn' });
  });
});
