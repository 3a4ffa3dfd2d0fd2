import { expect, it } from 'vitest';
import { judgeMatches } from '../../../src/run/lookups/match-check.js';

it.each([
  // matched, answered, share, answers that are judged, verdict
  [0, 0, null, 50, 'open'],
  [0, 49, null, 50, 'open'],
  [0, 50, null, 50, 'too few'],
  [0, 50, null, 200, 'open'],
  [0, 200, null, 200, 'too few'],
  [0, 990, null, 50, 'too few'],
  [1, 1, null, 50, 'enough'],
  [1, 990, null, 50, 'enough'],
  [0, 50, 0, 50, 'enough'],
  [14, 49, 30, 50, 'open'],
  [14, 50, 30, 50, 'too few'],
  [15, 15, 30, 50, 'enough'],
  [15, 50, 30, 50, 'enough'],
  [15, 100, 30, 50, 'too few'],
  [14, 200, 7, 200, 'enough'],
  [1, 50, 2.5, 50, 'too few'],
  [2, 50, 2.5, 50, 'enough'],
  [50, 50, 100, 50, 'enough'],
  [49, 50, 100, 50, 'too few'],
] as const)('%i of %i, with %s of the first %i: %s', (matched, answered, share, first, verdict) => {
  expect(judgeMatches({ matched, answered }, share, first)).toBe(verdict);
});
