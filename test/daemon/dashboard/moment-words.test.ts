/** Moments and spans in words. */
import { expect, it } from 'vitest';
import {
  agoText,
  clockText,
  dayText,
  spanText,
  weekdayText,
} from '../../../src/daemon/dashboard/moment-words.js';

const SECOND = 1_000;
const HOUR = 3_600_000;

it.each([
  [-5, '0 s'],
  [59_999, '59 s'],
  [60_000, '1 min'],
  [HOUR - 1, '59 min'],
  [HOUR, '1 h'],
  [48 * HOUR - 1, '47 h'],
  [48 * HOUR, '2 days'],
])('%i ms are %s', (ms, words) => {
  expect(spanText(ms)).toBe(words.replace(' ', '\u00a0'));
});

it.each([
  [0, 'just now'],
  [-3 * SECOND, 'just now'],
  [10 * SECOND, '10\u00a0s ago'],
])('%i ms ago', (ms, words) => {
  expect(agoText(1_000_000, 1_000_000 + ms)).toBe(words);
});

it('days and moments', () => {
  expect(dayText('2026-12-01')).toBe('1 Dec');
  expect(dayText('none')).toBe('none');
  expect(clockText(Date.UTC(2026, 10, 20, 3, 5, 9))).toBe('03:05:09 UTC');
  expect(weekdayText(Date.UTC(2026, 10, 21, 1), 'Europe/Berlin')).toBe('Sat 21 Nov, 02:00');
  expect(weekdayText(Date.UTC(2026, 10, 21, 1), 'Moon/Tycho')).toBe('Sat 21 Nov, 01:00 UTC');
});
