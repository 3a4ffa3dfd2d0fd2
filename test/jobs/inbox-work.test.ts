/** What a start of a file has: its settings, and what its record says. */
import { expect, it } from 'vitest';
import { knownRecord, recordOfStart, settingsOfStart } from '../../src/jobs/inbox-work.js';
import type { JobRecord, ParkState } from '../../src/jobs/job-folder.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { runRecord } from '../dashboard/views.js';

const RECORD: JobRecord = {
  id: 'j-0000000000000001',
  run: 'r-0',
  file: 'list.csv',
  reason: null,
  parked: null,
};
const LOST: JobRecord = { ...RECORD, run: null, isDerived: true };
const ADA = { by: 'ada@office', at: 1_000 };
const { settings } = loadSettings({
  flags: { minMatch: '50%' },
  env: { BRAND_API_URL: 'https://api.example.com', BRAND_API_TOKEN: 'sesame-open' },
  file: null,
  command: 'watch',
  home: '/home/ada',
});

it.each([
  ['has its own cap without a trial', { maxRequests: 9, trial: null }, false, { maxRequests: 9 }],
  ['has the cap of its trial', { maxRequests: 9, trial: 5 }, false, { maxRequests: 5, trial: 5 }],
  ['has the lower cap in a trial', { maxRequests: 3, trial: 5 }, false, { maxRequests: 3, trial: 5 }],
  ['has no other cap in a trial', { maxRequests: null, trial: 5 }, false, { maxRequests: 5, trial: 5 }],
  [
    'has its own cap, and no question, when the rest is ordered',
    { maxRequests: 9, trial: 5 },
    true,
    { maxRequests: 9, trial: null, minMatch: 0 },
  ],
])('a file %s', (_, changes, isTried, expected) => {
  const asked = { ...settings, ...changes };
  expect(settingsOfStart(asked, isTried)).toEqual({ ...asked, ...expected });
});

it.each([
  ['is parked no longer for its pause', 'paused', 'again'],
  ['is still parked for another reason', 'limit', 'limit'],
] as const)('a file that starts %s', (_, before, after) => {
  const parkedFor = (why: ParkState['why']) => ({ at: 2, since: 1, state: { why, capMark: null } });
  const record = { ...RECORD, parked: parkedFor(before) };
  expect(recordOfStart(record, 'r-1')).toEqual({ ...RECORD, run: 'r-1', parked: parkedFor(after) });
});

const named = (id: string, name: string, order: object = {}, owner = `j-${id}`) =>
  runRecord({ id, job: `j-${id}`, owner, label: { host: 'etl-1', name }, ...order });

it.each([
  ['the newest run of its name', [named('3', 'list.csv', { paused: ADA }), named('2', 'list.csv')], '3'],
  ['a cancelled run', [named('9', 'other.csv'), named('3', 'list.csv', { cancelled: ADA })], '3'],
  ['no run without an order', [named('3', 'list.csv'), named('2', 'list.csv', { paused: ADA })], null],
  ['no run of another name', [named('3', 'other.csv', { paused: ADA })], null],
  ['no run of a command or a schedule', [named('3', 'list.csv', { paused: ADA }, 'key')], null],
])('a file whose record was lost is known by %s', (_, runs, id) => {
  const known = id === null ? {} : { id: `j-${id}`, run: id };
  expect(knownRecord(LOST, runs)).toStrictEqual({ ...RECORD, run: null, ...known });
});
