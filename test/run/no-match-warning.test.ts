/** When a run in which nothing matches is told so while it goes on. */
import { expect, it } from 'vitest';
import { noMatchWarning } from '../../src/run/lookups/run-lookups.js';

const CHOICES = [
  { column: 0, name: 'website', kind: 'ticker' },
  { column: 2, name: '', kind: 'isin' },
] as const;
const stored = (matched: number) => ({
  identifiers: { matched, notFound: 0, beingFetched: 0, failed: 0, deferred: 0, stored: matched },
});

it.each([
  [19, 0, 0, false],
  [20, 0, 0, true],
  [500, 0, 0, true],
  [500, 1, 0, false],
  [500, 0, 1, false],
])('%i not found, %i matched, %i known from before: %s', (notFound, matched, known, isWarned) => {
  expect(noMatchWarning({ matched, notFound }, stored(known), CHOICES) !== null).toBe(isWarned);
});

it('names each column and its kind', () => {
  expect(noMatchWarning({ matched: 0, notFound: 20 }, stored(0), CHOICES)).toContain(
    'is column "website" (ticker), then 3 (isin) right?',
  );
});
