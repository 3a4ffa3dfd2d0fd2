/** The live runs that another run is queued behind. */
import { expect, test } from 'vitest';
import { queuedText, type RunRecord, runsBefore } from '../../../src/engine/stores/run-store.js';
import { NOW, runRecord } from '../../dashboard/views.js';

const big = runRecord({
  id: 'big',
  label: { host: 'etl-1', name: 'big.csv' },
  identifiers: 5_000,
  tally: { matched: 300, requests: 300 },
});
const small = runRecord({ id: 'small', asOf: NOW - 1_000, identifiers: 20 });

test.each<[string, Partial<RunRecord>, Partial<RunRecord>, boolean]>([
  ['an older one with lookups left', {}, {}, true],
  ['one that is being read', { identifiers: null }, {}, true],
  ['one that is answered', { identifiers: 300 }, {}, false],
  ['one that has ended', { status: 'completed' }, {}, false],
  ['one that is paused', { paused: { by: 'ada', at: 1 } }, {}, false],
  ['nobody while it is paused', {}, { paused: { by: 'ada', at: 1 } }, false],
  ['a dead one', { heartbeatAt: NOW - 3_600_000 }, {}, false],
  ['a younger one', { asOf: NOW }, {}, false],
  ['one of another account', { settings: { ...big.settings, account: 'other' } }, {}, false],
  ['nobody once its first request is sent', {}, { tally: { ...small.tally, requests: 1 } }, false],
])('a run is queued behind %s: %o %o is %s', (_what, one, own, isQueued) => {
  const run = { ...small, ...own };
  expect(runsBefore(run, [run, { ...big, ...one }], NOW)).toHaveLength(isQueued ? 1 : 0);
});

test('the text has the first name and a count', () => {
  expect(queuedText([])).toBeNull();
  expect(queuedText([big])).toBe('queued behind big.csv');
  expect(queuedText([big, small, small])).toBe('queued behind big.csv and 2 others');
});
