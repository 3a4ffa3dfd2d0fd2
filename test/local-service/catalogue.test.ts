/**
 * The catalogue in memory: normal forms of keys, lookups by kind, keys that two brands claim, check
 * digits.
 */
import { describe, expect, test } from 'vitest';
import { isIsin } from '../../src/core/isin.js';
import {
  Catalogue,
  type IndexedBrand,
  KEY_KINDS,
  type KeyKind,
  normalKey,
} from '../../src/local-service/catalogue.js';

function brandWith(keys: Partial<Record<KeyKind, string[]>>, line = 1, body = '{}'): IndexedBrand {
  const all = { domain: [], ticker: [], isin: [], crypto: [], id: [], ...keys };
  return { body: Buffer.from(body), adult: 'none', keys: all, line };
}

function indexOf(keys: Partial<Record<KeyKind, string[]>>) {
  const index = new Catalogue();
  index.add(brandWith(keys));
  return index;
}

describe('the normal form of a key', () => {
  test.each<[KeyKind, string, string]>([
    ['domain', 'Example.COM', 'example.com'],
    ['domain', 'example.com.', 'example.com'],
    ['domain', 'Bücher.de', 'xn--bcher-kva.de'],
    ['ticker', 'brk.b', 'BRK.B'],
    ['isin', 'us0378331005', 'US0378331005'],
    ['crypto', 'btc', 'BTC'],
    ['id', 'id_aBc', 'id_aBc'],
  ])('of the %s %s is %s', (kind, value, normal) => {
    expect(normalKey(kind, value)).toBe(normal);
  });
});

describe('a lookup', () => {
  test('by domain ignores case', () => {
    expect(indexOf({ domain: ['Acme.com'] }).find('domain', 'ACME.com')).toBeDefined();
  });

  test('by domain ignores a leading www.', () => {
    expect(indexOf({ domain: ['acme.com'] }).find('domain', 'WWW.acme.com')).toBeDefined();
  });

  test('by domain prefers a www. that is listed', () => {
    const index = new Catalogue();
    index.add(brandWith({ domain: ['acme.com'] }, 1, '"bare"'));
    index.add(brandWith({ domain: ['www.acme.com'] }, 2, '"www"'));
    expect(index.find('domain', 'www.acme.com')?.body.toString()).toBe('"www"');
  });

  test('by domain finds only listed subdomains', () => {
    const catalogue = indexOf({ domain: ['acme.com', 'shop.acme.com'] });
    expect(catalogue.find('domain', 'shop.acme.com')).toBeDefined();
    expect(catalogue.find('domain', 'blog.acme.com')).toBeUndefined();
  });

  test('by ticker, ISIN and symbol ignores case', () => {
    const catalogue = indexOf({ ticker: ['BRK.B'], isin: ['US0378331005'], crypto: ['btc'] });
    expect(catalogue.find('ticker', 'brk.b')).toBeDefined();
    expect(catalogue.find('isin', 'us0378331005')).toBeDefined();
    expect(catalogue.find('crypto', 'BTC')).toBeDefined();
  });

  test('by id is exact', () => {
    const catalogue = indexOf({ id: ['id_aBc'] });
    expect(catalogue.find('id', 'id_aBc')).toBeDefined();
    expect(catalogue.find('id', 'id_abc')).toBeUndefined();
  });

  test('finds a key only as its own kind', () => {
    const catalogue = indexOf({ ticker: ['META'] });
    expect(catalogue.find('ticker', 'META')).toBeDefined();
    expect(catalogue.find('crypto', 'META')).toBeUndefined();
    expect(catalogue.find('isin', 'META')).toBeUndefined();
    expect(catalogue.find('domain', 'META')).toBeUndefined();
    expect(catalogue.find('id', 'META')).toBeUndefined();
  });
});

describe('adding a brand', () => {
  test.each(KEY_KINDS)('whose %s belongs to another brand is refused and names that brand', (kind) => {
    const index = new Catalogue();
    expect(index.add(brandWith({ [kind]: ['aa.bb'] }, 4))).toBeNull();
    expect(index.add(brandWith({ [kind]: ['aa.bb'] }, 9))).toEqual({ kind, value: 'aa.bb', ownerLine: 4 });
    expect(index.size).toBe(1);
  });

  test('that is refused for one key leaves none of its other keys', () => {
    const index = new Catalogue();
    index.add(brandWith({ ticker: ['A'] }));
    index.add(brandWith({ domain: ['free.com'], ticker: ['a'] }, 2));
    expect(index.find('domain', 'free.com')).toBeUndefined();
  });

  test('that lists one key twice is accepted', () => {
    const index = new Catalogue();
    expect(index.add(brandWith({ domain: ['acme.com', 'ACME.com'] }))).toBeNull();
  });

  test('copies its bytes, whatever their number and length', () => {
    const index = new Catalogue();
    const bodies = [10, 700_000, 400_000, 3_000_000, 5].map((size, line) => String(line).repeat(size));
    bodies.forEach((body, line) => {
      const brand = brandWith({ id: [`id_${line}`] }, line, body);
      index.add(brand);
      brand.body.fill(0);
    });
    bodies.forEach((body, line) => {
      expect(index.find('id', `id_${line}`)?.body.toString() === body).toBe(true);
    });
  });
});

describe('the check digit of an ISIN', () => {
  test.each([
    ['US0378331005', true],
    ['DE000BASF111', true],
    ['KYG875721634', true],
    ['XS0000000009', true],
    ['AU0000XVGZA3', true],
    ['US0378331006', false],
    ['US0378313005', false],
    ['us0378331005', false],
    ['US037833100', false],
    ['12345678901X', false],
  ])('of %s holds: %s', (isin, holds) => {
    expect(isIsin(isin)).toBe(holds);
  });
});
