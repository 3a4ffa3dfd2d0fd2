/** The status word and the sentence at the top of the page. */
import { describe, expect, it } from 'vitest';
import type { DashboardData } from '../../../src/daemon/dashboard/gather-dashboard.js';
import { headlineOf, verdictOf } from '../../../src/daemon/dashboard/overview.js';
import { accountParts, dashboardData, dashboardView, emptyView, NOW, runRecord } from './views.js';

const withData = (parts: Partial<DashboardData>) => dashboardView({ data: dashboardData(parts) });

describe('the status word', () => {
  it.each([
    ['Working', dashboardView()],
    ['Service unavailable', dashboardView({ serviceOutage: 'status 503' })],
    ['Paused', { ...withData(accountParts({ isPaused: true })), serviceOutage: 'status 503' }],
    ['Idle', emptyView()],
    ['Idle', withData({ runs: [runRecord({ beatAt: NOW - 60_000 })] })],
    ['Stopping', dashboardView({ isStopping: true, outageNoticedAt: NOW })],
    ['Engine unavailable', dashboardView({ outageNoticedAt: NOW })],
    ['Engine unavailable', dashboardView({ data: null, outageNoticedAt: NOW })],
    ['Starting', dashboardView({ data: null })],
    ['Paused', withData(accountParts({ quota: 10, sent: 10, isPaused: true, closedAt: 1 }))],
    ['Account closed', withData(accountParts({ quota: 10, closedAt: 1 }))],
    ['Limit used up', withData(accountParts({ quota: 10, sent: 10 }, 'free'))],
  ])('%s', (label, view) => {
    expect(verdictOf(view)[0]).toBe(label);
  });
});

describe('the status sentence', () => {
  it.each([
    ['No run is active.', emptyView().data],
    ['1 run is active, 1 run is dead, 1 file waits and 9,780 requests are left.', dashboardData()],
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
