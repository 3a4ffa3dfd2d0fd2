import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editDistance, nearest } from '../../src/core/nearest.js';

describe('the distance of two words', () => {
  it.each([
    ['', '', 0],
    ['rate', 'rate', 0],
    ['rate', 'rat', 1],
    ['rate', 'arte', 1],
    ['rate', 'rates', 1],
    ['rate', 'race', 1],
    ['', 'abc', 3],
    ['kitten', 'sitting', 3],
  ])('%j and %j: %i', (left, right, edits) => {
    expect(editDistance(left, right)).toBe(edits);
  });

  it('is symmetric, and zero only for equal words', () => {
    const word = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(word, word, (left, right) => {
        expect(editDistance(left, right)).toBe(editDistance(right, left));
        expect(editDistance(left, right) === 0).toBe(left === right);
      }),
    );
  });
});

describe('the nearest word', () => {
  const words = ['concurrency', 'compression', 'column', 'rate', 'quota', 'max-age', 'max-age-missing'];
  it.each([
    ['concurency', 'concurrency'],
    ['CONCURRENCY', 'concurrency'],
    ['qouta', 'quota'],
    ['max-aeg', 'max-age'],
    ['conc', 'concurrency'],
    ['co', undefined],
    ['com', 'compression'],
    ['zzz', undefined],
    ['', undefined],
    ['x', undefined],
  ])('to %j is %j', (word, expected) => {
    expect(nearest(word, words)).toBe(expected);
  });

  it('is none when several are equally near', () => {
    expect(nearest('overage', ['overage-budget', 'overage-price'])).toBeUndefined();
  });
});
