/**
 * The Brand as the specification describes it ("Resources and their fields"), read tolerantly:
 * every field may be absent or null, unknown fields are kept by whoever carries the raw JSON.
 * Nothing here validates.
 */

interface BrandLink {
  name?: string | null;
  url?: string | null;
}

interface BrandFormat {
  src?: string | null;
  format?: string | null;
  height?: number | null;
  width?: number | null;
  size?: number | null;
  background?: string | null;
}

interface BrandLogo {
  theme?: string | null;
  formats?: BrandFormat[] | null;
  tags?: unknown[] | null;
  type?: string | null;
}

interface BrandImage {
  formats?: BrandFormat[] | null;
  tags?: unknown[] | null;
  type?: string | null;
}

interface BrandColor {
  hex?: string | null;
  type?: string | null;
  brightness?: number | null;
}

interface BrandFont {
  name?: string | null;
  type?: string | null;
  origin?: string | null;
  originId?: string | null;
  weights?: unknown[] | null;
}

interface BrandIndustry {
  id?: string | null;
  score?: number | null;
  slug?: string | null;
  name?: string | null;
  emoji?: string | null;
  /** An array by the specification; an object or null in the wild. */
  parent?: unknown;
}

interface BrandCompany {
  employees?: number | null;
  financialIdentifiers?: { isin?: string[] | null; ticker?: string[] | null } | null;
  foundedYear?: number | null;
  industries?: BrandIndustry[] | null;
  kind?: string | null;
  location?: {
    city?: string | null;
    country?: string | null;
    countryCode?: string | null;
    region?: string | null;
    state?: string | null;
    subregion?: string | null;
  } | null;
}

export interface Brand {
  id?: string | null;
  name?: string | null;
  domain?: string | null;
  claimed?: boolean | null;
  description?: string | null;
  longDescription?: string | null;
  links?: BrandLink[] | null;
  logos?: BrandLogo[] | null;
  colors?: BrandColor[] | null;
  fonts?: BrandFont[] | null;
  images?: BrandImage[] | null;
  /** 0 to 1. */
  qualityScore?: number | null;
  company?: BrandCompany | null;
  isNsfw?: boolean | null;
  urn?: string | null;
  [unknown: string]: unknown;
}

type KnownField = keyof { [Name in keyof Brand as string extends Name ? never : Name]: true };

/**
 * What a value of each field of the specification is, and whether other services' objects are
 * likely to have it too.
 */
const BRAND_FIELDS: Readonly<
  Record<KnownField, { readonly is: (value: unknown) => boolean; readonly isCommon?: true }>
> = {
  id: { is: isText, isCommon: true },
  name: { is: isText, isCommon: true },
  description: { is: isText, isCommon: true },
  domain: { is: isText },
  claimed: { is: isFlag },
  longDescription: { is: isText },
  links: { is: Array.isArray },
  logos: { is: Array.isArray },
  colors: { is: Array.isArray },
  fonts: { is: Array.isArray },
  images: { is: Array.isArray },
  qualityScore: { is: (value) => typeof value === 'number' },
  company: { is: (value) => typeof value === 'object' && !Array.isArray(value) },
  isNsfw: { is: isFlag },
  urn: { is: isText },
};

/**
 * Why an object is not taken for a brand; null: it is. Nothing is required, and any field may be
 * null; but two fields have to be there that are what the specification says they are, and one of
 * them has to be more than a name, an id or a description, which nearly every object of every other
 * service has.
 */
export function whyNoBrand(object: object): string | null {
  const found = Object.entries(object).flatMap(([name, value]) => {
    const field = Object.hasOwn(BRAND_FIELDS, name) ? BRAND_FIELDS[name as KnownField] : null;
    return field !== null && (value === null || field.is(value)) ? [field] : [];
  });
  if (found.length === 0) return 'no field of one';
  return found.length > 1 && found.some(({ isCommon }) => isCommon === undefined)
    ? null
    : 'too few fields of one';
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isFlag(value: unknown): boolean {
  return typeof value === 'boolean';
}

export type QualityTier = 'poor' | 'acceptable' | 'high';

/**
 * The thirds of the specification (Quality score rules 2); the boundary belongs to the higher
 * third.
 */
export function qualityTier(score: number): QualityTier {
  return score < 1 / 3 ? 'poor' : score < 2 / 3 ? 'acceptable' : 'high';
}

/** The score if it is a number between 0 and 1, else null: anything else is unscored. */
export function qualityScoreOf(brand: Brand): number | null {
  const score = brand.qualityScore;
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : null;
}
