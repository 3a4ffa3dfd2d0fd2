/** The keys of generated brands: none comes twice. */
import { isIsin } from '../../src/core/identifier.js';

/** `brand-000000.com`, `brand-000001.de` ...: public suffixes in turn. */
export function generatedDomain(index: number): string {
  return `brand-${String(index).padStart(6, '0')}.${SUFFIXES[index % SUFFIXES.length]}`;
}

export function generatedId(index: number): string {
  return `id_${(BigInt(index) * ID_STEP + ID_START).toString(36).slice(-10).padStart(10, '0')}`;
}

/** The stock ticker of a brand that has one; see {@link isListed}. */
export function generatedTicker(index: number): string {
  let text = '';
  for (let rest = index; text.length < 3 || rest > 0; rest = Math.floor(rest / 26))
    text = String.fromCharCode(65 + (rest % 26)) + text;
  return `S${text}`;
}

/** The ISIN of a listed brand, with its check digit. */
export function generatedIsin(index: number): string {
  const first11 = `${ISIN_PREFIXES[index % ISIN_PREFIXES.length]}${String(index).padStart(9, '0')}`;
  return [...'0123456789'].map((digit) => first11 + digit).find(isIsin) ?? first11;
}

/** Every third brand is a listed company, with a ticker and an ISIN. */
export function isListed(index: number): boolean {
  return index % 3 === 0;
}

const SUFFIXES = ['com', 'de', 'co.uk', 'fr', 'io', 'net', 'ch', 'org'] as const;
const ISIN_PREFIXES = ['US', 'DE', 'GB', 'FR', 'CH', 'JP', 'XS'] as const;

/** Odd and not a multiple of a small prime: consecutive ids look unlike each other. */
const ID_STEP = 2_654_435_761n;
const ID_START = 3_141_592_653_589_793n;
