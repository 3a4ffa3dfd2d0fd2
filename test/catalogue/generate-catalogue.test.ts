/** Generated catalogues: repeatable, complete, as the specification shapes them. Speed and memory are measured elsewhere. */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'tldts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isIsin } from '../../src/catalogue/catalogue-isin.js';
import type { GenerateOptions } from '../../src/catalogue/generate-brand.js';
import {
  generateCatalogue,
  SPECIFIED_COVERAGE,
  writeCatalogue,
} from '../../src/catalogue/generate-catalogue.js';
import {
  generatedCrypto,
  generatedDomain,
  generatedEtf,
  generatedId,
  generatedIsin,
  generatedTicker,
} from '../../src/catalogue/generate-keys.js';
import { loadCatalogue } from '../../src/catalogue/load-catalogue.js';
import { type Brand, qualityTier } from '../../src/contract/brand.js';
import { FailFileError, NeverStartError } from '../../src/errors.js';
import { specifiedBrand } from '../fixtures/specified-brand.js';

const options: GenerateOptions = {
  brands: 1_200,
  cryptoSymbols: 200,
  etfTickers: 400,
  etfProviders: 30,
  seed: 7,
};
interface Line {
  readonly brand: Brand;
  readonly keys: { readonly [kind in 'domains' | 'tickers' | 'isins' | 'crypto']: string[] };
  readonly adult: string;
}
const texts = [...generateCatalogue(options)];
const lines = texts.map((text) => JSON.parse(text) as Line);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a generated catalogue', () => {
  test('is the same for the same options', () => {
    expect([...generateCatalogue({ ...options })]).toEqual(texts);
  });

  test('has other brands under the same keys for another seed', () => {
    const [first] = generateCatalogue({ ...options, seed: 8 });
    expect(first).not.toBe(texts[0]);
    expect((JSON.parse(first ?? '') as Line).keys).toEqual(lines[0]?.keys);
  });

  test('begins the same way however many brands follow', () => {
    const { value } = generateCatalogue({ ...options, brands: 1_000_000 }).next();
    expect(value).toBe(texts[0]);
  });

  test('loads, and every key it was asked for finds a brand', async () => {
    const path = join(folder, 'loaded.jsonl');
    await writeCatalogue(path, options);
    const catalogue = await loadCatalogue(path);
    expect(catalogue.size).toBe(options.brands);
    for (let n = 0; n < options.brands; n += 1) expect(catalogue.byDomain(generatedDomain(n))).toBeDefined();
    for (let n = 0; n < options.cryptoSymbols; n += 1)
      expect(catalogue.byCrypto(generatedCrypto(n))).toBeDefined();
    for (let n = 0; n < options.etfTickers; n += 1) expect(catalogue.byTicker(generatedEtf(n))).toBeDefined();
  });

  test('resolves ETF tickers to as many providers as asked for', () => {
    const providers = lines.filter((line) => line.keys.tickers.some((ticker) => ticker.startsWith('E')));
    expect(providers).toEqual(lines.slice(0, options.etfProviders));
  });

  test('has more symbols per brand when there are few brands', () => {
    const [only] = generateCatalogue({
      brands: 1,
      cryptoSymbols: 3,
      etfTickers: 2,
      etfProviders: 1,
      seed: 1,
    });
    const { keys } = JSON.parse(only ?? '') as Line;
    expect([keys.crypto.length, keys.tickers.length]).toEqual([3, 3]);
  });

  test('has brands of exactly the specified shape', () => {
    for (const { brand } of lines) expect(specifiedBrand.safeParse(brand).error?.issues ?? []).toEqual([]);
  });

  test('has bodies of 2,048 bytes, no two alike', () => {
    const bodies = lines.map((line) => JSON.stringify(line.brand));
    expect(new Set(bodies.map((body) => Buffer.byteLength(body)))).toEqual(new Set([2_048]));
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  test.each([3_000, 20_000])('has bodies of %i bytes when asked', (bodyBytes) => {
    const [first] = generateCatalogue({ ...options, bodyBytes });
    expect(Buffer.byteLength(JSON.stringify((JSON.parse(first ?? '') as Line).brand))).toBe(bodyBytes);
  });

  test('has the shortest bodies there are when asked for fewer bytes than the fields take', () => {
    const [first] = generateCatalogue({ ...options, bodyBytes: 10 });
    expect((JSON.parse(first ?? '') as Line).brand.longDescription).toBe('');
  });

  test('spreads scores over all three thirds', () => {
    for (const tier of ['poor', 'acceptable', 'high']) {
      const share =
        lines.filter((line) => qualityTier(line.brand.qualityScore ?? 0) === tier).length / lines.length;
      expect(share).toBeGreaterThan(0.25);
    }
  });

  test('has both sorts of adult brands', () => {
    expect(lines.filter((line) => line.adult === 'flagged').length).toBe(1);
    expect(lines.filter((line) => line.adult === 'withheld').length).toBe(1);
  });

  test('has symbols that are also the ticker of another brand', () => {
    const tickers = new Map(
      lines.flatMap((line) => line.keys.tickers.map((ticker) => [ticker, line] as const)),
    );
    const shared = lines.flatMap((line) => line.keys.crypto.filter((symbol) => tickers.has(symbol)));
    expect(shared.length).toBeGreaterThan(0);
  });
});

describe('generated keys', () => {
  const { brands, cryptoSymbols, etfTickers } = { ...SPECIFIED_COVERAGE, brands: 300_000 };
  const numbers = Array.from({ length: brands }, (_, n) => n);

  test('never come out twice, in 300,000 brands', () => {
    expect(new Set(numbers.map(generatedDomain)).size).toBe(brands);
    expect(new Set(numbers.map(generatedId)).size).toBe(brands);
    expect(new Set(numbers.map(generatedIsin)).size).toBe(brands);
    const etfs = numbers.slice(0, etfTickers).map(generatedEtf);
    expect(new Set([...numbers.map(generatedTicker), ...etfs]).size).toBe(brands + etfTickers);
    expect(new Set(numbers.slice(0, cryptoSymbols).map(generatedCrypto)).size).toBe(cryptoSymbols);
  });

  test('have right check digits and registrable domains', () => {
    for (const n of numbers.slice(0, 2_000)) {
      expect(isIsin(generatedIsin(n))).toBe(true);
      expect(parse(generatedDomain(n)).domain).toBe(generatedDomain(n));
    }
  });
});

describe('writing a catalogue', () => {
  test('writes the lines', async () => {
    const path = join(folder, 'plain.jsonl');
    await writeCatalogue(path, options);
    expect((await readFile(path, 'utf8')) === `${texts.join('\n')}\n`).toBe(true);
  });

  test('packs a file whose name ends in .gz', async () => {
    const path = join(folder, 'packed.jsonl.gz');
    await writeCatalogue(path, options);
    expect((await readFile(path)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect((await loadCatalogue(path)).size).toBe(options.brands);
  });

  test('leaves nothing half-written behind', async () => {
    const place = await mkdtemp(join(folder, 'half-'));
    await writeCatalogue(join(place, 'good.jsonl'), { ...options, brands: 100 });
    expect(await readdir(place)).toEqual(['good.jsonl']);
  });

  test('that fails at the last step leaves nothing behind either', async () => {
    const place = await mkdtemp(join(folder, 'taken-'));
    await mkdir(join(place, 'taken.jsonl'));
    await expect(writeCatalogue(join(place, 'taken.jsonl'), { ...options, brands: 100 })).rejects.toThrow(
      'taken.jsonl',
    );
    expect(await readdir(place)).toEqual(['taken.jsonl']);
  });

  test('to a folder that is not there fails by name', async () => {
    const failing = writeCatalogue(join(folder, 'nowhere', 'x.jsonl'), options);
    await expect(failing).rejects.toThrow(FailFileError);
    await expect(failing).rejects.toThrow('x.jsonl');
  });

  test.each<[string, Partial<GenerateOptions>]>([
    ['etfProviders is greater than brands', { brands: 10 }],
    ['etfTickers need etfProviders', { etfProviders: 0 }],
    ['brands is -1', { brands: -1 }],
    ['seed is NaN', { seed: Number.NaN }],
    ['bodyBytes is 0.5', { bodyBytes: 0.5 }],
  ])('is refused when %s', async (words, wrong) => {
    const failing = writeCatalogue(join(folder, 'never.jsonl'), { ...options, ...wrong });
    await expect(failing).rejects.toThrow(NeverStartError);
    await expect(failing).rejects.toThrow(words);
  });
});
