import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LOW_NAME_MATCH, matchNames, nameDoubtOf } from '../../../src/run/output/name-match.js';
import { anyText } from '../../support/properties.js';

it.each([
  ['Apple Inc.', 'apple'],
  ['Müller GmbH & Co. KG', 'MULLER'],
  ['Société Générale S.A.', 'Societe Generale'],
  ['Żabka Sp. z o.o.', 'Zabka'],
  ['UAB „Vinted“', 'Vinted'],
  ['Novo Nordisk A/S', 'Novo Nordisk'],
  ['Rimac d.o.o.', 'Rimac'],
  ['The Coca-Cola Company', 'Coca Cola'],
  ["L'Oréal", 'LOreal'],
  ['Straße & Søn Ltd', 'Strasse and Son'],
  ['トヨタ自動車 KK', 'トヨタ自動車'],
  ['SE', 'se'],
])('the name %s equals %s', (one, other) => {
  expect(matchNames(one, other)).toBe(1);
});

it.each([
  ['Deutsche Telekom AG', 'Telekom'],
  ['International Business Machines Corp', 'IBM'],
  ['Bank of America', 'America Bank'],
  ['Adidas Deutschland GmbH', 'adidas'],
  ['Siemens AG', 'Simens'],
  ['Müller Maschinenbau', 'Mueller Maschinenbau'],
])('the name %s fits %s', (one, other) => {
  expect(matchNames(one, other)).toBeGreaterThanOrEqual(LOW_NAME_MATCH);
});

it.each([
  ['Nordwind Logistik GmbH', 'Sedo'],
  ['Contoso', 'Domain for sale'],
  ['Fabrikam', 'Parked domain'],
  ['Kaufland', 'Lidl'],
  ['Huber Bakery', 'Squarespace'],
  ['Acme Inc.', 'Beta Inc.'],
])('the name %s does not fit %s', (one, other) => {
  expect(matchNames(one, other)).toBeLessThan(LOW_NAME_MATCH);
});

it.each([
  ['', 'Acme'],
  ['Acme', ' . '],
])('%j and %j cannot be compared', (one, other) => {
  expect(matchNames(one, other)).toBeNull();
});

it('a name match is between 0 and 1 in hundredths, and the same both ways', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 60 }), fc.string(), (one, other) => {
      const match = matchNames(one, other);
      expect(matchNames(other, one)).toBe(match);
      if (match === null) return;
      expect(match).toBeGreaterThanOrEqual(0);
      expect(match).toBeLessThanOrEqual(1);
      expect(match).toBe(Number(match.toFixed(2)));
    }),
  );
});

it('a low match is a doubt that names the brand', () => {
  expect(nameDoubtOf(0.31, 'Sedo')).toBe(
    'the brand is called "Sedo" (name match 0.31, below 0.75): perhaps another company',
  );
  expect([nameDoubtOf(LOW_NAME_MATCH, 'Sedo'), nameDoubtOf(null, '')]).toEqual([null, null]);
});
