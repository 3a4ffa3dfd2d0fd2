import { expect, it } from 'vitest';
import {
  agoText,
  clockText,
  countOf,
  dayText,
  durationText,
  momentText,
  moneyText,
  scoreText,
  shareText,
  spanText,
  weekdayText,
} from '../../src/core/figures.js';

it.each([
  [0, 10, '0 %'],
  [1, 1_000, '< 1 %'],
  [1, 100, '1 %'],
  [995, 1_000, '> 99 %'],
  [99, 100, '99 %'],
  [10, 10, '100 %'],
  [12, 10, '120 %'],
  [0, 0, ''],
])('%i of %i is %j', (part, whole, text) => {
  expect(shareText(part, whole)).toBe(text);
});

it.each([
  [-5, '0 s'],
  [0.04, '0 s'],
  [0.26, '0.3 s'],
  [9.94, '9.9 s'],
  [12.4, '12 s'],
  [59.7, '1 min 0 s'],
  [200, '3 min 20 s'],
  [7_860, '2 h 11 min'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

it('formats counts, scores and times', () => {
  expect([countOf(1, 'row'), countOf(12_345, 'row'), countOf(0, 'query', 'queries')]).toEqual([
    '1 row',
    '12,345 rows',
    '0 queries',
  ]);
  expect([scoreText(0.96), scoreText(1), scoreText(0.1234)]).toEqual(['0.960', '1.000', '0.123']);
  expect(momentText('2026-03-05T07:04:59.999Z')).toBe('5 Mar 2026, 07:04 UTC');
  expect(momentText('some day')).toBe('some day');
});

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

it.each<[amount: string, currency: string | null, what: 'sum' | 'price', text: string]>([
  ['0', 'EUR', 'sum', '0.00 EUR'],
  ['0.1', 'EUR', 'sum', '0.10 EUR'],
  ['1234567.891', 'USD', 'sum', '1,234,567.89 USD'],
  ['0.125', null, 'sum', '0.13'],
  ['0.995', null, 'sum', '1.00'],
  ['0.01', null, 'sum', '0.01'],
  ['0.004', 'EUR', 'sum', '0.004 EUR'],
  ['0.0125', 'EUR', 'price', '0.0125 EUR'],
  ['0.1', 'EUR', 'price', '0.10 EUR'],
  ['much', 'EUR', 'sum', 'much'],
])('%s %s as a %s is %s', (amount, currency, what, text) => {
  expect(moneyText(amount, currency, what)).toBe(text.replace(' ', '\u00a0'));
});

it('formats dates and times', () => {
  expect(dayText('2026-12-01')).toBe('1 Dec');
  expect(dayText('none')).toBe('none');
  expect(clockText(Date.UTC(2026, 10, 20, 3, 5, 9))).toBe('03:05:09 UTC');
  expect(weekdayText(Date.UTC(2026, 10, 21, 1), 'Europe/Berlin')).toBe('Sat 21 Nov, 02:00');
  expect(weekdayText(Date.UTC(2026, 10, 21, 1), 'Moon/Tycho')).toBe('Sat 21 Nov, 01:00 UTC');
});
