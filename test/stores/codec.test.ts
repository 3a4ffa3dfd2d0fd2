/** Answers of the service are returned byte for byte, and stored compactly. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { packProfile, readProfile, unpackProfile } from '../../src/stores/profile-codec.js';

/** Packed by form 1 of a dictionary that must never change. */
const OLD_ANSWER = 'AUN4MTE5NxWUnBBedUzOTUX2LkgFdi+ju8FSB1+Cra0FAA==';
/** An answer that refers to every byte of that dictionary, and the hash of its content. */
const OLD_REFERENCES = 'Ae3WAQ0AAADCoC72D/kcbpCCSb3US73US73US73US73US/136gM=';
const OLD_HASH = 'e8d2d6674cd417449eefc223c3b32294e8de1edd2d73b226f29355b05a55c888';
const CATALOGUE = new URL('../../fixtures/catalogue.jsonl', import.meta.url);

/** Brands of the sample catalogue as a service would send them. */
function sampleBrands(): Buffer[] {
  return readFileSync(CATALOGUE, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(JSON.stringify((JSON.parse(line) as { brand: unknown }).brand)));
}

describe.each([true, false])('compress %s', (compress) => {
  it('any bytes survive a round trip', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 5_000 }), (bytes) => {
        const json = Buffer.from(bytes);
        expect(unpackProfile(packProfile(json, compress)).equals(json)).toBe(true);
      }),
    );
  });

  it('any JSON survives a round trip', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        expect(unpackProfile(packProfile(Buffer.from(text), compress)).toString()).toBe(text);
      }),
    );
  });

  it('an answer many times longer than the window survives a round trip', () => {
    const json = Buffer.from(
      JSON.stringify(Array.from({ length: 40_000 }, (_, at) => `brand ${at * 7_919}`)),
    );
    expect(unpackProfile(packProfile(json, compress)).equals(json)).toBe(true);
  });

  it('every brand of the sample catalogue survives a round trip', () => {
    for (const brand of sampleBrands()) {
      expect(unpackProfile(packProfile(brand, compress)).equals(brand)).toBe(true);
    }
  });
});

it('a store with plain answers stays readable when compression is switched on, and the other way round', () => {
  const json = Buffer.from('{"name":"Acme"}');
  expect(packProfile(json, false)).not.toEqual(packProfile(json, true));
  expect(unpackProfile(packProfile(json, false))).toEqual(unpackProfile(packProfile(json, true)));
});

it('a plain answer takes one byte more than its length', () => {
  expect(packProfile(Buffer.from('{}'), false)).toEqual(Buffer.from([0, 0x7b, 0x7d]));
});

it('an answer that was packed with this dictionary stays readable', () => {
  // Fails when the dictionary changes: stores in use contain answers that were packed with it.
  const old = Buffer.from(OLD_ANSWER, 'base64');
  expect(unpackProfile(old).toString()).toBe(
    '{"id":"id_acme0001","name":"Acme","domain":"acme.com","claimed":true,"qualityScore":0.9,"company":{"employees":10001}}',
  );
  const all = unpackProfile(Buffer.from(OLD_REFERENCES, 'base64'));
  expect(createHash('sha256').update(all).digest('hex')).toBe(OLD_HASH);
});

it('a brand of 2 kB takes well under half of its size', () => {
  const large = sampleBrands().filter((brand) => brand.length >= 1_900 && brand.length <= 2_300);
  expect(large.length).toBeGreaterThan(20);
  const packed = large.map((brand) => packProfile(brand, true).length / brand.length);
  expect(Math.max(...packed)).toBeLessThan(0.35);
  expect(packed.reduce((sum, share) => sum + share, 0) / packed.length).toBeLessThan(0.3);
});

it.each([
  ['an unknown form', Buffer.from([7, 1, 2, 3]), /unknown form 7/],
  ['no bytes at all', Buffer.alloc(0), /unknown form undefined/],
  ['a deflated answer that is invalid', Buffer.from([1, 0xff, 0xff]), /./],
  ['a deflated answer that was cut off', packProfile(Buffer.from('x'.repeat(99)), true).subarray(0, 5), /./],
])('%s is refused', (_what, packed, message) => {
  expect(() => unpackProfile(packed)).toThrow(message);
});

it('an answer that would unpack to far more than a service answers is damaged, and is not unpacked', () => {
  const bomb = packProfile(Buffer.alloc(64 * 1_048_576, ' '), true);
  expect(bomb.length).toBeLessThan(100_000);
  expect(() => unpackProfile(bomb)).toThrow();
  expect(readProfile(bomb)).toBeNull();
});

it.each(['', 'null', '[]', '7', '{', '"x"'])('a stored %o is damaged', (text) => {
  expect(readProfile(packProfile(Buffer.from(text), true))).toBeNull();
});
