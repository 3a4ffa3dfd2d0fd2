/**
 * The prose of generated brands: names, and sentences that read and compress like the descriptions of real
 * companies, since what an answer weighs in a store depends on them. ASCII only: one character is one byte.
 */
import type { Chance } from './generate-random.js';

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
