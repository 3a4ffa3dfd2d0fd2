import { expect, it } from 'vitest';
import type { Log } from '../../src/core/log.js';
import { phrase } from '../../src/core/phrase.js';
import type { EnrichProgress, RunEvent } from '../../src/run/enrich-request.js';
import type { SpendingQuestion } from '../../src/run/lookups/spending.js';
import { createLogView, createStanding } from '../../src/run/run-view.js';
import { runSettings } from '../engine/contract/run-settings.js';
import { HALTS } from '../support/halts.js';
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

function progress(some: Partial<EnrichProgress> = {}) {
  const record = { id: 'r', settings: runSettings() };
  const none = { isParked: false, run: null, ledger: null, inFlight: 0, outage: null, queued: null };
  return { type: 'progress' as const, record, wanted: 1, answered: 0, ...none, ...some } satisfies RunEvent;
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
    for (const view of views) view(progress(some));
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

it('names the run, keeps warnings apart, and logs the cost before it is spent', () => {
  const { log, lines } = keptLog();
  const view = createLogView(log, { file: 'a.csv' }, createStanding(log, null));
  view({ type: 'notice', text: 'detected: CSV' });
  view({ type: 'notice', text: 'waiting for a reader', isWarning: true });
  view({ type: 'parked', halt: HALTS.limit, ledger: null });
  const some = { withinQuota: 3, overageRequests: 2, maxCost: '0.2' };
  view({ type: 'estimated', question: { ...QUESTION, ...some } });
  view({ type: 'estimated', question: QUESTION });
  expect(lines).toEqual([
    ['info', 'a.csv', 'detected: CSV'],
    ['warn', 'a.csv', 'waiting for a reader'],
    ['warn', 'a.csv', 'parked: the quota is used up; the run continues when it can spend again'],
    ['info', 'a.csv', 5, 2, '0.2', 'starting lookups'],
    ['info', 'a.csv', 5, 0, '0', 9, 'starting lookups: more than half of the quota left'],
  ]);
});

it('names settings as its reader does', () => {
  const { log, lines } = keptLog();
  const text = phrase`raise ${{ setting: 'maxRequests' }}`;
  for (const reader of ['terminal', 'inbox', 'program'] as const)
    createLogView(log, {}, createStanding(log, null), reader)({ type: 'notice', text });
  const named = ['--max-requests', 'maxRequests', 'maxRequests'];
  expect(lines).toEqual(named.map((name) => ['info', `raise ${name}`]));
  const reached = { name: 'maxRequests', maxRequests: 5 } as const;
  createLogView(
    log,
    {},
    createStanding(log, null),
    'program',
  )({ ...{ type: 'parked', halt: { why: 'limit', reached }, ledger: null } });
  expect(lines.at(-1)?.join()).toMatch(/parked: maxRequests 5/);
});
