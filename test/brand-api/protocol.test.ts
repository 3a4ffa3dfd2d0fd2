import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { qualityScoreOf, qualityTier } from '../../src/brand-api/brand.js';
import {
  type AllowNsfw,
  lookupPath,
  parseCount,
  parseHttpDate,
  parseLookupPath,
  parseRetryAfter,
  QUOTA_HEADER,
  USAGE_HEADER,
} from '../../src/brand-api/protocol.js';
import { IDENTIFIER_KINDS, type IdentifierKind } from '../../src/core/identifier.js';

describe('routes', () => {
  test.each<[IdentifierKind, string, AllowNsfw, string]>([
    ['domain', 'acme.example', 'unset', '/v2/brands/domain/acme.example'],
    ['id', 'id_Ab12', 'unset', '/v2/brands/id_Ab12'],
    ['auto', 'acme', 'unset', '/v2/brands/acme'],
    ['domain', 'acme.example', 'true', '/v2/brands/domain/acme.example?allowNsfw=true'],
    ['auto', 'acme', 'false', '/v2/brands/acme?allowNsfw=false'],
    ['ticker', 'BRK/B', 'unset', '/v2/brands/ticker/BRK%2FB'],
    ['ticker', 'A?B#C%D', 'unset', '/v2/brands/ticker/A%3FB%23C%25D'],
    ['crypto', 'БТК', 'unset', '/v2/brands/crypto/%D0%91%D0%A2%D0%9A'],
  ])('%s %s, allowNsfw %s: %s', (kind, value, allowNsfw, path) => {
    expect(lookupPath({ kind, value }, allowNsfw)).toBe(path);
  });

  test.each<[string, ReturnType<typeof parseLookupPath>]>([
    ['/v2/brands/acme.example', { route: null, value: 'acme.example' }],
    ['/v2/brands/domain/acme.example', { route: 'domain', value: 'acme.example' }],
    ['/v2/brands/ticker/BRK%2FB', { route: 'ticker', value: 'BRK/B' }],
    ['/v2/brands/domain', { route: null, value: 'domain' }],
    ['/v2/brands/ticker/', null],
    ['/v2/brands/', null],
    ['/v2/brands/other/acme', null],
    ['/v2/brands/domain/acme/more', null],
    ['/v2/brands/%zz', null],
    ['/v2/brands//acme', null],
    ['/v1/brands/acme', null],
  ])('%s is parsed', (path, route) => {
    expect(parseLookupPath(path)).toEqual(route);
  });

  test('any request is parsed as it was meant', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(fc.constantFrom(...IDENTIFIER_KINDS), value, (kind, text) => {
        const route = kind === 'id' || kind === 'auto' ? null : kind;
        expect(parseLookupPath(lookupPath({ kind, value: text }, 'unset'))).toEqual({ route, value: text });
      }),
    );
  });
});

describe('usage headers', () => {
  test('have the names of the specification', () => {
    expect([QUOTA_HEADER, USAGE_HEADER]).toEqual(['x-api-key-quota', 'x-api-key-approximate-usage']);
  });

  test.each<[string | null | undefined, number | null]>([
    ['0', 0],
    ['250', 250],
    [' 250 ', 250],
    ['00250', 250],
    ['999999999999999', 999_999_999_999_999],
    ['9999999999999999', null],
    ['', null],
    ['-1', null],
    ['+1', null],
    ['2.5', null],
    ['1e3', null],
    ['0x10', null],
    ['unlimited', null],
    ['٣', null],
    [null, null],
    [undefined, null],
  ])('%j is %s', (text, count) => {
    expect(parseCount(text)).toBe(count);
  });
});

describe('the quality score', () => {
  test.each<[unknown, number | null]>([
    [0, 0],
    [0.37, 0.37],
    [1, 1],
    [1.01, null],
    [-0.1, null],
    [Number.NaN, null],
    ['0.5', null],
    [null, null],
    [undefined, null],
  ])('%j counts as %s', (score, counted) => {
    expect(qualityScoreOf({ qualityScore: score as number | null })).toBe(counted);
  });

  test.each([
    [0, 'poor'],
    [0.3333, 'poor'],
    [1 / 3, 'acceptable'],
    [0.6666, 'acceptable'],
    [2 / 3, 'high'],
    [1, 'high'],
  ])('%d is %s', (score, tier) => {
    expect(qualityTier(score)).toBe(tier);
  });
});

const NOON = Date.UTC(2030, 0, 15, 12);

test.each<[string | undefined, number | null]>([
  [undefined, null],
  ['', null],
  ['0', 0],
  ['7', 7_000],
  [' 7 ', 7_000],
  ['900', 900_000],
  ['86400', 900_000],
  ['999999999', 900_000],
  ['9999999999', null],
  ['1.5', null],
  ['-1', null],
  ['+1', null],
  ['1e3', null],
  ['0x10', null],
  ['soon', null],
  ['Tue, 15 Jan 2030 12:00:30 GMT', 30_000],
  ['Tue, 15 Jan 2030 11:59:30 GMT', 0],
  ['Wed, 16 Jan 2030 12:00:00 GMT', 900_000],
  ['2030-01-15T12:00:30Z', null],
])('Retry-After: %j waits %s ms', (text, waitMs) => {
  expect(parseRetryAfter(text, NOON)).toBe(waitMs);
});

test.each<[string | undefined, number | null]>([
  ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
  ['Thu, 32 Jan 2030 00:00:00 GMT', null],
  ['Sun, 06 Nov 1994 24:00:00 GMT', null],
  ['Mon, 30 Feb 2026 10:00:00 GMT', null],
  ['Sat, 01 Jan 0001 00:00:00 GMT', null],
  ['Thu, 01 Jan 0970 00:00:00 GMT', null],
  ['Mon, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
  ['Sun, 06 Nox 1994 08:49:37 GMT', null],
  ['Sunday, 06-Nov-94 08:49:37 GMT', null],
  ['Sun Nov  6 08:49:37 1994', null],
  ['Sun, 06 Nov 1994 08:49:37 +0000', null],
  ['Sun, 6 Nov 1994 08:49:37 GMT', null],
  ['0', null],
  [undefined, null],
])('an HTTP date: %j', (text, time) => {
  expect(parseHttpDate(text)).toBe(time);
});
