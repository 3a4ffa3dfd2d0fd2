import { describe, expect, test } from 'vitest';
import { Catalogue, type IndexedBrand, KEY_KINDS, type KeyKind } from '../../src/local-service/catalogue.js';

function brandWith(keys: Partial<Record<KeyKind, string[]>>, line = 1, body = '{}'): IndexedBrand {
  const all = { domain: [], ticker: [], isin: [], crypto: [], id: [], ...keys };
  return { body: Buffer.from(body), adult: 'none', keys: all, line };
}

function indexOf(keys: Partial<Record<KeyKind, string[]>>) {
  const index = new Catalogue();
  index.add(brandWith(keys));
  return index;
}

test.each<[KeyKind, string, string]>([
  ['domain', 'Example.COM', 'example.com'],
  ['domain', 'example.com.', 'example.com'],
  ['domain', 'Bücher.de', 'xn--bcher-kva.de'],
  ['ticker', 'brk.b', 'BRK.B'],
  ['isin', 'us0378331005', 'US0378331005'],
  ['crypto', 'btc', 'BTC'],
  ['id', 'id_aBc', 'id_aBc'],
])('the normal form of a key: of the %s %s is %s', (kind, value, normal) => {
  expect(indexOf({ [kind]: [normal] }).find(kind, value)).toBeDefined();
  expect(indexOf({ [kind]: [value] }).find(kind, normal)).toBeDefined();
});

describe('a lookup', () => {
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
