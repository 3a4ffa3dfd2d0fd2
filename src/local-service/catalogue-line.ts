/**
 * One line of a catalogue file, from bytes to keys and the exact bytes of its brand, or what is wrong
 * with it. The root of a brand must be as specified; inside, a leaf may be absent or null, as live
 * services send it, but never of another type. Unknown fields are welcome: the API adds fields without
 * a new version.
 */

import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { isIsin } from '../core/isin.js';
import { membersOf } from '../core/json-text.js';
import { ADULT_STATUSES, type IndexedBrand, normalKey } from './catalogue.js';

const text = z.string().nullish();
const number = z.number().nullish();
const tags = z.array(z.unknown()).nullish();

const format = z.looseObject({
  src: text,
  format: text,
  height: number,
  width: number,
  size: number,
  background: text,
});
const link = z.looseObject({ name: text, url: text });
const logo = z.looseObject({ theme: text, formats: z.array(format), tags, type: text });
const image = z.looseObject({ formats: z.array(format), tags, type: text });
const color = z.looseObject({
  hex: z.string().regex(/^#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})$/i, 'must look like #1a2b3c'),
  type: text,
  brightness: number,
});
const font = z.looseObject({ name: text, type: text, origin: text, originId: text, weights: tags });

const isin = z
  .string()
  .refine((value) => isIsin(value.toUpperCase()), 'the ISIN has a wrong form or check digit');
const symbol = z.string().regex(/^\S(.{0,30}\S)?$/u, 'must be 1 to 32 characters without blanks around them');
const domain = z
  .string()
  .refine(
    (value) =>
      /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/.test(
        normalKey('domain', value),
      ),
    'is not a domain name',
  );
const id = z.string().regex(/^id[A-Za-z0-9_-]+$/, 'must be id_ followed by letters, digits, _ or -');

/** Live services send null for a brand without a company. */
const company = z.looseObject({
  employees: number,
  financialIdentifiers: z
    .looseObject({ isin: z.array(isin).nullish(), ticker: z.array(symbol).nullish() })
    .nullish(),
  foundedYear: number,
  industries: z
    .array(
      z.looseObject({ id: text, score: number, slug: text, name: text, emoji: text, parent: z.unknown() }),
    )
    .nullish(),
  kind: text,
  location: z
    .looseObject({ city: text, country: text, countryCode: text, region: text, state: text, subregion: text })
    .nullish(),
});

const brand = z.looseObject({
  id,
  name: z.string().nullable(),
  domain: z.string(),
  claimed: z.boolean(),
  description: z.string().nullable(),
  longDescription: z.string().nullable(),
  links: z.array(link),
  logos: z.array(logo),
  colors: z.array(color),
  fonts: z.array(font),
  images: z.array(image),
  qualityScore: z.number().min(0).max(1),
  company: company.nullable(),
  isNsfw: z.boolean(),
  urn: z.string(),
});

const keys = z.strictObject({
  domains: z.array(domain),
  tickers: z.array(symbol),
  isins: z.array(isin),
  crypto: z.array(symbol),
  id,
});

/** One line of a catalogue file, parsed. */
const catalogueRecord = z
  .strictObject({ brand, keys, adult: z.enum(ADULT_STATUSES) })
  .refine((record) => record.brand.id === record.keys.id, {
    path: ['keys', 'id'],
    error: 'must equal brand.id',
  })
  .refine((record) => record.brand.isNsfw === (record.adult !== 'none'), {
    path: ['brand', 'isNsfw'],
    error: 'must be true for an adult brand and false for any other',
  });

export type CatalogueLine =
  | { readonly type: 'brand'; readonly brand: Omit<IndexedBrand, 'line'> }
  /** `problem` names the field, then what is wrong with it. */
  | { readonly type: 'bad'; readonly problem: string };

/** Reads one line (without its line end). `body` is a view of `bytes`, not a copy. */
export function readCatalogueLine(bytes: Buffer): CatalogueLine {
  if (!isUtf8(bytes)) return { type: 'bad', problem: 'is not UTF-8' };
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return {
      type: 'bad',
      problem: `is not JSON (${error instanceof Error ? error.message : String(error)})`,
    };
  }
  const read = catalogueRecord.safeParse(value);
  if (!read.success) {
    const [issue] = read.error.issues;
    return { type: 'bad', problem: `${pathText(issue?.path ?? [])}: ${issue?.message ?? 'is wrong'}` };
  }
  const { keys, adult } = read.data;
  return {
    type: 'brand',
    brand: {
      body: memberBytes(bytes, 'brand', text),
      adult,
      keys: {
        domain: keys.domains,
        ticker: keys.tickers,
        isin: keys.isins,
        crypto: keys.crypto,
        id: [keys.id],
      },
    },
  };
}

/** `['brand', 'logos', 0, 'type']` as `brand.logos[0].type`. */
function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path)
    text += typeof part === 'number' ? `[${part}]` : `${text ? '.' : ''}${String(part)}`;
  return text || 'line';
}

/**
 * The bytes of the value of one member of the outermost object, the last one if the name is repeated (as
 * `JSON.parse` reads it): a view, not a copy. `bytes` must be valid JSON; `text` is the same, decoded.
 */
export function memberBytes(bytes: Buffer, name: string, text = bytes.toString('utf8')): Buffer {
  const member = membersOf(text)?.findLast(({ key }) => key === name);
  if (member === undefined) return bytes.subarray(0, 0);
  const start = Buffer.byteLength(text.slice(0, member.valueStart));
  return bytes.subarray(start, start + Buffer.byteLength(text.slice(member.valueStart, member.valueEnd)));
}
