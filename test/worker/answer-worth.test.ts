/** What an answer reports to the ledger beside its outcome. */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/lookup/read-answer.js';
import { type AnswerWorth, observe } from '../../src/worker/answer-worth.js';
import { answerOf, DOWN, FAILED, MATCHED, NOT_FOUND, TOO_FAST, WASTED } from './asking.js';

describe('the observation from an answer', () => {
  const date = Date.UTC(2026, 1, 28, 23, 59);

  it.each<[string, Answer, ReturnType<typeof observe>]>([
    ['nothing', MATCHED, { reading: null, period: null, heard: true }],
    [
      'usage, in the period of its own date',
      { ...MATCHED, quota: 100, usage: 7, date },
      { reading: { quota: 100, usage: 7, period: '2026-02-01' }, period: '2026-02-01', heard: true },
    ],
    [
      'one header, without a date',
      { ...NOT_FOUND, quota: 100 },
      { reading: { quota: 100, usage: null, period: null }, period: null, heard: true },
    ],
    ['nothing useful: a time-out', WASTED, { reading: null, period: null, heard: false }],
    [
      'usage, though the body was damaged',
      { ...WASTED, usage: 9 },
      { reading: { quota: null, usage: 9, period: null }, period: null, heard: false },
    ],
    ['nothing useful: 503', DOWN, { reading: null, period: null, heard: false }],
    [
      'nothing useful: 429',
      { ...TOO_FAST, usage: 9 },
      { reading: expect.any(Object), period: null, heard: false },
    ],
  ])('%s', (_what, answer, heard) => {
    const isMeant = answer.meaning.type === 'matched' || answer.meaning.type === 'not_found';
    expect(observe(answer, 'month', isMeant ? 'own' : null)).toEqual(heard);
  });

  it.each<[AnswerWorth, boolean]>([
    ['own', true],
    ['believed', true],
    ['unproven', false],
    ['foreign', false],
  ])('of a "not found" that is %s is useful: %s', (worth, heard) => {
    expect(observe(NOT_FOUND, 'month', worth).heard).toBe(heard);
  });

  it('of a refused identifier is useful, of something that is no brand it is not', () => {
    const noBrand = answerOf({
      type: 'failed',
      reason: 'the answer is no brand',
      sign: 'own',
      isNoBrand: true,
    });
    expect(observe(FAILED, 'month', 'own').heard).toBe(true);
    expect(observe(FAILED, 'month', 'unproven').heard).toBe(false);
    expect(observe(noBrand, 'month', 'own').heard).toBe(false);
  });
});
