import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTCOME_STATUSES } from '../../../src/core/outcome.js';
import { Answers } from '../../../src/run/lookups/answers.js';
import { anyText } from '../../support/properties.js';
import { openSpool } from '../spools.js';

const SCORE = 0.5;

describe('wanted identifiers', () => {
  it('are wanted once', async () => {
    const answers = new Answers(await openSpool());
    expect([answers.want(3), answers.want(3), answers.want(0)]).toEqual([true, false, true]);
    expect([answers.isWanted(3), answers.isWanted(0), answers.isWanted(1)]).toEqual([true, true, false]);
    expect(answers.wanted).toBe(2);
  });

  it('have no status before they have an answer', async () => {
    const answers = new Answers(await openSpool());
    answers.want(0);
    expect(answers.status(0)).toBeNull();
    expect(answers.status(99)).toBeNull();
    expect(answers.answered).toBe(0);
  });
});

it('the answers are returned by their numbers, however many there are', async () => {
  const answers = new Answers(await openSpool());
  const text = anyText();
  const answer = fc.record({
    index: fc.integer({ min: 0, max: 5_000 }),
    status: fc.constantFrom(...OUTCOME_STATUSES),
    score: fc.double({ min: 0, max: 1, noNaN: true }),
    rendered: fc.record({ before: text, after: text }),
  });
  const known = new Map<number, { status: string; score: number; rendered: object }>();
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 60 }), (some) => {
      for (const { index, status, score, rendered } of some) {
        answers.set(index, status, score, rendered);
        known.set(index, { status, score, rendered });
      }
      const read = (index: number) => ({
        status: answers.status(index),
        score: answers.score(index),
        rendered: answers.rendered(index),
      });
      expect([...known.keys()].map(read)).toEqual([...known.values()]);
      expect(answers.answered).toBe(known.size);
    }),
    { numRuns: 40 },
  );
});

it('the answers are read from disk when they are no longer cached', async () => {
  const answers = new Answers(await openSpool());
  const before = 'x'.repeat(500_000);
  for (let index = 0; index < 50; index += 1)
    answers.set(index, 'matched', SCORE, { before, after: `,${index}` });
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 50; index += 1) {
      expect(answers.rendered(index).after).toBe(`,${index}`);
      expect(answers.rendered(index).before).toHaveLength(500_000);
    }
  }
});

it('the first row of an identifier is kept until rows are joined again', async () => {
  const answers = new Answers(await openSpool());
  answers.want(5);
  expect([answers.firstRow(5, 12), answers.firstRow(5, 13), answers.firstRow(5, 12)]).toEqual([12, 12, 12]);
  answers.forgetRows();
  expect(answers.firstRow(5, 2)).toBe(2);
});
