/** Cells: never an exception, one canonical form, and one form for all spellings. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { toUnicode } from 'tr46';
import { expect } from 'vitest';
import { IDENTIFIER_KINDS, type Identified, type IdentifierKind } from '../../src/core/identifier.js';
import { sayRowReason } from '../../src/core/row-reason.js';
import { identifyCell } from '../../src/input/identify/identify-cell.js';
import { fuzz } from './fuzz.js';
import { mutate, mutations, wordsOf } from './mutations.js';

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/${name}`, import.meta.url), 'utf8');

/** Cells of the sample files, and the traps of real ones. */
const CELLS = [
  ...new Set([
    ...fixture('customers.csv').split(/[\n,]/),
    ...fixture('securities.csv').split(/[\n,]/),
    ...[...fixture('coins.jsonl').matchAll(/"([^"]+)"/g)].map(([, text = '']) => text),
    ...wordsOf('BRK.B BF-B M&M 0700.HK AGO$F ^GSPC $AAPL GC=F BRK/B NYSE:GE XS2010028699 bücher.de'),
    ...wordsOf('xn--bcher-kva.de faß.de 例え.jp acme.myshopify.com github.io jo@acme.co.uk'),
    ...['id_aB-9', 'idAbCd_12-', 'Jo <jo@acme.com>', 'https://user:pw@www.acme.com:8080/a?b#c', '*.acme.com'],
    ...['币安人生', '1inch', 'straße', 'ΣΊΣΥΦΟΣ', 'DŽ', 'ŉ', 'ǰ', 'ſ', 'K', 'ẞ', 'ﬁ', 'ΐ', 'İ', 'ı'],
  ]),
];
const WORDS = [
  ...wordsOf('www. http:// https:// mailto: @ xn-- .com .co.uk'),
  'ISIN ',
  'id_',
  '。',
  '．',
  '＠',
];

const cell = fc
  .record({ text: fc.constantFrom(...CELLS), changes: mutations([...WORDS, ...CELLS], 4) })
  .map(({ text, changes }) => mutate(Buffer.from(text), changes).toString());

/** Other spellings of the same, by the kind of its column. */
const SPELLINGS: Readonly<Record<IdentifierKind, readonly ((value: string) => string)[]>> = {
  domain: [
    (value) => value.toUpperCase(),
    (value) => toUnicode(value).domain,
    (value) => toUnicode(value).domain.normalize('NFD'),
    (value) => `https://${value}/`,
    (value) => `http://${value}:8080/a/b?c=d#e`,
    (value) => `${value}.`,
    (value) => `//${value}`,
    (value) => value.replaceAll('.', '。'),
    (value) => `https://www.${value}`,
  ],
  isin: [
    (value) => value.toLowerCase(),
    (value) => value.replace(/(.{4})/g, '$1 '),
    (value) => `ISIN: ${value}`,
    (value) => `${value.slice(0, 2)}-${value.slice(2, 11)}-${value.slice(11)}`,
  ],
  ticker: [(value) => value.toLowerCase(), (value) => `$${value}`],
  crypto: [(value) => value.toLowerCase(), (value) => `$${value}`],
  id: [],
  auto: [],
};
const ANY = [
  (value: string) => ` ${value}\u00a0`,
  (value: string) => `"${value}"`,
  (value: string) => `\ufeff${value}\u200b`,
];

function nameOf(identified: Identified): string {
  return identified.type === 'identifier'
    ? `${identified.identifier.kind}:${identified.identifier.value}`
    : identified.type;
}

const kind = fc.constantFrom(...IDENTIFIER_KINDS);

fuzz('a cell has one canonical form, however it is spelt', fc.record({ cell, kind }), ({ cell, kind }) => {
  const identified = identifyCell(cell, kind);
  expect(['identifier', 'invalid', 'skipped']).toContain(identified.type);
  expect(identifyCell(cell, kind)).toEqual(identified);
  if (identified.type !== 'identifier') {
    // Reasons quote nothing of the cell.
    expect(sayRowReason(identified.reason).length).toBeLessThan(120);
    return;
  }
  const { identifier } = identified;
  const { value } = identifier;
  expect(value.trim()).toBe(value);
  expect(value).not.toMatch(/[\p{Cc}\p{Surrogate}@]/u);
  expect(value.length).toBeLessThanOrEqual(253);
  expect(identifyCell(value, identifier.kind)).toEqual({ type: 'identifier', identifier });
  for (const spell of [...SPELLINGS[identifier.kind], ...ANY]) {
    const spelt = spell(value);
    const other = identifyCell(spelt, identifier.kind);
    // `na` means nothing where `NA` is a symbol, and a mark can make a spelling unusable.
    if (other.type === 'identifier') expect(nameOf(other), spelt).toBe(nameOf(identified));
    else expect(['ticker', 'crypto'], `${spelt}: ${other.reason}`).toContain(identifier.kind);
  }
});
