/** The first two sentences of the page. */
import { describe, expect, it } from 'vitest';
import type { ExitCode } from '../../../src/core/errors.js';
import { headlineOf, nextStepOf, noMatchText, verdictOf } from '../../../src/run/report/headline.js';
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
])('%j: %s', (parts, sentence) => {
  expect(headlineOf(figures(parts))).toBe(sentence);
});

it.each<[FigureParts, string, string]>([
  [{}, 'Complete', 'good'],
  [{ rows: { not_found: 9, invalid: 1 } }, 'Complete, nothing matched', 'warn'],
  [{ rows: { not_found: 9 }, run: { exitCode: 1 } }, 'Complete, nothing matched', 'warn'],
  [{ rows: { skipped: 2 } }, 'Complete, nothing matched', 'warn'],
  [{ rows: {} }, 'Complete', 'good'],
  [{ rows: { matched: 1, failed: 1 }, run: { exitCode: 1 } }, 'Complete, 1 row failed', 'warn'],
  [{ rows: { matched: 1, failed: 1_200 }, run: { exitCode: 1 } }, 'Complete, 1,200 rows failed', 'bad'],
  [{ run: { isComplete: false, exitCode: 7 } }, 'Partial', 'warn'],
  [{ run: { isComplete: false, exitCode: 130 } }, 'Partial', 'warn'],
  [{ run: { isComplete: false, exitCode: 3 } }, 'Partial', 'bad'],
  [{ run: { isComplete: false, exitCode: 4 } }, 'Partial', 'bad'],
  [{ run: { isComplete: false, exitCode: 5 } }, 'Partial', 'bad'],
])('%j is marked as %s', (parts, label, tone) => {
  expect(verdictOf(figures(parts))).toEqual([label, tone]);
});

describe('the next step', () => {
  it.each<[ExitCode, FigureParts, RegExp]>([
    [0, {}, /^If the invalid rows matter/],
    [
      0,
      { identifiers: { distinct: 53, duplicateRows: 2, stored: 4, deferred: 0, beingFetched: 3 } },
      /^The service is still fetching 3 identifiers .* again in 2 minutes/,
    ],
    [1, { rows: { failed: 2, invalid: 1 }, run: { exitCode: 1 } }, /^Run the same command again/],
    [
      0,
      { rows: { not_found: 2 } },
      /^Nothing matched: identifiers were read from ".*" as .*--column NAME:KIND/,
    ],
    [1, { rows: { not_found: 2, invalid: 3 } }, /^Nothing matched: identifiers/],
    [
      0,
      { rows: { skipped: 2 }, identifiers: { ...figures().identifiers, distinct: 0 } },
      /^Nothing matched: no row has an identifier in "/,
    ],
    [1, { rows: { failed: 2 } }, /^Run the same command again: only the failed rows/],
    [1, { rows: { matched: 1, invalid: 2 } }, /^Correct the invalid rows/],
    [3, {}, /--max-errors/],
    [4, { reason: 'status 401' }, /refused the credentials \(status 401\)/],
    [5, { reason: null }, /^The service could not be reached, or another server answered\./],
    [
      7,
      { rows: { deferred: 1_680 }, reason: 'the quota is used up' },
      /limit \(the quota is used up\); 1,680 identifiers are left/,
    ],
    [7, { rows: { deferred: 1 } }, /1 identifier is left/],
    [130, {}, /^Interrupted/],
  ])('after exit code %i of %j', (exitCode, parts, words) => {
    expect(nextStepOf(figures({ ...parts, run: { exitCode } }))).toMatch(words);
  });

  it('is empty when all is well', () => {
    expect(nextStepOf(figures({ rows: { matched: 3, not_found: 1 } }))).toBeNull();
  });
});

it('does not question the columns where every lookup failed', () => {
  expect(noMatchText(figures({ rows: { failed: 2, invalid: 1 }, run: { exitCode: 1 } }))).toBe(
    'Nothing matched: every lookup failed.',
  );
  expect(noMatchText(figures({ rows: { failed: 2, not_found: 1 }, run: { exitCode: 1 } }))).toMatch(
    /--column/,
  );
});
