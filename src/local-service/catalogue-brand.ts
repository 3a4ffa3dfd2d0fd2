/**
 * The shape that a catalogue line must have: the Brand of the specification, its keys, and its adult status. The
 * root of a brand is held to the specification; inside, a leaf may be absent or null, as live services send it,
 * but never of another type. Unknown fields of a brand are welcome: the API adds fields without a new version.
 */
import { z } from 'zod';
import { isIsin } from '../core/isin.js';
import { ADULT_STATUSES, normalKey } from './catalogue.js';

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
export const catalogueRecord = z
  .strictObject({ brand, keys, adult: z.enum(ADULT_STATUSES) })
  .refine((record) => record.brand.id === record.keys.id, {
    path: ['keys', 'id'],
    error: 'must equal brand.id',
  })
  .refine((record) => record.brand.isNsfw === (record.adult !== 'none'), {
    path: ['brand', 'isNsfw'],
    error: 'must be true for an adult brand and false for any other',
  });
