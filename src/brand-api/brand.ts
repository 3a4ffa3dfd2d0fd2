/** The Brand: its fields, which objects count as one, and its score. */

const fields = <const Name extends string, const Value extends string>(value: Value, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, value])) as { readonly [_ in Name]: Value };

const FORMAT = {
  ...fields('string', 'src', 'format'),
  ...fields('number', 'height', 'width', 'size'),
  background: 'string',
} as const;

/** The Brand of the specification. A list holds the shape of its items; 'unknown' allows others. */
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

/** A type by its name in `typeof`, a list, or an object. */
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

/** A Brand as services send it, without validation: any field may be absent or null. */
export type Brand = Read<typeof BRAND>;

/** Fields that most objects of other services have, too. */
const COMMON = ['id', 'name', 'description'];
const SHAPES: readonly (readonly [name: string, Shape])[] = Object.entries(BRAND);

/** Returns why an object is no brand, or null. A brand has two of the fields, one not in COMMON. */
export function whyNoBrand(object: object): string | null {
  let fields = 0;
  let isUncommon = false;
  for (const [name, shape] of SHAPES) {
    if (!Object.hasOwn(object, name)) continue;
    const value: unknown = object[name as keyof object];
    if (value !== null && !hasShape(shape, value)) continue;
    fields += 1;
    isUncommon ||= !COMMON.includes(name);
    if (fields > 1 && isUncommon) return null;
  }
  return fields === 0 ? 'it has no field of a brand' : 'it has too few fields of a brand';
}

function hasShape(shape: Shape, value: unknown): boolean {
  if (Array.isArray(shape) || Array.isArray(value)) return Array.isArray(shape) && Array.isArray(value);
  return typeof value === (typeof shape === 'string' ? shape : 'object');
}

export type QualityTier = 'poor' | 'acceptable' | 'high';

/** Returns the tier of a score (Quality score rules 2); a boundary belongs to the higher tier. */
export function qualityTier(score: number): QualityTier {
  return score < 1 / 3 ? 'poor' : score < 2 / 3 ? 'acceptable' : 'high';
}

/** Returns the score if it is a number from 0 to 1; null means unscored. */
export function qualityScoreOf(brand: Brand): number | null {
  const score = brand.qualityScore;
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : null;
}
