/** Invented catalogues of any size; every fifth brand has nulls and gaps, as live ones have. */
import { writeFile } from 'node:fs/promises';
import { createChance as createFraction } from '../../src/local-service/faults.js';
import { generatedDomain, generatedId, generatedIsin, generatedTicker, isListed } from './generate-keys.js';

/** A catalogue with this many brands, line by line. */
export function* generateCatalogue(brands: number): Generator<string, void, undefined> {
  for (let index = 0; index < brands; index += 1) yield makeLine(index);
}

export async function writeCatalogue(path: string, brands: number): Promise<void> {
  const lines = function* () {
    for (const line of generateCatalogue(brands)) yield `${line}\n`;
  };
  await writeFile(path, lines());
}

type Chance = ReturnType<typeof createChance>;

function createChance(index: number) {
  const fraction = createFraction(1, index);
  /** A whole number from `low` to `high`, both included. */
  const between = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    between,
    /** One of these. `choices` must not be empty. */
    pick: <T>(choices: readonly T[]) => choices[between(0, choices.length - 1)] as T,
    hex: (digits: number) => Array.from({ length: digits }, () => between(0, 15).toString(16)).join(''),
  };
}

const FONTS = ['Inter', 'Roboto', 'Lato', 'Open Sans', 'Source Sans 3', 'Work Sans'];
const LINKS = ['twitter', 'facebook', 'instagram', 'github', 'youtube', 'linkedin', 'crunchbase'];
const LOGO_TYPES = ['icon', 'logo', 'symbol', 'other'];
const LOGO_TAGS = [[], ['photographic'], [], ['portrait'], ['photographic', 'portrait']];
const LOGO_FORMATS = ['svg', 'png', 'webp'];
const COLOR_TYPES = ['dark', 'light', 'brand', 'palette'];
const FONT_ORIGINS = ['google', 'custom', 'system'];

const BODY_BYTES = 2_048;

/** Line `index` of the catalogue, without a line end. */
function makeLine(index: number): string {
  const chance = createChance(index);
  const [domain, id] = [generatedDomain(index), generatedId(index)];
  const keys = {
    domains: [domain, ...(index % 10 === 6 ? [`former-${domain}`] : [])],
    tickers: isListed(index) ? [generatedTicker(index)] : [],
    isins: isListed(index) ? [generatedIsin(index)] : [],
    crypto: [],
    id,
  };
  const called = `${chance.pick(FIRST)}${chance.pick(SECOND)}${chance.pick(FORM)}`;
  const draft = { index, chance, id, isLive: isAsLive(index) };
  const company = makeCompany(index, chance);
  // Without a long description the prose is in the other one, so that all brands weigh the same.
  const prose = index % 10 === 7 ? 'description' : 'longDescription';
  const brand = {
    id,
    name: index % 10 === 3 ? null : called,
    domain,
    claimed: chance.fraction() < 0.2,
    description: index % 10 === 5 ? null : `${makeSentence(chance, called)}.`,
    longDescription: prose === 'longDescription' ? '' : null,
    links: makeLinks(index, domain),
    logos: makeLogos(draft),
    colors: [makeColor(chance, 'accent'), makeColor(chance, turn(COLOR_TYPES, index))],
    fonts: [makeFont(draft, 'title'), makeFont({ ...draft, index: index + 1 }, 'body')],
    images: [makeImage(draft)],
    qualityScore: Math.round(chance.fraction() * 1_000) / 1_000,
    company: draft.isLive ? makeLiveCompany(index, company) : company,
    isNsfw: false,
    urn: `urn:brand:${id}`,
  };
  brand[prose] = '';
  brand[prose] = makeProse(chance, called, BODY_BYTES - Buffer.byteLength(JSON.stringify(brand)));
  return JSON.stringify({ brand, keys, adult: 'none' });
}

/** Whether a generated brand has nulls and gaps inside, as live services send them. */
export function isAsLive(index: number): boolean {
  return index % 5 === 4;
}

function turn<T>(choices: readonly T[], index: number): T {
  return choices[index % choices.length] as T;
}

function makeLinks(index: number, domain: string) {
  const account = domain.replace(/\..*/, '');
  return [...Array(index % 3).keys()].map((n) => {
    const name = turn(LINKS, index + n * 3);
    return { name, url: `https://${name}.example/${account}` };
  });
}

type Draft = {
  readonly index: number;
  readonly chance: Chance;
  readonly id: string;
  readonly isLive: boolean;
};

function makeLogos(draft: Draft) {
  const { index, isLive } = draft;
  return [index, index + 1].map((at) => {
    const type = turn(LOGO_TYPES, at);
    const format = makeFormat(draft, type, turn(LOGO_FORMATS, isLive ? 0 : at), 400);
    const theme = at === index ? 'dark' : isLive ? null : 'light';
    return { theme, formats: [format], tags: turn(LOGO_TAGS, at), type };
  });
}

function makeImage(draft: Draft) {
  const type = draft.index % 4 === 3 ? 'other' : 'banner';
  const format = makeFormat(draft, type, draft.index % 2 === 0 ? 'jpeg' : 'webp', 1200);
  return { formats: [format], tags: draft.index % 3 === 0 ? ['photographic'] : [], type };
}

/** Live services leave the size of an SVG out in one entry and say null in the next. */
function makeFormat({ chance, id, isLive }: Draft, type: string, format: string, width: number) {
  const src = `https://assets.brand-service.example/${id}/${type}-${chance.hex(8)}.${format}`;
  const size = chance.between(900, 90_000);
  const isVague = isLive && format === 'svg';
  const vague = isVague && chance.fraction() < 0.5 ? {} : { height: null, width: null };
  const sides = isVague ? vague : { height: 400, width };
  return { src, format, ...sides, size, background: isLive ? null : 'transparent' };
}

function makeColor(chance: Chance, type: string) {
  return { hex: `#${chance.hex(6)}`, type, brightness: chance.between(0, 255) };
}

function makeFont({ index, chance, isLive }: Draft, type: 'title' | 'body') {
  const picked = chance.pick(FONTS);
  const name = isLive && type === 'body' ? null : picked;
  const [origin, originId] = [turn(FONT_ORIGINS, index), isLive ? null : picked];
  return { name, type, origin, originId, weights: index % 4 === 2 ? [] : [400, 700] };
}

/** Lower bounds of the bands in which such services give the number of employees. */
const EMPLOYEE_BANDS = [1, 2, 11, 51, 201, 501, 1001, 5001, 10001];

const LOCATION = ['city', 'country', 'countryCode', 'region', 'state', 'subregion'];
const PLACES = [
  ['Hamburg', 'Germany', 'DE', 'Europe', 'Hamburg', 'Western Europe'],
  ['Lyon', 'France', 'FR', 'Europe', 'Auvergne-Rhone-Alpes', 'Western Europe'],
  ['Leeds', 'United Kingdom', 'GB', 'Europe', 'England', 'Northern Europe'],
  ['Osaka', 'Japan', 'JP', 'Asia', 'Osaka', 'Eastern Asia'],
  ['Denver', 'United States', 'US', 'Americas', 'Colorado', 'Northern America'],
  ['Perth', 'Australia', 'AU', 'Oceania', 'Western Australia', 'Australia and New Zealand'],
].map((values) => Object.fromEntries(LOCATION.map((name, at) => [name, values[at]])));

const trade = (slug: string, name: string, emoji: string) => ({ id: `ind_${slug}`, slug, name, emoji });
const FINANCE = trade('finance', 'Finance', '💰');
/** Industries, each with the one above it. */
const INDUSTRIES = [
  [trade('software', 'Software', '💻'), trade('technology', 'Technology', '🔌')],
  [trade('banking', 'Banking', '🏦'), FINANCE],
  [trade('clothing', 'Clothing', '👕'), trade('retail', 'Retail', '🛒')],
  [trade('hospitals', 'Hospitals', '🏥'), trade('health', 'Health', '💊')],
  [trade('railways', 'Railways', '🚆'), trade('transport', 'Transport', '🚚')],
] as const;
const PRIVATE_KINDS = [
  ...['PRIVATELY_HELD', 'EDUCATIONAL', 'PRIVATELY_HELD', 'GOVERNMENT_AGENCY'],
  ...['NON_PROFIT', 'PARTNERSHIP', 'SELF_EMPLOYED', 'SELF_OWNED'],
];

/** The `company` object of a brand, as the specification writes it. */
function makeCompany(index: number, chance: Chance) {
  const [{ id, ...industry }, parent] = chance.pick(INDUSTRIES);
  return {
    employees: chance.pick(EMPLOYEE_BANDS),
    financialIdentifiers: {
      isin: isListed(index) ? [generatedIsin(index)] : [],
      ticker: isListed(index) ? [generatedTicker(index)] : [],
    },
    foundedYear: chance.between(1850, 2024),
    industries: [{ id, score: Math.round(chance.fraction() * 100) / 100, ...industry, parent: [parent] }],
    kind: isListed(index) ? 'PUBLIC_COMPANY' : turn(PRIVATE_KINDS, index),
    location: chance.pick(PLACES),
  };
}

/** As live services send it: no company, null leaves, or a parent that is an object or null. */
function makeLiveCompany(index: number, company: ReturnType<typeof makeCompany>) {
  const form = Math.floor(index / 5) % 4;
  if (form === 2) return null;
  if (form === 3) return emptied(company);
  const industries = company.industries.map((industry) => ({
    ...industry,
    parent: form === 0 ? industry.parent[0] : null,
  }));
  return { ...company, industries };
}

/** With null in the place of every list and value. */
function emptied(object: object): object {
  const isObject = (value: unknown) => typeof value === 'object' && !Array.isArray(value);
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, isObject(value) ? emptied(value) : null]),
  );
}

// ASCII only, and it compresses like real descriptions: what a stored answer weighs depends on it.
const listed = (text: string) => text.split(', ');
const FIRST = listed('Alder, Bright, Cobalt, Dover, Elm, Fern, Granite, Harbor, Iris, Juniper');
const SECOND = listed('bridge, field, forge, gate, line, mark, port, stone, wave, works');
const FORM = ['', ' Group', ' Labs', ' Partners', ' Holding', ' Systems', ' Trading', ' Studio'];
const WHO = listed('small shops, hospitals, city councils, growers, airlines, schools, builders');
const WHAT = listed('invoices, sensors, furniture, spare parts, software, packaging, cloth');
const HOW = listed('on time, at a fair price, by subscription, in small series, to order');
const WHERE = listed('in the north, across the coast, in forty countries, at home, overseas');
const VERB = listed('supplies, designs, repairs, tests, rents out, finances, delivers');
const START = listed('The company, Its oldest branch, A team of engineers, The family behind it');

/** One sentence about `subject`, without a full stop. */
function makeSentence(chance: Chance, subject: string): string {
  return `${subject} ${chance.pick(VERB)} ${chance.pick(WHAT)} for ${chance.pick(WHO)} ${chance.pick(HOW)}`;
}

/** Prose of exactly `length` characters, cut in mid-sentence and closed with a full stop. */
function makeProse(chance: Chance, name: string, length: number): string {
  if (length < 1) return '';
  let text = makeSentence(chance, name);
  while (text.length < length) {
    const year = chance.between(1900, 2024);
    text += `. ${makeSentence(chance, chance.pick(START))} ${chance.pick(WHERE)} since ${year}`;
  }
  return `${text.slice(0, length - 1)}.`;
}
