/** What an engine answers for a run, if it is one of ours; else it is damaged. */
import { expect, test } from 'vitest';
import { failureReasonOf, pausesOf, progressOf, runOf } from '../../src/engine/run-shapes.js';
import type { FailureReason, RunStop } from '../../src/stores/run-reasons.js';
import { NO_TALLY } from '../../src/stores/run-store.js';
import { HALTS } from '../support/halts.js';
import { runSettings } from './contract/run-settings.js';

const SETTINGS = runSettings();
const STOP: RunStop = { type: 'halted', halt: HALTS.unreachable };
const RUN = {
  id: 'r-1',
  key: 'k',
  label: 'etl-1: a.csv',
  job: 'j',
  owner: 'o',
  settings: JSON.stringify(SETTINGS),
  asOf: 1,
  keyStartedAt: 1,
  heartbeatAt: 1,
  endedAt: null,
  status: 'running',
  paused: null,
  cancelled: null,
  stop: JSON.stringify(STOP),
  rows: null,
  identifiers: 7,
  tally: NO_TALLY,
  spent: 0,
  overageBilled: 0,
  hasEarlierFailures: false,
};
const PROGRESS = {
  chunks: 1,
  tally: NO_TALLY,
  halt: JSON.stringify(HALTS.limit),
  isCancelled: false,
  isPaused: false,
  isPausedAlone: false,
};
const JUNK = [undefined, null, '', 'x', Number.NaN, 1e300, [], {}, true, () => 1];

test('a run of ours is read whole, with fields that are new', () => {
  expect(runOf({ ...RUN, later: 1 })).toEqual({ ...RUN, later: 1, settings: SETTINGS, stop: STOP });
  expect(runOf({ ...RUN, stop: null })?.stop).toBeNull();
  expect(progressOf(PROGRESS)).toEqual({ ...PROGRESS, halt: HALTS.limit });
  const pause = { by: 'ada@mill', at: 1, owner: 'o', label: 'l', run: null };
  expect(pausesOf([pause, { ...pause, at: 1e300 }, null, 'x'])).toEqual([pause]);
  expect(pausesOf(null)).toEqual([]);
});

test('anything else is damaged, and never throws', () => {
  for (const junk of JUNK) expect([runOf(junk), progressOf(junk), pausesOf(junk)]).toEqual([null, null, []]);
  const text = ['id', 'key', 'label', 'job', 'owner', 'settings', 'status'];
  for (const name of text) expect([name, runOf({ ...RUN, [name]: 7 })]).toEqual([name, null]);
  for (const name of ['asOf', 'keyStartedAt', 'heartbeatAt', 'endedAt'])
    for (const at of [-1, Number.NaN, 1e300, 'x'])
      expect([name, runOf({ ...RUN, [name]: at })]).toEqual([name, null]);
  for (const settings of ['', '{', 'null', '[]', '7', '{}', JSON.stringify({ ...SETTINGS, service: {} })])
    expect([settings, runOf({ ...RUN, settings })]).toEqual([settings, null]);
  expect(runOf({ ...RUN, status: 'constructor' })).toBeNull();
  expect(runOf({ ...RUN, tally: { ...NO_TALLY, billed: 'x' } })).toBeNull();
  for (const text of ['', '{', '[]', '7', '{"type":"toString"}', '{"type":"halted","halt":{"why":"limit"}}'])
    expect([text, runOf({ ...RUN, stop: text })]).toEqual([text, null]);
  for (const text of ['', 'null', '{"why":"toString"}', '{"why":"limit","reached":{"name":"quota"}}'])
    expect([text, progressOf({ ...PROGRESS, halt: text }), failureReasonOf(text)]).toEqual([
      text,
      null,
      { code: 'unknown' },
    ]);
});

test.each(Object.values(HALTS))('a halt comes back as it was: %j', (halt) => {
  expect(progressOf({ ...PROGRESS, halt: JSON.stringify(halt) })?.halt).toEqual(halt);
});

test.each<FailureReason>([
  { code: 'answer', text: 'the service answered 410' },
  { code: 'damaged' },
  { code: 'unknown' },
  { code: 'unavailable' },
  { code: 'lost' },
  { code: 'unproven', text: 'the service answered 404', saysNotFound: true },
  { code: 'foreign', text: 'the service answered 301' },
])('a reason comes back as it was: %j', (reason) => {
  expect(failureReasonOf(JSON.stringify(reason))).toEqual(reason);
});
