/** Generated catalogues: repeatable, complete, and shaped like the specification. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'tldts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Brand, qualityTier } from '../../src/brand-api/brand.js';
import { isIsin } from '../../src/core/isin.js';
import { loadCatalogue } from '../../src/local-service/load-catalogue.js';
import { SPECIFIED_COVERAGE, specifiedBrand } from '../fixtures/specified-brand.js';
import {
  EMPLOYEE_BANDS,
  type GenerateOptions,
  generateCatalogue,
  isAsLive,
  writeCatalogue,
} from './generate-catalogue.js';
import {
  generatedCrypto,
  generatedDomain,
  generatedEtf,
  generatedId,
  generatedIsin,
  generatedTicker,
} from './generate-keys.js';

const sizes = { brands: 1_200, cryptoSymbols: 200, etfTickers: 400, etfProviders: 30 };
const options: GenerateOptions = { ...sizes, seed: 7 };
interface Line {
  readonly brand: Brand;
  readonly keys: { readonly [kind in 'domains' | 'tickers' | 'isins' | 'crypto']: string[] };
  readonly adult: string;
}
const texts = [...generateCatalogue(options)];
const lines = texts.map((text) => JSON.parse(text) as Line);

const formatsOf = ({ logos, images }: Brand) =>
  [...(logos ?? []), ...(images ?? [])].flatMap(({ formats }) => formats ?? []);
const shapeOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a generated catalogue', () => {
  test('is the same for the same options', () => {
    expect([...generateCatalogue({ ...options })]).toEqual(texts);
  });

  test('loads, and every generated key finds a brand', async () => {
    const path = join(folder, 'loaded.jsonl');
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

  test('resolves ETF tickers to the requested number of providers', () => {
    const providers = lines.filter((line) => line.keys.tickers.some((ticker) => ticker.startsWith('E')));
    expect(providers).toEqual(lines.slice(0, options.etfProviders));
  });

  test('has four of five brands in exactly the specified shape', () => {
    const specified = lines.filter((_line, index) => !isAsLive(index));
    expect(specified.length).toBe(lines.length * 0.8);
    for (const { brand } of specified)
      expect(specifiedBrand.safeParse(brand).error?.issues ?? []).toEqual([]);
  });

  const LINKS = ['twitter', 'facebook', 'instagram', 'github', 'youtube', 'linkedin', 'crunchbase'];
  const COMPANY_KINDS = [
    ...['EDUCATIONAL', 'GOVERNMENT_AGENCY', 'NON_PROFIT', 'PARTNERSHIP', 'PRIVATELY_HELD'],
    ...['PUBLIC_COMPANY', 'SELF_EMPLOYED', 'SELF_OWNED', null],
  ];
  const parentsOf = ({ company }: Brand) => company?.industries?.map(({ parent }) => shapeOf(parent));
  type Read = (brand: Brand) => readonly unknown[] | null | undefined;
  test.each<[string, readonly unknown[], Read]>([
    ['names', [null], ({ name }) => [name]],
    ['descriptions', [null], ({ description }) => [description]],
    ['long descriptions', [null], ({ longDescription }) => [longDescription]],
    ['links', LINKS, ({ links }) => links?.map(({ name }) => name)],
    ['logo types', ['icon', 'logo', 'symbol', 'other'], ({ logos }) => logos?.map(({ type }) => type)],
    ['themes', ['dark', 'light', null], ({ logos }) => logos?.map(({ theme }) => theme)],
    ['logo tags', ['photographic', 'portrait'], ({ logos }) => logos?.flatMap(({ tags }) => tags ?? [])],
    ['image types', ['banner', 'other'], ({ images }) => images?.map(({ type }) => type)],
    ['image tags', ['photographic'], ({ images }) => images?.flatMap(({ tags }) => tags ?? [])],
    ['formats', ['svg', 'webp', 'png', 'jpeg'], (brand) => formatsOf(brand).map(({ format }) => format)],
    ['backgrounds', ['transparent', null], (brand) => formatsOf(brand).map(({ background }) => background)],
    ['widths', [null, undefined], (brand) => formatsOf(brand).map(({ width }) => width)],
    ['colours', ['accent', 'dark', 'light', 'brand', 'palette'], (it) => it.colors?.map(({ type }) => type)],
    ['font types', ['title', 'body'], ({ fonts }) => fonts?.map(({ type }) => type)],
    ['font origins', ['google', 'custom', 'system'], ({ fonts }) => fonts?.map(({ origin }) => origin)],
    ['font names', [null], ({ fonts }) => fonts?.flatMap(({ name, originId }) => [name, originId])],
    ['numbers of font weights', [0, 2], ({ fonts }) => fonts?.map(({ weights }) => weights?.length)],
    ['company kinds', COMPANY_KINDS, ({ company }) => company && [company.kind]],
    ['companies', [null], ({ company }) => [company]],
    ['bands of employees', [...EMPLOYEE_BANDS, null], ({ company }) => company && [company.employees]],
    ['parents of industries', ['array', 'object', 'null'], parentsOf],
  ])('has all documented %s', (_what, documented, read) => {
    const seen = new Set(lines.slice(0, 200).flatMap(({ brand }) => read(brand) ?? []));
    expect(documented.filter((value) => !seen.has(value))).toEqual([]);
  });

  test('of the specified coverage has more than 300 ETF providers, in the US and in Europe, no two alike', () => {
    const { etfProviders, etfTickers, cryptoSymbols } = SPECIFIED_COVERAGE;
    const covered = [...generateCatalogue({ ...SPECIFIED_COVERAGE, seed: 1 })].map(
      (text) => JSON.parse(text) as Line,
    );
    const providers = covered.slice(0, etfProviders);
    expect(providers.length).toBeGreaterThan(300);
    const etfs = new Set(Array.from({ length: etfTickers }, (_, n) => generatedEtf(n)));
    expect(etfs.size).toBe(10_000);
    for (const { keys } of providers) expect(keys.tickers.some((ticker) => etfs.has(ticker))).toBe(true);
    expect(providers.flatMap(({ keys }) => keys.tickers.filter((ticker) => etfs.has(ticker)))).toHaveLength(
      etfTickers,
    );
    expect(new Set(covered.flatMap(({ keys }) => keys.crypto)).size).toBe(cryptoSymbols);
    const names = providers.flatMap(({ brand }) => brand.name ?? []);
    expect(new Set(names).size).toBe(names.length);
    const places = new Set(
      providers.map(({ brand }) =>
        brand.company?.location?.countryCode === 'US' ? 'US' : brand.company?.location?.region,
      ),
    );
    expect([...places].sort()).toEqual(['Europe', 'US']);
  });

  test('has bodies of 2,048 bytes, no two alike', () => {
    const bodies = lines.map((line) => JSON.stringify(line.brand));
    expect(new Set(bodies.map((body) => Buffer.byteLength(body)))).toEqual(new Set([2_048]));
    expect(new Set(bodies).size).toBe(bodies.length);
  });

  test('spreads scores over all three thirds', () => {
    for (const tier of ['poor', 'acceptable', 'high']) {
      const share =
        lines.filter((line) => qualityTier(line.brand.qualityScore ?? 0) === tier).length / lines.length;
      expect(share).toBeGreaterThan(0.25);
    }
  });

  test('has both kinds of adult brands', () => {
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

  test('never repeat in 300,000 brands', { tags: ['long'] }, () => {
    expect(new Set(numbers.map(generatedDomain)).size).toBe(brands);
    expect(new Set(numbers.map(generatedId)).size).toBe(brands);
    expect(new Set(numbers.map(generatedIsin)).size).toBe(brands);
    const etfs = numbers.slice(0, etfTickers).map(generatedEtf);
    expect(new Set([...numbers.map(generatedTicker), ...etfs]).size).toBe(brands + etfTickers);
    expect(new Set(numbers.slice(0, cryptoSymbols).map(generatedCrypto)).size).toBe(cryptoSymbols);
  });

  test('have valid check digits and registrable domains', () => {
    for (const n of numbers.slice(0, 2_000)) {
      expect(isIsin(generatedIsin(n))).toBe(true);
      expect(parse(generatedDomain(n)).domain).toBe(generatedDomain(n));
    }
  });
});
