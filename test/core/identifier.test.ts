/** Identifiers as text, and back; the counts of outcomes. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IDENTIFIER_KINDS, identifierText, parseIdentifierText } from '../../src/core/identifier.js';
import { emptyCounts, OUTCOME_STATUSES } from '../../src/core/outcome.js';

it('an identifier is one text, and comes back from it, whatever its value holds', () => {
  fc.assert(
    fc.property(fc.constantFrom(...IDENTIFIER_KINDS), fc.string(), (kind, value) => {
      expect(parseIdentifierText(identifierText({ kind, value }))).toEqual({ kind, value });
    }),
  );
});

it('a value may hold the mark that parts kind and value', () => {
  expect(parseIdentifierText('ticker:A:B')).toEqual({ kind: 'ticker', value: 'A:B' });
});

it.each(['', 'acme.com', 'brand:acme.com', ':acme.com', 'Domain:acme.com', 'domai:n'])(
  'refuses the text "%s", which no identifier made',
  (text) => {
    expect(() => parseIdentifierText(text)).toThrow('not an identifier text');
  },
);

it('every status has a count, and counts of two runs are apart', () => {
  const one = emptyCounts();
  one.matched = 5;
  expect(Object.keys(emptyCounts()).sort()).toEqual([...OUTCOME_STATUSES].sort());
  expect(Object.values(emptyCounts())).toEqual(OUTCOME_STATUSES.map(() => 0));
});
