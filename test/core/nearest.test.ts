import { describe, expect, it } from 'vitest';
import { nearest } from '../../src/core/nearest.js';

describe('the nearest word', () => {
  const words = ['concurrency', 'completion', 'column', 'rate', 'quota', 'max-age', 'max-age-missing'];
  it.each([
    ['concurency', 'concurrency'],
    ['CONCURRENCY', 'concurrency'],
    ['qouta', 'quota'],
    // Two letters swapped are one edit: two would be half of the word.
    ['arte', 'rate'],
    ['rat', 'rate'],
    ['rites', 'rate'],
    ['sites', undefined],
    ['max-aeg', 'max-age'],
    ['conc', 'concurrency'],
    ['co', undefined],
    ['com', 'completion'],
    ['zzz', undefined],
    ['', undefined],
    ['x', undefined],
  ])('to %j is %j', (word, expected) => {
    expect(nearest(word, words)).toBe(expected);
  });

  it('is undefined when several are equally near', () => {
    expect(nearest('overage', ['overage-budget', 'overage-price'])).toBeUndefined();
  });
});
