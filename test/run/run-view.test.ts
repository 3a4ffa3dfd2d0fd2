/** What a run shows in a log: its sentences, outages, and a limit that is near. */
import { expect, it } from 'vitest';
import type { Log } from '../../src/core/log.js';
import type { EnrichProgress } from '../../src/run/enrich-request.js';
import { createLogView, createStanding } from '../../src/run/run-view.js';
import { ledgerState } from './ledger-state.js';

const NEAR = ledgerState({ quota: 100, sent: 80 });

function progress(some: Partial<EnrichProgress> = {}): EnrichProgress {
  const none = { run: null, ledger: null, inFlight: 0, trouble: null };
  return { runId: 'r', phase: 'asking', rows: 1, wanted: 1, answered: 0, ...none, ...some };
}

/** A log that keeps what it is given: level, file and sentence. */
function keptLog(): { readonly log: Log; readonly lines: unknown[][] } {
  const lines: unknown[][] = [];
  const keep = (level: string) => (first: { file?: string } | string, sentence?: string) =>
    lines.push(typeof first === 'string' ? [level, first] : [level, ...Object.values(first), sentence]);
  return { log: { info: keep('info'), warn: keep('warn') } as unknown as Log, lines };
}

it('a log has a line for an outage, for its end, and for a limit that is near, however many runs show it', () => {
  const { log, lines } = keptLog();
  const standing = createStanding(log, null);
  const views = ['a.csv', 'b.csv'].map((file) => createLogView(log, { file }, standing));
  for (const some of [{ trouble: 'status 503' }, {}, { ledger: NEAR }])
    for (const view of views) view.update(progress(some));
  expect(lines).toEqual([
    ['warn', 'status 503', 'the service is unavailable'],
    ['info', 'the service is available again'],
    ['warn', '80 % of the limit is used'],
  ]);
});

it('the worker that runs share knows of an outage before they have asked', () => {
  const { log, lines } = keptLog();
  createStanding(log, { trouble: 'status 503' })(progress());
  expect(lines).toEqual([['warn', 'status 503', 'the service is unavailable']]);
});

it('a log names the run, keeps warnings apart, and has the cost before it is spent', async () => {
  const { log, lines } = keptLog();
  const view = createLogView(log, { file: 'a.csv' }, createStanding(log, null));
  view.notice('detected: CSV');
  view.warn('parked');
  const estimate = {
    requests: 5,
    withinQuota: 3,
    overageRequests: 2,
    maxCost: '0.2',
    deferred: 0,
    quotaLeft: 9,
    trial: null,
  };
  expect(await view.confirm(estimate)).toBe(true);
  expect(lines).toEqual([
    ['info', 'a.csv', 'detected: CSV'],
    ['warn', 'a.csv', 'parked'],
    ['info', 'a.csv', 5, 2, '0.2', 'asking the service'],
  ]);
});

it('a log says when a run may use most of what is left of the quota, and goes no further than a trial', async () => {
  const { log, lines } = keptLog();
  const view = createLogView(log, { file: 'a.csv' }, createStanding(log, null));
  const question = {
    requests: 5,
    withinQuota: 5,
    overageRequests: 0,
    maxCost: '0',
    deferred: 0,
    quotaLeft: 9,
  };
  expect(await view.confirm({ ...question, trial: null })).toBe(true);
  expect(lines).toEqual([
    ['info', 'a.csv', 5, 0, '0', 9, 'asking the service for more than half of what is left of the quota'],
  ]);
  expect(await view.confirm({ ...question, trial: { isAsked: true, counts: {}, brands: [] } })).toBe(false);
});
