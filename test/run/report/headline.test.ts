import { expect, it } from 'vitest';
import { headlineOf, verdictOf } from '../../../src/run/report/headline.js';
import { type FigureParts, figures } from './pages.js';

const billed = (count: number) => ({ ...figures().requests, billed: count });

it.each<[FigureParts, string]>([
  [{ rows: {} }, 'The file has no rows.'],
  [{}, '52 of 60 rows have a brand (3 not found, 2 invalid, 3 skipped); 49 requests were billed.'],
  [{ rows: { matched: 2_000 }, requests: billed(1) }, 'All 2,000 rows have a brand; 1 request was billed.'],
  [{ rows: { matched: 1 }, requests: billed(0) }, 'The only row has a brand; nothing was billed.'],
  [{ rows: { failed: 1 }, requests: billed(0) }, 'The only row has no brand (1 failed); nothing was billed.'],
  [{ rows: { matched: 1, failed: 1 } }, '1 of 2 rows has a brand (1 failed); 49 requests were billed.'],
  [
    { rows: { failed: 8 }, requests: billed(0) },
    'None of the 8 rows has a brand (8 failed); nothing was billed.',
  ],
  [
    { rows: { matched: 300, deferred: 1_700 }, run: { isComplete: false, exitCode: 7 } },
    'So far, 300 of 2,000 rows have a brand (1,700 not looked up yet); 49 requests were billed.',
  ],
  [
    { rows: { deferred: 9 }, run: { isComplete: false, exitCode: 4 }, requests: billed(0) },
    'So far, none of the 9 rows has a brand (9 not looked up yet); nothing was billed.',
  ],
])('the headline of %j is %s', (parts, sentence) => {
  expect(headlineOf(figures(parts))).toBe(sentence);
});

it.each<[string, FigureParts, string, string]>([
  ['most matched', {}, 'Finished', 'good'],
  ['all matched', { rows: { matched: 9 } }, 'Finished', 'good'],
  ['all stored', { rows: { matched: 9 }, requests: { sent: 0, billed: 0 } }, 'Finished', 'good'],
  ['a tenth matched', { rows: { matched: 1, not_found: 9 } }, 'Finished', 'good'],
  ['few matched', { rows: { matched: 1, not_found: 8, invalid: 2 } }, 'Finished, few matched', 'warn'],
  ['few rows had to match', { rows: { matched: 1, skipped: 90 } }, 'Finished', 'good'],
  ['none matched', { rows: { not_found: 9, invalid: 1 } }, 'Finished, nothing matched', 'warn'],
  ['none, strictly', { rows: { not_found: 9 }, run: { exitCode: 1 } }, 'Finished, nothing matched', 'warn'],
  ['none had to match', { rows: { skipped: 2 } }, 'Finished, nothing matched', 'warn'],
  ['all invalid', { rows: { invalid: 9 } }, 'Finished, every row is invalid', 'bad'],
  ['no rows', { rows: {} }, 'Finished, no rows', 'calm'],
  ['a failure', { rows: { matched: 1, failed: 1 }, run: { exitCode: 1 } }, 'Finished, 1 row failed', 'warn'],
  ['most failed', { rows: { matched: 1, failed: 1_200 } }, 'Finished, 1,200 rows failed', 'bad'],
  ['all failed', { rows: { failed: 3 } }, 'Finished, 3 rows failed', 'bad'],
  ['stopped by the limit', { run: { isComplete: false, exitCode: 7 } }, 'Partial', 'warn'],
  ['stopped at once', { rows: { deferred: 9 }, run: { isComplete: false, exitCode: 7 } }, 'Partial', 'warn'],
  ['cancelled', { run: { isComplete: false, exitCode: 130 } }, 'Partial', 'warn'],
  ['the trial declined', { run: { isComplete: false, exitCode: 0 } }, 'Partial', 'warn'],
  ['too many failures', { run: { isComplete: false, exitCode: 3 } }, 'Partial', 'bad'],
  ['a wrong token', { run: { isComplete: false, exitCode: 4 } }, 'Partial', 'bad'],
  ['a wrong address', { run: { isComplete: false, exitCode: 5 } }, 'Partial', 'bad'],
])('a run with %s has the right mark', (_, parts, label, tone) => {
  expect(verdictOf(figures(parts))).toEqual([label, tone]);
});
