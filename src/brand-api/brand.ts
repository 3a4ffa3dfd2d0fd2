/** The Brand: what it has, what is taken for one, and what its score says. */

const fields = <const Name extends string, const Value extends string>(value: Value, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, value])) as { readonly [_ in Name]: Value };

const FORMAT = {
  ...fields('string', 'src', 'format'),
  ...fields('number', 'height', 'width', 'size'),
  background: 'string',
} as const;

/**
 * The Brand of the specification. A list has its element in brackets, and 'unknown' where other
 * forms are in the wild.
 */
export const BRAND = {
  ...fields('string', 'id', 'name', 'domain'),
  claimed: 'boolean',
  ...fields('string', 'description', 'longDescription'),
  links: [fields('string', 'name', 'url')],
  logos: [{ ...fields('string', 'theme', 'type'), formats: [FORMAT], tags: ['unknown'] }],
  colors: [{ ...fields('string', 'hex', 'type'), brightness: 'number' }],
  fonts: [{ ...fields('string', 'name', 'type', 'origin', 'originId'), weights: ['unknown'] }],
  images: [{ type: 'string', formats: [FORMAT], tags: ['unknown'] }],
  /** 0 to 1. */
  qualityScore: 'number',
  company: {
    ...fields('number', 'employees', 'foundedYear'),
    kind: 'string',
    financialIdentifiers: { isin: ['string'], ticker: ['string'] },
    industries: [
      {
        id: 'string',
        score: 'number',
        ...fields('string', 'slug', 'name', 'emoji'),
        parent: [fields('string', 'id', 'slug', 'name', 'emoji'), 'unknown'],
      },
    ],
    location: fields('string', 'city', 'country', 'countryCode', 'region', 'state', 'subregion'),
  },
  isNsfw: 'boolean',
  urn: 'string',
} as const;

/** A value by the name that `typeof` has for it, a list, or an object. */
export type Shape = keyof Values | readonly Shape[] | { readonly [name: string]: Shape };

export function isList(shape: Shape): shape is readonly Shape[] {
  return Array.isArray(shape);
}

type Values = { string: string; number: number; boolean: boolean; unknown: unknown };

type Read<S> = S extends keyof Values
  ? Values[S]
  : S extends readonly [infer Item]
    ? Read<Item>[]
    : S extends readonly unknown[]
      ? unknown
      : { -readonly [Name in keyof S]?: Read<S[Name]> | null };

/** A Brand read tolerantly: every field may be absent or null. Nothing here validates. */
export type Brand = Read<typeof BRAND> & { [unknown: string]: unknown };

/** What nearly every object of every other service has, too. */
const COMMON = ['id', 'name', 'description'];
const SHAPES: readonly (readonly [name: string, Shape])[] = Object.entries(BRAND);

/**
 * Why an object is not taken for a brand; null: it is. Nothing is required, and any field may be
 * null; but two fields have to be there that are as specified, one of them an uncommon one.
 */
export function whyNoBrand(object: object): string | null {
  let found = 0;
  let isUncommon = false;
  for (const [name, shape] of SHAPES) {
    if (!Object.hasOwn(object, name)) continue;
    const value: unknown = object[name as keyof object];
    if (value !== null && !isOf(shape, value)) continue;
    found += 1;
    isUncommon ||= !COMMON.includes(name);
    if (found > 1 && isUncommon) return null;
  }
  return found === 0 ? 'no field of one' : 'too few fields of one';
}

function isOf(shape: Shape, value: unknown): boolean {
  if (Array.isArray(shape) || Array.isArray(value)) return Array.isArray(shape) && Array.isArray(value);
  return typeof value === (typeof shape === 'string' ? shape : 'object');
}

export type QualityTier = 'poor' | 'acceptable' | 'high';

/** The thirds of the specification (Quality score rules 2); a boundary is of the higher one. */
export function qualityTier(score: number): QualityTier {
  return score < 1 / 3 ? 'poor' : score < 2 / 3 ? 'acceptable' : 'high';
}

/** The score if it is a number between 0 and 1, else null: anything else is unscored. */
export function qualityScoreOf(brand: Brand): number | null {
  const score = brand.qualityScore;
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : null;
}
