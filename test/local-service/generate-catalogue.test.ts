import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Brand } from '../../src/brand-api/brand.js';
import { loadCatalogue } from '../../src/local-service/load-catalogue.js';
import { specifiedBrand } from '../fixtures/specified-brand.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { generateCatalogue, isAsLive, writeCatalogue } from './generate-catalogue.js';
import { generatedDomain, generatedIsin, generatedTicker, isListed } from './generate-keys.js';

const BRANDS = 1_200;
const lines = [...generateCatalogue(BRANDS)].map((text) => JSON.parse(text) as { readonly brand: Brand });

describe('a generated catalogue', () => {
  test('loads, and every generated key finds a brand', async () => {
    const path = join(await temporaryFolder(), 'loaded.jsonl');
    await writeCatalogue(path, BRANDS);
    const catalogue = await loadCatalogue(path);
    expect(catalogue.size).toBe(BRANDS);
    for (let index = 0; index < BRANDS; index += 1) {
      const brand = catalogue.find('domain', generatedDomain(index));
      expect(brand).toBeDefined();
      if (!isListed(index)) continue;
      expect(catalogue.find('ticker', generatedTicker(index))).toBe(brand);
      expect(catalogue.find('isin', generatedIsin(index))).toBe(brand);
    }
  });

  test('has four of five brands in exactly the specified shape', () => {
    const specified = lines.filter((_line, index) => !isAsLive(index));
    expect(specified.length).toBe(lines.length * 0.8);
    for (const { brand } of specified)
      expect(specifiedBrand.safeParse(brand).error?.issues ?? []).toEqual([]);
  });

  test('has bodies of 2,048 bytes, no two alike', () => {
    const bodies = lines.map((line) => JSON.stringify(line.brand));
    expect(new Set(bodies.map((body) => Buffer.byteLength(body)))).toEqual(new Set([2_048]));
    expect(new Set(bodies).size).toBe(bodies.length);
  });
});
