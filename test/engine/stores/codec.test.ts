/** Answers of the service are returned byte for byte, and stored compactly. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeDictionary } from '../../../src/engine/stores/dictionary.js';
import {
  packProfile,
  readProfile,
  unpackProfile,
  whyUnreadable,
} from '../../../src/engine/stores/profile-codec.js';
import { generateCatalogue } from '../../local-service/generate-catalogue.js';

const CATALOGUE = new URL('../../../fixtures/catalogue.jsonl', import.meta.url);
const MIB = 1_048_576;

/** Brands as a service would send them. */
function brandsIn(lines: Iterable<string>): Buffer[] {
  return [...lines]
    .filter((line) => line !== '')
    .map((line) => Buffer.from(JSON.stringify((JSON.parse(line) as { brand: unknown }).brand)));
}
const sampleBrands = brandsIn(readFileSync(CATALOGUE, 'utf8').split('\n'));
const generatedBrands = brandsIn(generateCatalogue(500));

/** Of another service: its own hosts, ids and order of fields, and fields that we do not know. */
const otherBrands = sampleBrands.map((brand) => {
  const { id, urn, logos, ...fields } = JSON.parse(brand.toString()) as Record<string, unknown>;
  const own = {
    ...fields,
    logos,
    id: String(id).slice(3),
    verified: true,
    ranking: { web: 4_711, region: 12 },
  };
  return Buffer.from(JSON.stringify(own).replaceAll('assets.sample.example', 'cdn.logos.test/v3/img'));
});

describe('bytes come back as they came', () => {
  it('any JSON', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        expect(unpackProfile(packProfile(Buffer.from(text))).toString()).toBe(text);
      }),
    );
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['numbers that JavaScript cannot hold', Buffer.from('{"a":12345678901234567890,"b":1.10,"c":1e400}')],
    ['letters of many scripts', Buffer.from('{"name":"Ünïcôdé 株式会社 Ελλάς 💻👩‍👩‍👧"}')],
    ['half of a surrogate pair, also escaped', Buffer.from('7b22610ced22b0800a5c7564383362227d', 'hex')],
    ['an answer of 1 MiB', Buffer.from(`{"items":[${`${sampleBrands.join(',')},`.repeat(2)}`.slice(0, MIB))],
    ['1 MiB of one letter', Buffer.alloc(MIB, 'x')],
    ['the dictionary itself', makeDictionary()],
  ])('%s', (_what, json) => {
    expect(unpackProfile(packProfile(json)).equals(json)).toBe(true);
  });

  it('every brand, whatever was packed before', () => {
    for (const brand of [...sampleBrands, ...generatedBrands, ...otherBrands])
      expect(unpackProfile(packProfile(brand)).equals(brand)).toBe(true);
  });
});

it('the dictionary of stored answers never changes', () => {
  // Fails when the dictionary changes: its bytes are part of every stored answer.
  const dictionary = makeDictionary();
  expect(createHash('sha256').update(dictionary).digest('hex')).toBe(
    '7128ce4e19f68bc1b98bbe7ce8f636705b03755a2b47371efb15147990bcbd80',
  );
  const old = Buffer.from('AXYAAAZCAIZhY21lMDAwMV5YSEFjbWVCAAAiAA/JAwMMvj4PjiQIUDAwMX19', 'base64');
  expect(unpackProfile(old).toString()).toBe(
    '{"id":"id_acme0001","name":"Acme","domain":"acme.com","claimed":true,"qualityScore":0.9,"company":{"employees":10001}}',
  );
});

it.each([
  ['sample brands', sampleBrands, 460],
  ['generated brands', generatedBrands, 525],
  ['brands of another service', otherBrands, 490],
])('%s, which gave the dictionary nothing, take about a quarter', (_whose, brands, most) => {
  const sizes = brands.filter(({ length }) => length >= 1_800).map((brand) => packProfile(brand).length);
  expect(sizes.length).toBeGreaterThan(300);
  expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThan(most);
});

const packed = packProfile(sampleBrands[0] as Buffer);
const withHead = (dictionary: number, length: number) =>
  Buffer.concat([Buffer.from([dictionary, length, length >> 8, length >> 16]), packed.subarray(4)]);
const LENGTH = sampleBrands[0]?.length ?? 0;

it.each([
  ['no bytes at all', Buffer.alloc(0), { code: 'damaged' }],
  ['nothing but a dictionary', packed.subarray(0, 1), { code: 'damaged' }],
  ['an answer that was cut off', packed.subarray(0, -1), { code: 'damaged' }],
  ['an answer with more behind it', Buffer.concat([packed, packed]), { code: 'damaged' }],
  ['an answer of another length', withHead(1, LENGTH + 1), { code: 'damaged' }],
  ['an answer longer than a service sends', withHead(1, 4 * MIB + 1), { code: 'damaged' }],
  ['an answer of another dictionary', withHead(2, LENGTH), { code: 'unknown_dictionary', dictionary: 2 }],
])('%s is refused', (_what, bytes, why) => {
  expect(unpackProfile(packed).equals(sampleBrands[0] as Buffer)).toBe(true);
  expect(() => unpackProfile(bytes)).toThrow();
  expect(readProfile(bytes)).toBeNull();
  expect(whyUnreadable(bytes)).toEqual(why);
});

it.each(['', 'null', '[]', '7', '{', '"x"'])('a stored %o counts as damaged', (text) => {
  expect(readProfile(packProfile(Buffer.from(text)))).toBeNull();
});

it('an answer longer than a service sends is not packed', () => {
  expect(() => packProfile(Buffer.alloc(4 * MIB + 1))).toThrow(/too long/);
});
