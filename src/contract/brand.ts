/**
 * The Brand as the specification describes it ("Resources and their fields"), read tolerantly: every field may
 * be absent or null, unknown fields are kept by whoever carries the raw JSON. Nothing here validates.
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

const BRAND_FIELDS: Readonly<Record<KnownField, true>> = {
  id: true,
  name: true,
  domain: true,
  claimed: true,
  description: true,
  longDescription: true,
  links: true,
  logos: true,
  colors: true,
  fonts: true,
  images: true,
  qualityScore: true,
  company: true,
  isNsfw: true,
  urn: true,
};
type KnownField = keyof { [Name in keyof Brand as string extends Name ? never : Name]: true };

/** Whether any field of the specification is there, be it null: without one it is something else. */
export function hasBrandField(object: object): boolean {
  return Object.keys(object).some((name) => Object.hasOwn(BRAND_FIELDS, name));
}

export type QualityTier = 'poor' | 'acceptable' | 'high';

/** The thirds of the specification (Quality score rules 2); the boundary belongs to the higher third. */
export function qualityTier(score: number): QualityTier {
  return score < 1 / 3 ? 'poor' : score < 2 / 3 ? 'acceptable' : 'high';
}

/** The score if it is a number between 0 and 1, else null: anything else is unscored. */
export function qualityScoreOf(brand: Brand): number | null {
  const score = brand.qualityScore;
  return typeof score === 'number' && score >= 0 && score <= 1 ? score : null;
}
