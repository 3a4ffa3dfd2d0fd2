import { describe, expect, it } from 'vitest';
import type { Brand } from '../../../src/brand-api/brand.js';
import { COLUMN_NAMES } from '../../../src/brand-api/known-fields.js';
import { bestIcon, bestLogo, mainColor, mainIndustry } from '../../../src/run/output/brand-fields.js';
import { columnsFor, DEFAULT_COLUMNS } from '../../../src/run/output/columns.js';
import { BRAND, MATCHED } from './plans.js';

function logo(type: string, theme: string | null, ...formats: string[]) {
  return { type, theme, formats: formats.map((format) => ({ src: `${type}-${theme}.${format}`, format })) };
}

/** Values may have any type, whatever the contract says. */
function asBrand(value: unknown): Brand {
  return value as Brand;
}

const BEYOND = '{"employees":1e400,"foundedYear":-1e400}';

describe('the default columns', () => {
  it('are in the documented order', () => {
    expect(DEFAULT_COLUMNS.map((column) => column.name).join(' ')).toBe(
      'status kind identifier name domain quality_score quality_tier description industry employees ' +
        'founded_year country city logo_url icon_url color claimed is_nsfw id urn source duplicate_of fetched_at error',
    );
  });

  it.each([
    ['an empty brand', {}],
    ['nulls everywhere', { company: null, logos: null, colors: null, name: null, qualityScore: null }],
    ['a company of nulls', { company: { employees: null, industries: null, location: null } }],
    ['wrong types', { company: 'x', logos: 'x', colors: [1, null], name: {}, qualityScore: '0.5' }],
    ['numbers beyond all numbers', JSON.parse(`{"qualityScore":1e400,"company":${BEYOND}}`)],
  ])('are blank, not broken, with %s', (_name, brand) => {
    for (const column of DEFAULT_COLUMNS) {
      if (['status', 'kind', 'identifier', 'source', 'fetched_at'].includes(column.name)) continue;
      expect(column.cell(MATCHED, asBrand(brand))).toBe('');
    }
  });

  it('fall back to the country code and to the industry slug', () => {
    const location = { country: null, countryCode: 'FR' };
    const brand = asBrand({ company: { location, industries: [{ slug: 'wine' }] } });
    const cell = (name: string) =>
      DEFAULT_COLUMNS.find((column) => column.name === name)?.cell(MATCHED, brand);
    expect(cell('country')).toBe('FR');
    expect(cell('industry')).toBe('wine');
  });
});

describe('the chosen assets', () => {
  it.each([
    [
      'a logo before a symbol, whatever the format',
      [logo('symbol', 'dark', 'svg'), logo('logo', 'light', 'png')],
      'logo-light.png',
    ],
    ['a symbol otherwise', [logo('icon', 'dark', 'svg'), logo('symbol', 'dark', 'png')], 'symbol-dark.png'],
    [
      'dark before unspecified before light',
      [logo('logo', 'light', 'svg'), logo('logo', null, 'svg'), logo('logo', 'dark', 'png')],
      'logo-dark.png',
    ],
    ['svg before png', [logo('logo', 'dark', 'jpeg', 'png', 'svg', 'webp')], 'logo-dark.svg'],
    ['an unknown format rather than nothing', [logo('logo', 'dark', 'avif')], 'logo-dark.avif'],
    ['nothing when there are only icons', [logo('icon', 'dark', 'svg')], null],
    ['nothing without an address', [{ type: 'logo', formats: [{ src: null, format: 'svg' }] }], null],
  ])('prefer %s', (_name, logos, src) => {
    expect(bestLogo(asBrand({ logos }))).toBe(src);
  });

  it('take the larger of two equal files', () => {
    const formats = [16, 400, 64].map((width) => ({ src: `${width}.png`, format: 'png', width }));
    expect(bestIcon(asBrand({ logos: [{ type: 'icon', theme: 'dark', formats }] }))).toBe('400.png');
  });

  it('are the accent colour, else the first, and the industry with the highest score', () => {
    expect(mainColor(BRAND)).toBe('#ff0044');
    const colors = ['dark', 'light'].map((type, at) => ({ type, hex: at === 0 ? null : '#fff' }));
    expect(mainColor({ colors })).toBe('#fff');
    expect(mainIndustry(BRAND)).toBe('Anvils');
    expect(mainIndustry({ company: { industries: [{ name: 'A', score: null }, { name: 'B' }] } })).toBe('A');
  });
});

const names = (fields: readonly string[]) =>
  columnsFor(fields, 'brand_')
    .map((column) => column.name)
    .join(' ');

it.each([
  [[], 'status identifier fetched_at error'],
  [
    ['name', 'brand_quality_score', 'company.kind'],
    'status identifier name quality_score company_kind fetched_at error',
  ],
  [['error', 'name', 'name', 'identifier', 'status'], 'status identifier name fetched_at error'],
  [['+esg.rating', '+name'], 'status identifier esg_rating name fetched_at error'],
  [['qualityScore', 'duplicate_of'], 'status identifier quality_score duplicate_of fetched_at error'],
])('columnsFor(%j) returns %s', (fields, expected) => {
  expect(names(fields)).toBe(expected);
});

it('--fields accepts every default column, and no other', () => {
  expect(DEFAULT_COLUMNS.map(({ name }) => name)).toEqual(COLUMN_NAMES);
});

it('a path with a plus reads a field that the service has added', () => {
  const column = columnsFor(['+esg.rating'], 'brand_').find(({ name }) => name === 'esg_rating');
  expect(column?.cell(MATCHED, asBrand({ esg: { rating: 'AA' } }))).toBe('AA');
});
