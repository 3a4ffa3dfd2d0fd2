import { expect, it } from 'vitest';
import type { Log } from '../../src/core/log.js';
import type { EnrichProgress } from '../../src/run/enrich-request.js';
import type { SpendingQuestion } from '../../src/run/lookups/spending.js';
import { createLogView, createStanding } from '../../src/run/run-view.js';
import { ledgerState } from './ledger-state.js';

const NEAR = ledgerState({ quota: 100, sent: 80 });

/** May use most of the quota that is left. */
const QUESTION: SpendingQuestion = {
  requests: 5,
  withinQuota: 5,
  overageRequests: 0,
  maxCost: '0',
  deferred: 0,
  quotaLeft: 9,
  trial: null,
};

function progress(some: Partial<EnrichProgress> = {}): EnrichProgress {
  const none = { run: null, ledger: null, inFlight: 0, outage: null };
  return { runId: 'r', phase: 'asking', rows: 1, wanted: 1, answered: 0, ...none, ...some };
}

/** A log that records what it is given: level, file and message. */
function keptLog(): { readonly log: Log; readonly lines: unknown[][] } {
  const lines: unknown[][] = [];
  const keep = (level: string) => (first: { file?: string } | string, sentence?: string) =>
    lines.push(typeof first === 'string' ? [level, first] : [level, ...Object.values(first), sentence]);
  return { log: { info: keep('info'), warn: keep('warn') } as unknown as Log, lines };
}

it('logs an outage, its end and a near limit once, however many runs report them', () => {
  const { log, lines } = keptLog();
  const standing = createStanding(log, null);
  const views = ['a.csv', 'b.csv'].map((file) => createLogView(log, { file }, standing));
  for (const some of [{ outage: 'status 503' }, {}, { ledger: NEAR }])
    for (const view of views) view.update(progress(some));
  expect(lines).toEqual([
    ['warn', 'status 503', 'the service is unavailable'],
    ['info', 'the service is available again'],
    ['warn', '80 % of the limit is used'],
  ]);
});

it('learns of an outage from the shared worker before any run reports it', () => {
  const { log, lines } = keptLog();
  createStanding(log, { outage: 'status 503' })(progress());
  expect(lines).toEqual([['warn', 'status 503', 'the service is unavailable']]);
});

it('names the run, keeps warnings apart, and logs the cost before it is spent', async () => {
  const { log, lines } = keptLog();
  const view = createLogView(log, { file: 'a.csv' }, createStanding(log, null));
  view.notice('detected: CSV');
  view.warn('parked');
  const some = { withinQuota: 3, overageRequests: 2, maxCost: '0.2' };
  expect(await view.confirm({ ...QUESTION, ...some })).toBe(true);
  expect(lines).toEqual([
    ['info', 'a.csv', 'detected: CSV'],
    ['warn', 'a.csv', 'parked'],
    ['info', 'a.csv', 5, 2, '0.2', 'starting lookups'],
  ]);
});

it('a log reports a run that may use most of the quota left, and does not continue after a trial', async () => {
  const { log, lines } = keptLog();
  const view = createLogView(log, { file: 'a.csv' }, createStanding(log, null));
  expect(await view.confirm(QUESTION)).toBe(true);
  expect(lines).toEqual([
    ['info', 'a.csv', 5, 0, '0', 9, 'starting lookups: more than half of the quota left'],
  ]);
  const trial = { isRequested: true, counts: {}, brands: [] };
  expect(await view.confirm({ ...QUESTION, trial })).toBe(false);
});
