/** Numbers and moments as people read them. */
import { expect, it } from 'vitest';
import { countOf } from '../../../src/core/figures.js';
import { durationText, momentText, scoreText, shareText } from '../../../src/run/report/figures-text.js';

it.each([
  [0, 10, '0 %'],
  [1, 1_000, '< 1 %'],
  [1, 100, '1 %'],
  [1, 3, '33 %'],
  [995, 1_000, '> 99 %'],
  [99, 100, '99 %'],
  [10, 10, '100 %'],
  [12, 10, '120 %'],
  [0, 0, ''],
])('%i of %i is %j', (part, whole, text) => {
  expect(shareText(part, whole)).toBe(text);
});

it.each([
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

it('counts, scores and moments', () => {
  expect([countOf(1, 'row'), countOf(12_345, 'row'), countOf(0, 'query', 'queries')]).toEqual([
    '1 row',
    '12,345 rows',
    '0 queries',
  ]);
  expect([scoreText(0.96), scoreText(1), scoreText(0.1234)]).toEqual(['0.960', '1.000', '0.123']);
  expect(momentText('2026-03-05T07:04:59.999Z')).toBe('5 Mar 2026, 07:04 UTC');
  expect(momentText('some day')).toBe('some day');
});
