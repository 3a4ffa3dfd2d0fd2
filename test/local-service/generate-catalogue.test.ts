import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Brand } from '../../src/brand-api/brand.js';
import { loadCatalogue } from '../../src/local-service/load-catalogue.js';
import { specifiedBrand } from '../fixtures/specified-brand.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { type GenerateOptions, generateCatalogue, isAsLive, writeCatalogue } from './generate-catalogue.js';
import { generatedCrypto, generatedDomain, generatedEtf } from './generate-keys.js';

const sizes = { brands: 1_200, cryptoSymbols: 200, etfTickers: 400, etfProviders: 30 };
const options: GenerateOptions = { ...sizes, seed: 7 };
const lines = [...generateCatalogue(options)].map((text) => JSON.parse(text) as { readonly brand: Brand });

describe('a generated catalogue', () => {
  test('loads, and every generated key finds a brand', async () => {
    const path = join(await temporaryFolder(), 'loaded.jsonl');
    await writeCatalogue(path, options);
    const catalogue = await loadCatalogue(path);
    expect(catalogue.size).toBe(options.brands);
    for (const [kind, count, keyOf] of [
      ['domain', options.brands, generatedDomain],
      ['crypto', options.cryptoSymbols, generatedCrypto],
      ['ticker', options.etfTickers, generatedEtf],
    ] as const)
      for (let n = 0; n < count; n += 1) expect(catalogue.find(kind, keyOf(n))).toBeDefined();
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
