import { expect, test } from 'vitest';
import { phrase } from '../../../src/core/phrase.js';
import { sayTo } from '../../../src/run/words/say-reason.js';

test('a page calls a setting by its field, a value by what it does, and another setting by its key', () => {
  const header = phrase`use ${{ choose: 'skipLines', example: 'N' }} or ${{ set: { header: false } }}`;
  const rest = phrase`, or ${{ setting: 'delimiter' }}; ${{ unset: 'kind' }}; ${{ set: { sheet: 'Q1' } }}`;
  expect(sayTo('page', [...header, ...rest])).toBe(
    'use “Lines above the header to leave out” or “the first row is data, not a header”, or the setting delimiter; no choice for “What it holds”; “read the sheet Q1”',
  );
});
