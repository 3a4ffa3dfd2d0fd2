import { describe, expect, it } from 'vitest';
import { COLUMN_NAMES, findUnknownField } from '../../src/brand-api/known-fields.js';

const KNOWN = `
  brand_name brand_quality_tier qualityScore longDescription isNsfw company company.employees
  company.location company.location.countryCode company.financialIdentifiers
  company.financialIdentifiers.isin company.financialIdentifiers.isin.0 company.industries
  company.industries.0 company.industries.1.slug company.industries.emoji
  company.industries.anvils.parent company.industries.0.parent.0.name
  company.industries.parent.name links links.twitter links.Twitter links.mastodon links.tiktok
  links.x links.0.url logos logos.icon logos.icon.svg logos.icon.dark.svg logos.logo.light
  logos.photographic logos.0.formats.0.src logos.icon.svg.src logos.icon.formats.width
  logos.favicon logos.0.tags images.banner images.other.png colors colors.accent
  colors.brand.hex colors.brightness fonts.title fonts.title.weights fonts.0.weights.0
  fonts.body.originId +nmae +esg.rating
`;
it.each([...COLUMN_NAMES, ...KNOWN.trim().split(/\s+/)])('a field is known: %s', (field) => {
  expect(findUnknownField(field, 'brand_')).toBeNull();
});

describe('an unknown field is answered with a suggestion', () => {
  it.each([
    ['nmae', 'name'],
    ['Name', 'name'],
    ['qualityscore', 'qualityScore'],
    ['foundedYear', 'founded_year'],
    ['descripton', 'description'],
    ['brand_nmae', 'name'],
    ['company.foundedyear', 'company.foundedYear'],
    ['company.location.regoin', 'company.location.region'],
    ['compny.location.region', 'company.location.region'],
    ['region', 'company.location.region'],
    ['company.city', 'company.location.city'],
    ['twitter', 'links.twitter'],
    ['isin', 'company.financialIdentifiers.isin'],
    ['links.twiter', 'links.twitter'],
    ['links.linkdin', 'links.linkedin'],
    ['logos.icon.jpg', 'logos.icon.jpeg'],
    ['colors.acent', 'colors.accent'],
    ['company.industries.0.slugg', 'company.industries.0.slug'],
    ['esg', null],
    ['novelty.level', null],
    ['name.length', null],
    ['constructor', null],
    ['company.toString', null],
    ['', null],
  ])('%s: %s', (field, nearest) => {
    expect(findUnknownField(field, 'brand_')).toEqual({ nearest });
  });

  it('a prefix set by the user is recognised like the default one', () => {
    expect(findUnknownField('x_name', 'x_')).toBeNull();
    expect(findUnknownField('brand_name', 'x_')).not.toBeNull();
  });
});
