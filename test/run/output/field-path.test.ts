import { describe, expect, it } from 'vitest';
import { columnOfPath, fieldAt } from '../../../src/run/output/brand-fields.js';
import { BRAND } from './plans.js';

const SEEN = {
  ...BRAND,
  images: [
    {
      type: 'other',
      formats: [64, 512, 128].map((width) => ({ src: `${width}.png`, format: 'png', width })),
    },
  ],
  novelty: { level: 3, list: ['a', 'b'], deep: { x: null } },
  colors: [...BRAND.colors, { hex: null, type: 'light' }, null],
};

describe('fieldAt', () => {
  it.each([
    ['name', 'Acme, Inc.'],
    ['claimed', 'true'],
    ['qualityScore', '0.9'],
    ['longDescription', ''],
    ['company.location.region', 'Americas'],
    ['company.location.subregion', ''],
    ['company.financialIdentifiers.isin', 'US0378331005|US5949181045'],
    ['company.industries', 'Toys|Anvils'],
    ['company.industries.0', 'Toys'],
    ['company.industries.1.slug', 'anvils'],
    ['company.industries.emoji', '🧸|🔨'],
    ['company.industries.anvils.parent', 'metal'],
    ['links', 'https://twitter.com/acme|https://linkedin.com/company/acme'],
    ['links.twitter', 'https://twitter.com/acme'],
    ['links.Twitter', 'https://twitter.com/acme'],
    ['links.github', ''],
    ['logos', 'https://assets.example/logo-dark.svg'],
    ['logos.icon', 'https://assets.example/icon.png'],
    ['logos.icon.svg', ''],
    ['logos.logo.png', 'https://assets.example/logo-dark.png'],
    ['logos.logo.light', 'https://assets.example/logo-light.svg'],
    ['logos.logo.light.svg', 'https://assets.example/logo-light.svg'],
    ['logos.photographic', 'https://assets.example/logo-light.svg'],
    ['colors', '#111111|#ff0044'],
    ['colors.accent', '#ff0044'],
    ['fonts.title', 'Inter'],
    ['fonts.title.weights', '400|700'],
    ['images.banner', ''],
    ['images.other.png', '512.png'],
    ['novelty.level', '3'],
    ['novelty.list', 'a|b'],
    ['novelty', '{"level":3,"list":["a","b"],"deep":{"x":null}}'],
    ['nothing.at.all', ''],
    ['constructor', ''],
    ['name.length', ''],
  ])('%s is %j', (path, cell) => {
    expect(fieldAt(SEEN, path)).toBe(cell);
  });

  it.each([null, [], 'text', {}, { company: null, links: null, logos: {} }])('handles %j', (profile) => {
    for (const path of ['company.location.city', 'links.twitter', 'logos.icon.svg']) {
      expect(fieldAt(profile, path)).toBe('');
    }
  });
});

it('a number out of range is blank, alone and among others', () => {
  const profile: unknown = JSON.parse('{"n":1e400,"all":[1,-1e400,2],"o":{"id":1e400},"json":{"n":1e400}}');
  const cells = ['n', 'all', 'o', 'json'].map((path) => fieldAt(profile, path));
  expect(cells).toEqual(['', '1|2', '', '{"n":null}']);
});

it.each([
  ['company.location.countryCode', 'company_location_country_code'],
  ['links.twitter', 'links_twitter'],
  ['isNsfw', 'is_nsfw'],
])('columnOfPath(%s) is %s', (path, name) => {
  expect(columnOfPath(path)).toBe(name);
});
