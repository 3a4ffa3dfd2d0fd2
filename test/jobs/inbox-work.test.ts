/** What a start of a file has: its settings, and what its record says. */
import { expect, it } from 'vitest';
import { recordOfStart, settingsOfStart } from '../../src/jobs/inbox-work.js';
import type { JobRecord, ParkState } from '../../src/jobs/job-folder.js';
import { loadSettings } from '../../src/settings/load-settings.js';

const RECORD: JobRecord = {
  id: 'j-0000000000000001',
  run: 'r-0',
  file: 'list.csv',
  reason: null,
  parked: null,
};
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
