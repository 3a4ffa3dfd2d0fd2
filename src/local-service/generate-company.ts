/**
 * The company behind a generated brand, as specified and as live services send it, and its prose.
 * ASCII only, and it compresses like the descriptions of real companies: what an answer weighs in a
 * store depends on it.
 */
import { type Chance, generatedIsin, generatedTicker, isListed } from './generate-keys.js';

/** Lower bounds of the bands in which such services give the number of employees. */
export const EMPLOYEE_BANDS = [1, 2, 11, 51, 201, 501, 1001, 5001, 10001] as const;

const place = (
  city: string,
  country: string,
  countryCode: string,
  region: string,
  state: string,
  subregion: string,
) => ({ city, country, countryCode, region, state, subregion });
const PLACES = [
  place('Hamburg', 'Germany', 'DE', 'Europe', 'Hamburg', 'Western Europe'),
  place('Lyon', 'France', 'FR', 'Europe', 'Auvergne-Rhone-Alpes', 'Western Europe'),
  place('Leeds', 'United Kingdom', 'GB', 'Europe', 'England', 'Northern Europe'),
  place('Osaka', 'Japan', 'JP', 'Asia', 'Osaka', 'Eastern Asia'),
  place('Denver', 'United States', 'US', 'Americas', 'Colorado', 'Northern America'),
  place('Perth', 'Australia', 'AU', 'Oceania', 'Western Australia', 'Australia and New Zealand'),
] as const;

type Trade = readonly [slug: string, name: string, emoji: string];
const industry = ([slug, name, emoji]: Trade, [inSlug, inName, inEmoji]: Trade) => ({
  slug,
  name,
  emoji,
  parent: { slug: inSlug, name: inName, emoji: inEmoji },
});
const INDUSTRIES = [
  industry(['software', 'Software', '💻'], ['technology', 'Technology', '🔌']),
  industry(['banking', 'Banking', '🏦'], ['finance', 'Finance', '💰']),
  industry(['clothing', 'Clothing', '👕'], ['retail', 'Retail', '🛒']),
  industry(['hospitals', 'Hospitals', '🏥'], ['health', 'Health', '💊']),
  industry(['railways', 'Railways', '🚆'], ['transport', 'Transport', '🚚']),
] as const;
const FUNDS = industry(['asset-management', 'Asset Management', '📈'], ['finance', 'Finance', '💰']);
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

type Industry = typeof FUNDS;

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

const FIRST = [
  'Alder',
  'Bright',
  'Cobalt',
  'Dover',
  'Elm',
  'Fern',
  'Granite',
  'Harbor',
  'Iris',
  'Juniper',
] as const;
const SECOND = [
  'bridge',
  'field',
  'forge',
  'gate',
  'line',
  'mark',
  'port',
  'stone',
  'wave',
  'works',
] as const;
const FUND = [' ETFs', ' Index Funds', ' Asset Management', ' Exchange Funds'] as const;
const FORM = ['', ' Group', ' Labs', ' Partners', ' Holding', ' Systems', ' Trading', ' Studio'] as const;

const WHO = [
  'small shops',
  'hospitals',
  'city councils',
  'growers',
  'airlines',
  'schools',
  'builders',
] as const;
const WHAT = ['invoices', 'sensors', 'furniture', 'spare parts', 'software', 'packaging', 'cloth'] as const;
const HOW = ['on time', 'at a fair price', 'by subscription', 'in small series', 'to order'] as const;
const WHERE = ['in the north', 'across the coast', 'in forty countries', 'at home', 'overseas'] as const;
const VERB = ['supplies', 'designs', 'repairs', 'tests', 'rents out', 'finances', 'delivers'] as const;
const START = ['The company', 'Its oldest branch', 'A team of engineers', 'The family behind it'] as const;

/** A company name such as `Cobaltforge Labs`. */
export function makeName(chance: Chance): string {
  return `${chance.pick(FIRST)}${chance.pick(SECOND)}${chance.pick(FORM)}`;
}

/** The invented name of the ETF provider `index`: no two are alike. */
export function makeProviderName(index: number): string {
  const [firsts, seconds] = [FIRST.length, SECOND.length];
  const name = `${FIRST[index % firsts]}${SECOND[Math.floor(index / firsts) % seconds]}`;
  const form = FUND[Math.floor(index / (firsts * seconds)) % FUND.length];
  const round = Math.floor(index / (firsts * seconds * FUND.length));
  return `${name}${form}${round === 0 ? '' : ` ${round + 1}`}`;
}

/** One sentence, without a full stop, about whoever `subject` is. */
export function makeSentence(chance: Chance, subject: string): string {
  return `${subject} ${chance.pick(VERB)} ${chance.pick(WHAT)} for ${chance.pick(WHO)} ${chance.pick(HOW)}`;
}

/** Prose of exactly `length` characters, cut in mid-sentence and closed with a full stop. */
export function makeProse(chance: Chance, name: string, length: number): string {
  if (length < 1) return '';
  let text = makeSentence(chance, name);
  while (text.length < length) {
    const year = chance.between(1900, 2024);
    text += `. ${makeSentence(chance, chance.pick(START))} ${chance.pick(WHERE)} since ${year}`;
  }
  return `${text.slice(0, length - 1)}.`;
}
