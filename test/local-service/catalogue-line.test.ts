/** The exact bytes of a brand within its line. What makes a line bad is tested through `load-catalogue.test.ts`. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { generateCatalogue } from '../../src/local-service/generate-catalogue.js';
import { memberBytes, readCatalogueLine } from '../../src/local-service/load-catalogue.js';

describe('finding a member in JSON bytes', () => {
  test('gives what JSON.parse gives, for any JSON', () => {
    const spaced = fc.tuple(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.jsonValue(),
      fc.integer({ max: 3, min: 0 }),
    );
    fc.assert(
      fc.property(spaced, ([others, value, indent]) => {
        const bytes = Buffer.from(JSON.stringify({ ...others, brand: value, after: others }, null, indent));
        expect(JSON.parse(memberBytes(bytes, 'brand').toString())).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('takes the last of two, as JSON.parse does', () => {
    expect(memberBytes(Buffer.from('{"brand":1,"\\u0062rand":2}'), 'brand').toString()).toBe('2');
  });

  test('does not look into other members', () => {
    expect(memberBytes(Buffer.from('{"keys":{"brand":1},"brand":[{"brand":3}]}'), 'brand').toString()).toBe(
      '[{"brand":3}]',
    );
  });

  test('is done without copying', () => {
    const [line] = generateCatalogue({
      brands: 1,
      cryptoSymbols: 0,
      etfTickers: 0,
      etfProviders: 0,
      seed: 1,
    });
    const bytes = Buffer.from(line ?? '');
    const read = readCatalogueLine(bytes);
    expect(typeof read === 'object' && read.body.buffer === bytes.buffer).toBe(true);
  });
});
