import { expect, it } from 'vitest';
import { schedulesText } from '../../src/commands/schedule.js';
import { scheduleState } from '../dashboard/views.js';

const NOW = Date.parse('2026-01-14T12:00:00Z');
const HOUR_MS = 3_600_000;
const NEW = { host: 'mill', schedule: { host: 'mill' }, nextAt: NOW + HOUR_MS, ended: null, runs: [] };

const text = (changes: Parameters<typeof scheduleState>[0] = {}) =>
  schedulesText([scheduleState({ ...NEW, ...changes })], { host: 'mill', now: NOW });

const TICK = { dueAt: NOW, at: NOW + 1 };
const ENDED = {
  dueAt: null,
  startedAt: NOW,
  endedAt: NOW,
  exitCode: 7,
  sentence: '3 rows',
  output: '/o.csv',
};

it.each([
  ['the next tick in the time zone of the schedule', {}, /next {5}2026-01-14 14:00:00 Europe\/Berlin/],
  ['a tick that no runner took', { nextAt: NOW - HOUR_MS }, /was due 2026-01-14 12:00:00 Europe\/Berlin/],
  ['a scheduled job that is not set', { nextAt: null }, /unknown until a schedule runner/],
  ['a host that is there', {}, /host {5}mill \(this machine\)\n/],
  ['a host that is unavailable', { isHostOffline: true }, /mill \(this machine\), not running: start /],
  ['that nothing was run', {}, /last {5}none yet/],
  ['the last result', { ended: ENDED }, /exit code 7: 3 rows, \/o\.csv/],
  ['what runs', { isRunning: true }, /now {6}running/],
  ['a skipped tick', { passed: { why: 'skipped', ...TICK } }, /skipped {2}.*still running/],
  ['one elsewhere', { schedule: null, host: 'press' }, /runs {5}what press defines\n {2}host {5}press\n/],
  [
    'one that no machine defines',
    { schedule: null, isMissing: true },
    /runs {5}nothing: definition missing on mill; brand-enrich schedule remove nightly removes it/,
  ],
  ['a missed tick', { passed: { why: 'missed', ...TICK } }, /missed {3}.*no schedule runner was active/],
] as const)('prints %s', (_, changes, expected) => {
  expect(text(changes)).toMatch(expected);
});

it('omits a missed tick that a later run has followed', () => {
  expect(text({ ended: ENDED, passed: { why: 'missed', dueAt: NOW - 2, at: NOW - 1 } })).not.toMatch(
    /missed/,
  );
});

it('says so when there is no schedule', () => {
  expect(schedulesText([], { host: 'mill', now: NOW })).toBe('no schedules\n');
});
