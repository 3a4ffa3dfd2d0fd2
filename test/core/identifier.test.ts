import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IDENTIFIER_KINDS, identifierText, parseIdentifierText } from '../../src/core/identifier.js';
import { emptyCounts, OUTCOME_STATUSES } from '../../src/core/outcome.js';

it('an identifier survives a round trip through its text, whatever its value', () => {
  fc.assert(
    fc.property(fc.constantFrom(...IDENTIFIER_KINDS), fc.string(), (kind, value) => {
      expect(parseIdentifierText(identifierText({ kind, value }))).toEqual({ kind, value });
    }),
  );
});

it('a value may contain the separator of kind and value', () => {
  expect(parseIdentifierText('ticker:A:B')).toEqual({ kind: 'ticker', value: 'A:B' });
});

it.each(['', 'acme.com', 'brand:acme.com', ':acme.com', 'Domain:acme.com', 'domai:n'])(
  'refuses the text "%s", which is not an identifier',
  (text) => {
    expect(() => parseIdentifierText(text)).toThrow('not an identifier text');
  },
);

it('every status has a count, and two runs have separate counts', () => {
  const one = emptyCounts();
  one.matched = 5;
  expect(Object.keys(emptyCounts()).sort()).toEqual([...OUTCOME_STATUSES].sort());
  expect(Object.values(emptyCounts())).toEqual(OUTCOME_STATUSES.map(() => 0));
});
