/** What an answer tells the ledger beside its outcome. */
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../src/lookup/read-answer.js';
import { heardFrom } from '../../src/resolve/heard-from.js';
import { DOWN, MATCHED, NOT_FOUND, TOO_FAST, WASTED } from './asking.js';

describe('what an answer says of the account', () => {
  const date = Date.UTC(2026, 1, 28, 23, 59);

  it.each<[string, Answer, ReturnType<typeof heardFrom>]>([
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
    expect(heardFrom(answer, 'month')).toEqual(heard);
  });
});
