/**
 * One generated brand as a line of a catalogue file: every field of the specification, with sizes, shares and
 * bands as they occur. Which keys it has is counted here from its number; their form is `generate-keys.ts`'s.
 */
import type { AdultStatus } from './catalogue.js';
import { makeCompany } from './generate-company.js';
import {
  generatedCrypto,
  generatedDomain,
  generatedEtf,
  generatedId,
  generatedIsin,
  generatedTicker,
  isListed,
} from './generate-keys.js';
import { type Chance, createChance } from './generate-random.js';
import { makeName, makeProse, makeSentence } from './generate-text.js';

/** What a generated catalogue covers. */
export interface GenerateOptions {
  /** Number of brands, and of lines. */
  readonly brands: number;
  /** Symbols `generatedCrypto(0..n-1)`, one per brand while there are enough brands. */
  readonly cryptoSymbols: number;
  /** Tickers `generatedEtf(0..n-1)`, dealt out to the providers in turn. */
  readonly etfTickers: number;
  /** The first so many brands are ETF providers. At most `brands`. */
  readonly etfProviders: number;
  /** Other seeds give other texts, scores and companies; the keys stay the same. */
  readonly seed: number;
  /** Bytes of one Brand as JSON, exactly, unless its fields alone are longer (some 1,700). Default 2,048. */
  readonly bodyBytes?: number;
}

/** The size of a usual answer (`figures.md` of the design measures with 2 kB). */
const BODY_BYTES = 2_048;
const FONTS = ['Inter', 'Roboto', 'Lato', 'Open Sans', 'Source Sans 3', 'Work Sans'] as const;

/** Line `index` of the catalogue, without a line end. */
export function makeLine(index: number, coverage: GenerateOptions): string {
  const chance = createChance(coverage.seed, index);
  const adult = adultOf(index);
  const keys = {
    domains: [generatedDomain(index)],
    tickers: [...(isListed(index) ? [generatedTicker(index)] : []), ...etfsOf(index, coverage)],
    isins: isListed(index) ? [generatedIsin(index)] : [],
    crypto: cryptoOf(index, coverage),
    id: generatedId(index),
  };
  const body = makeBody(index, chance, adult, coverage.bodyBytes ?? BODY_BYTES);
  return `{"brand":${body},"keys":${JSON.stringify(keys)},"adult":"${adult}"}`;
}

function makeBody(index: number, chance: Chance, adult: AdultStatus, bodyBytes: number): string {
  const name = makeName(chance);
  const domain = generatedDomain(index);
  const id = generatedId(index);
  const brand = {
    id,
    name,
    domain,
    claimed: chance.fraction() < 0.2,
    description: `${makeSentence(chance, name)}.`,
    longDescription: '',
    links: [{ name: 'twitter', url: `https://social.example/${domain.replace(/\..*/, '')}` }],
    logos: [makeLogo(chance, id, 'icon', 'dark'), makeLogo(chance, id, 'logo', 'light')],
    colors: [makeColor(chance, 'accent'), makeColor(chance, 'dark')],
    fonts: [makeFont(chance, 'title'), makeFont(chance, 'body')],
    images: [{ formats: [makeFormat(chance, id, 'banner', 'jpeg', 1200, 400)], tags: [], type: 'banner' }],
    qualityScore: Math.round(chance.fraction() * 1_000) / 1_000,
    company: makeCompany(index, chance),
    isNsfw: adult !== 'none',
    urn: `urn:brand:${id}`,
  };
  const missing = bodyBytes - Buffer.byteLength(JSON.stringify(brand));
  brand.longDescription = makeProse(chance, name, missing);
  return JSON.stringify(brand);
}

function makeLogo(chance: Chance, id: string, type: 'icon' | 'logo', theme: 'dark' | 'light') {
  return { theme, formats: [makeFormat(chance, id, type, 'svg', 400, 400)], tags: [], type };
}

function makeFormat(chance: Chance, id: string, type: string, format: string, width: number, height: number) {
  const src = `https://assets.brand-service.example/${id}/${type}-${chance.hex(8)}.${format}`;
  return { src, format, height, width, size: chance.between(900, 90_000), background: 'transparent' };
}

function makeColor(chance: Chance, type: string) {
  return { hex: `#${chance.hex(6)}`, type, brightness: chance.between(0, 255) };
}

function makeFont(chance: Chance, type: string) {
  const name = chance.pick(FONTS);
  return { name, type, origin: 'google', originId: name, weights: [400, 700] };
}

/** One brand in 500 is adult; every second of those is withheld. */
function adultOf(index: number): AdultStatus {
  if (index % 500 !== 499) return 'none';
  return index % 1_000 === 499 ? 'flagged' : 'withheld';
}

function etfsOf(index: number, coverage: GenerateOptions): string[] {
  const tickers: string[] = [];
  if (index >= coverage.etfProviders) return tickers;
  for (let n = index; n < coverage.etfTickers; n += coverage.etfProviders) tickers.push(generatedEtf(n));
  return tickers;
}

/** Coins follow the providers, so that a brand seldom is both. */
function cryptoOf(index: number, coverage: GenerateOptions): string[] {
  const symbols: string[] = [];
  const first = (index - coverage.etfProviders + coverage.brands) % coverage.brands;
  for (let n = first; n < coverage.cryptoSymbols; n += coverage.brands) symbols.push(generatedCrypto(n));
  return symbols;
}
