/** The status word and the sentence at the top of the page. */
import { describe, expect, it } from 'vitest';
import type { DashboardData } from '../../../src/daemon/dashboard/gather-dashboard.js';
import { Banners, headlineOf, silenceOf, verdictOf } from '../../../src/daemon/dashboard/overview.js';
import { htmlOf } from '../../../src/pages/page.js';
import { accountParts, dashboardData, dashboardView, emptyView, NOW, runRecord } from './views.js';

const withData = (parts: Partial<DashboardData>) => dashboardView({ data: dashboardData(parts) });

describe('the status word', () => {
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
  ])('%s', (label, view) => {
    expect(verdictOf(view)[0]).toBe(label);
  });
});

describe('the status sentence', () => {
  it.each([
    ['No run is active.', emptyView().data],
    [
      '1 run is active, 1 run is dead, 1 file waits and 9,780 requests are left. Last answer just now.',
      dashboardData(),
    ],
    [
      'No run is active and no request is left.',
      dashboardData({ runs: [], inboxes: [], ...accountParts({ quota: 5, others: 9 }, 'free') }),
    ],
    [
      '2 runs are active and 1 request is left.',
      dashboardData({
        runs: [runRecord(), runRecord()],
        inboxes: [{ folder: '/gone', closed: null, queued: [], inProgress: [], waiting: null }],
        ...accountParts({ quota: 5, sent: 4 }, 'free'),
      }),
    ],
  ])('%s', (sentence, data) => {
    expect(data && headlineOf(data)).toBe(sentence);
  });
});

describe('the last answer of the service', () => {
  const HOUR = 3_600_000;
  const began = (agoMs: number) => [runRecord({ asOf: NOW - agoMs })];
  it.each<[string, Partial<DashboardData>, ReturnType<typeof silenceOf>]>([
    [
      'is dated while requests are in flight',
      accountParts({ held: 3, answeredAt: NOW - 55_000 }),
      { ms: 55_000, hasAnswered: true, isLong: true },
    ],
    ['is of no interest while nothing is in flight', accountParts({ answeredAt: NOW - HOUR }), null],
    [
      'is of no interest without an active run',
      {
        runs: [runRecord({ heartbeatAt: NOW - HOUR })],
        ...accountParts({ held: 3, answeredAt: NOW - HOUR }),
      },
      null,
    ],
    [
      'is of no interest while spending is paused',
      accountParts({ held: 3, isPaused: true, answeredAt: NOW - HOUR }),
      null,
    ],
    [
      'is of no interest to runs of another account',
      { runs: [runRecord({ settings: { account: 'other' } })], ...accountParts({ held: 3 }) },
      null,
    ],
    [
      'counts from the start of the run, when it is from before',
      { runs: began(2_000), ...accountParts({ held: 3, answeredAt: NOW - HOUR }) },
      { ms: 2_000, hasAnswered: false, isLong: false },
    ],
    [
      'counts from the start of the run, when there is none',
      { runs: began(31_000), ...accountParts({ held: 3 }) },
      { ms: 31_000, hasAnswered: false, isLong: true },
    ],
  ])('%s', (_, parts, silence) => {
    expect(silenceOf(dashboardData(parts))).toEqual(silence);
  });

  it.each<[Partial<DashboardData>, string | null, string | null]>([
    [
      accountParts({ held: 3, answeredAt: NOW - 55_000 }),
      'Last answer 55 s ago.',
      'The service last answered 55 s ago; 3 requests in flight.',
    ],
    [accountParts({ held: 3, answeredAt: NOW - 12_000 }), 'Last answer 12 s ago.', null],
    [
      { runs: began(90_000), ...accountParts({ held: 1 }) },
      'No answer for 1 min.',
      'The service has not answered for 1 min; 1 request in flight.',
    ],
    [{ runs: began(5_000), ...accountParts({ held: 1 }) }, null, null],
  ])('is said in the sentence, and in a warning from 30 s on', (parts, sentence, warning) => {
    const data = dashboardData(parts);
    const plain = (text: string) => text.replaceAll('\u00a0', ' ');
    const [, said = null] = /\. (.*)$/.exec(plain(headlineOf(data))) ?? [];
    expect(said).toBe(sentence);
    const shown = plain(htmlOf(Banners({ view: dashboardView({ data }) })));
    if (warning === null) expect(shown).not.toContain('answered');
    else expect(shown).toContain(warning);
  });
});
