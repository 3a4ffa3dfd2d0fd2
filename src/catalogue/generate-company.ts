/**
 * The company behind a generated brand: size, place, trade and listing, in the forms that the specification shows.
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
/** The `company` object of brand `index`. */
export function makeCompany(index: number, chance: Chance) {
  const { parent, ...industry } = chance.pick(INDUSTRIES);
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
    kind: isListed(index) ? 'PUBLIC_COMPANY' : 'PRIVATELY_HELD',
    location: chance.pick(PLACES),
  };
}
