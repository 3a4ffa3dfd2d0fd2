import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IDENTIFIER_KINDS } from '../../../src/core/identifier.js';
import { identifyCell } from '../../../src/input/identify/identify-cell.js';
import { anyText, CASES, casesOf } from '../../support/properties.js';

const kind = fc.constantFrom(...IDENTIFIER_KINDS);

/** Texts near the edges of the rules, which random text would hardly reach. */
const piece = fc.constantFrom(
  ...'acme bücher com de co.uk github.io www xn-- id_ idAbCd1234 US0378331005 NA null .. ://'.split(' '),
  ...'http https:// mailto: localhost 127.0.0.1 ::1 ISIN 80'.split(' '),
  ...'.@:/\\?#$&^-_*<>[],;|"\' \t\n\u00a0\u200b\u200d\ufeff。．＠\u0000\ud800ßŉİıﬁ🚀1Ab',
);
const cell = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
);

describe('any cell of any kind', () => {
  it('is identified without an exception, and its value identifies as itself', CASES, () => {
    fc.assert(
      fc.property(cell, kind, (text, as) => {
        const identified = identifyCell(text, as);
        if (identified.type !== 'identifier') return;
        const { identifier } = identified;
        expect(identifyCell(identifier.value, identifier.kind)).toEqual({ type: 'identifier', identifier });
      }),
      { numRuns: casesOf(5000) },
    );
  });

  it('has a value that is safe as one path segment', CASES, () => {
    fc.assert(
      fc.property(cell, kind, (text, as) => {
        const identified = identifyCell(text, as);
        if (identified.type !== 'identifier') return;
        const { value } = identified.identifier;
        const path = `/v2/brands/${encodeURIComponent(value)}`;
        expect(new URL(path, 'https://api.example').pathname).toBe(path);
        expect(value).not.toMatch(/[\p{Cc}@]/u);
        expect(value.length).toBeLessThanOrEqual(253);
      }),
      { numRuns: casesOf(3000) },
    );
  });
});

describe('a cell of kind auto', () => {
  const word = fc.constantFrom(
    ...'Acme acme ACME Müller Söhne & GmbH Inc. AG 12 0049 30 +49 1.5 №'.split(' '),
  );
  const freeText = fc
    .tuple(fc.array(word, { minLength: 2, maxLength: 5 }), fc.constantFrom(' ', ' - ', ', ', ' / '))
    .map(([words, between]) => words.join(between))
    // An ISIN may be written in groups, and chance makes one of `AG` and digits.
    .filter((text) => identifyCell(text, 'isin').type !== 'identifier');
  const number = fc.string({ unit: fc.constantFrom(...'0123456789+-()/., '), maxLength: 20 });
  const lowerCase = fc.stringMatching(/^[a-z0-9-]{1,11}$/);
  it.each([
    ['of several words', freeText],
    ['of digits, as telephone numbers, amounts and dates', number],
    ['of one word in lower case', lowerCase],
  ])('%s costs nothing', CASES, (_, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(identifyCell(text, 'auto').type).not.toBe('identifier');
      }),
      { numRuns: casesOf(2000) },
    );
  });

  /** A second reading of the rule: a symbol, or a host whose suffix may be an exchange's. */
  const isOpen = (value: string) =>
    (/^[A-Z0-9]{1,6}$/.test(value) && /[A-Z]/.test(value)) ||
    (/^[A-Z0-9]{1,6}-[A-Z]$/.test(value) && /[A-Z].*-/.test(value)) ||
    /^[A-Z0-9]{1,6}\.[A-Z]{1,2}$/.test(value) ||
    (/\.[a-z]{1,2}$/i.test(value) && identifyCell(value, 'domain').type === 'identifier');
  const nearSymbol = fc.stringMatching(/^\$?[A-Za-z0-9]{0,7}[.-]{0,2}[A-Za-z0-9]{0,3}$/);
  it('that stays of kind auto is a symbol in capitals or a host with a short suffix', CASES, () => {
    fc.assert(
      fc.property(fc.oneof(cell, nearSymbol), (text) => {
        const found = identifyCell(text, 'auto');
        if (found.type !== 'identifier' || found.identifier.kind !== 'auto') return;
        const { value } = found.identifier;
        expect([value, isOpen(value)]).toEqual([value, true]);
      }),
      { numRuns: casesOf(5000) },
    );
  });

  const symbol = fc.stringMatching(/^([A-Z0-9]{0,5}[A-Z]([.][A-Z]{1,2}|-[A-Z])?|\d{1,6}[.][A-Z]{1,2})$/);
  it('that is a symbol in capitals is looked up as it is written', CASES, () => {
    fc.assert(
      fc.property(symbol, (text) => {
        const found = identifyCell(text, 'auto');
        // `NA`, `NULL` and the like say "nothing" here.
        if (found.type === 'skipped') return;
        expect(found).toEqual({ type: 'identifier', identifier: { kind: 'auto', value: text } });
      }),
      { numRuns: casesOf(2000) },
    );
  });
});

const locals = (...parts: string[]) =>
  fc.array(fc.constantFrom(...parts), { maxLength: 8 }).map((chosen) => `zqlocal${chosen.join('')}`);
const plain = locals('q', 'z', 'x7', 'jo', '.', '-', '+', '_', "'", '%', '&', '=', '!', '~', '{', '`');
const withSlashes = locals('q', 'jo', '.', '/', '#', '?', '=').map((local) => `${local}q`);
const hosts = 'acme.com gmail.com bücher.de acme 192.0.2.1 x.unknownsuffix co.uk'.split(' ');
const host = fc.constantFrom('', ...hosts);
const frames = [
  (address: string) => address,
  (address: string) => `mailto:${address}`,
  (address: string) => `Jo <${address}>`,
  (address: string) => `${address}, ${address}`,
  (address: string) => ` ${address} and others`,
  (address: string) => `${address}?subject=x`,
  (address: string) => address.toUpperCase(),
  (address: string) => address.replace('@', '＠'),
  (address: string) => address.replace('@', '@@'),
];
const framesOfUrls = [...frames, (address: string) => `https://${address}/path`];

it.each([
  ['of letters and the usual signs', plain, framesOfUrls],
  ['that holds slashes', withSlashes, frames],
] as const)('the local part of an e-mail address %s is in no result', CASES, (_, local, framings) => {
  fc.assert(
    fc.property(local, host, fc.constantFrom(...framings), kind, (name, at, frame, as) => {
      const shown = JSON.stringify(identifyCell(frame(`${name}@${at}`), as)).toLowerCase();
      expect(shown).not.toContain('zqlocal');
    }),
    { numRuns: casesOf(4000) },
  );
});

describe('the check digit of an ISIN', () => {
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const letter = fc.constantFrom(...alphabet.slice(10));
  const alphanumeric = fc.constantFrom(...alphabet);
  const body = fc
    .tuple(
      fc.array(letter, { minLength: 2, maxLength: 2 }),
      fc.array(alphanumeric, { minLength: 9, maxLength: 9 }),
    )
    .map(([country, number]) => [...country, ...number].join(''));

  /** The only digit that is accepted after these eleven characters. */
  function withCheckDigit(start: string): string {
    const accepted = [...'0123456789'].filter(
      (digit) => identifyCell(start + digit, 'isin').type === 'identifier',
    );
    expect(accepted).toHaveLength(1);
    return start + accepted[0];
  }

  it('is unique for any country and number', () => {
    fc.assert(fc.property(body, (start) => void withCheckDigit(start)));
  });

  it('detects any one mistyped digit', () => {
    fc.assert(
      fc.property(body, fc.nat(), fc.integer({ min: 1, max: 9 }), (start, at, shift) => {
        const isin = withCheckDigit(start);
        const digits = [...isin].flatMap((character, index) => (/\d/.test(character) ? [index] : []));
        const index = digits[at % digits.length] ?? isin.length - 1;
        const mistyped = isin.slice(0, index) + ((Number(isin[index]) + shift) % 10) + isin.slice(index + 1);
        expect(identifyCell(mistyped, 'isin').type).toBe('invalid');
      }),
    );
  });

  it('is valid in lower case and with blanks anywhere', () => {
    fc.assert(
      fc.property(body, fc.nat({ max: 11 }), (start, at) => {
        const isin = withCheckDigit(start);
        const loose = `${isin.slice(0, at)} ${isin.slice(at)}`.toLowerCase();
        expect(identifyCell(loose, 'isin')).toEqual({
          type: 'identifier',
          identifier: { kind: 'isin', value: isin },
        });
      }),
    );
  });
});
