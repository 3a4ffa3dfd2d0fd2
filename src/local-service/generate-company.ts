/**
 * The company behind a generated brand: size, place, trade and listing, in the forms that the specification shows, and in
 * those that live services send.
 */
import { generatedIsin, generatedTicker, isListed } from './generate-keys.js';
import type { Chance } from './generate-random.js';

/** Lower bounds of the bands in which such services give the number of employees. */
export const EMPLOYEE_BANDS = [1, 2, 11, 51, 201, 501, 1001, 5001, 10001] as const;

const PLACES = [
  {
    city: 'Hamburg',
    country: 'Germany',
    countryCode: 'DE',
    region: 'Europe',
    state: 'Hamburg',
    subregion: 'Western Europe',
  },
  {
    city: 'Lyon',
    country: 'France',
    countryCode: 'FR',
    region: 'Europe',
    state: 'Auvergne-Rhone-Alpes',
    subregion: 'Western Europe',
  },
  {
    city: 'Leeds',
    country: 'United Kingdom',
    countryCode: 'GB',
    region: 'Europe',
    state: 'England',
    subregion: 'Northern Europe',
  },
  {
    city: 'Osaka',
    country: 'Japan',
    countryCode: 'JP',
    region: 'Asia',
    state: 'Osaka',
    subregion: 'Eastern Asia',
  },
  {
    city: 'Denver',
    country: 'United States',
    countryCode: 'US',
    region: 'Americas',
    state: 'Colorado',
    subregion: 'Northern America',
  },
  {
    city: 'Perth',
    country: 'Australia',
    countryCode: 'AU',
    region: 'Oceania',
    state: 'Western Australia',
    subregion: 'Australia and New Zealand',
  },
] as const;
const INDUSTRIES = [
  {
    slug: 'software',
    name: 'Software',
    emoji: '💻',
    parent: { slug: 'technology', name: 'Technology', emoji: '🔌' },
  },
  {
    slug: 'banking',
    name: 'Banking',
    emoji: '🏦',
    parent: { slug: 'finance', name: 'Finance', emoji: '💰' },
  },
  {
    slug: 'clothing',
    name: 'Clothing',
    emoji: '👕',
    parent: { slug: 'retail', name: 'Retail', emoji: '🛒' },
  },
  {
    slug: 'hospitals',
    name: 'Hospitals',
    emoji: '🏥',
    parent: { slug: 'health', name: 'Health', emoji: '💊' },
  },
  {
    slug: 'railways',
    name: 'Railways',
    emoji: '🚆',
    parent: { slug: 'transport', name: 'Transport', emoji: '🚚' },
  },
] as const;
const FUNDS = {
  slug: 'asset-management',
  name: 'Asset Management',
  emoji: '📈',
  parent: { slug: 'finance', name: 'Finance', emoji: '💰' },
} as const;
/** ETF providers are in the US and in Europe. */
const PROVIDER_PLACES = PLACES.filter(
  ({ region, countryCode }) => region === 'Europe' || countryCode === 'US',
);
const PRIVATE_KINDS = [
  'PRIVATELY_HELD',
  'EDUCATIONAL',
  'PRIVATELY_HELD',
  'GOVERNMENT_AGENCY',
  'NON_PROFIT',
  'PARTNERSHIP',
  'SELF_EMPLOYED',
  'SELF_OWNED',
] as const;

/** The `company` object of brand `index`, as the specification writes it. */
export function makeCompany(index: number, chance: Chance) {
  return companyOf(index, chance, chance.pick(INDUSTRIES), chance.pick(PLACES));
}

/** The `company` object of an ETF provider. */
export function makeProviderCompany(index: number, chance: Chance) {
  return companyOf(index, chance, FUNDS, PROVIDER_PLACES[index % PROVIDER_PLACES.length] ?? PLACES[0]);
}

type GeneratedCompany = ReturnType<typeof makeCompany>;

/**
 * The same company as live services send it: null, with every leaf null, or with the parent of its industry as an object or
 * null.
 */
export function makeLiveCompany(index: number, company: GeneratedCompany) {
  const industries = (parentOf: (parent: unknown) => unknown) =>
    company.industries.map(({ parent, ...industry }) => ({ ...industry, parent: parentOf(parent[0]) }));
  switch (Math.floor(index / 5) % 4) {
    case 0:
      return { ...company, industries: industries((parent) => parent) };
    case 1:
      return { ...company, industries: industries(() => null) };
    case 2:
      return null;
    default:
      return {
        employees: null,
        financialIdentifiers: { isin: null, ticker: null },
        foundedYear: null,
        industries: null,
        kind: null,
        location: {
          city: null,
          country: null,
          countryCode: null,
          region: null,
          state: null,
          subregion: null,
        },
      };
  }
}

type Industry = (typeof INDUSTRIES)[number] | typeof FUNDS;

function companyOf(
  index: number,
  chance: Chance,
  { parent, ...industry }: Industry,
  location: (typeof PLACES)[number],
) {
  return {
    employees: chance.pick(EMPLOYEE_BANDS),
    financialIdentifiers: {
      isin: isListed(index) ? [generatedIsin(index)] : [],
      ticker: isListed(index) ? [generatedTicker(index)] : [],
    },
    foundedYear: chance.between(1850, 2024),
    industries: [
      {
        id: `ind_${industry.slug}`,
        score: Math.round(chance.fraction() * 100) / 100,
        ...industry,
        parent: [{ id: `ind_${parent.slug}`, ...parent }],
      },
    ],
    kind: isListed(index) ? 'PUBLIC_COMPANY' : (PRIVATE_KINDS[index % PRIVATE_KINDS.length] ?? ''),
    location,
  };
}
