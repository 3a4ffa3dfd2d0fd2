/**
 * What `--fields` takes: our own columns, and paths into the Brand of the specification. The
 * service adds fields without notice (specification, Versioning 3), so a path that is not known
 * here is refused, because it is a slip more often than a new field, and written with a plus in
 * front (`+esg.rating`) it is taken as it stands. `field-path.ts` reads a path from a brand.
 */
import { editDistance, nearest } from '../core/nearest.js';

/** Our columns without prefix, in their order (design, section 10). */
export const COLUMN_NAMES = [
  ...([
    'status',
    'kind',
    'identifier',
    'name',
    'domain',
    'quality_score',
    'quality_tier',
    'description',
  ] as const),
  ...(['industry', 'employees', 'founded_year', 'country', 'city', 'logo_url', 'icon_url', 'color'] as const),
  ...(['claimed', 'is_nsfw', 'id', 'urn', 'source', 'duplicate_of', 'fetched_at', 'error'] as const),
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

/** Before a path that is taken as it stands. */
const UNCHECKED = '+';

/** The path without its plus; null for a field that is to be known. */
export function uncheckedPath(field: string): string | null {
  return field.startsWith(UNCHECKED) ? field.slice(UNCHECKED.length) : null;
}

interface Shape {
  readonly keys?: Readonly<Record<string, Shape>>;
  readonly isList?: true;
}

const VALUE: Shape = {};
const VALUES: Shape = { isList: true };

function object(...names: readonly string[]): { keys: Record<string, Shape> } {
  return { keys: Object.fromEntries(names.map((name) => [name, VALUE])) };
}

function listOf({ keys }: Shape): Shape {
  return keys === undefined ? VALUES : { keys, isList: true };
}

const FILES = listOf(object('src', 'format', 'height', 'width', 'size', 'background'));
const PARENTS = listOf(object('id', 'slug', 'name', 'emoji'));

/** The specification's Brand ("Resources and their fields"). */
const BRAND: Shape = {
  keys: {
    ...object('id', 'name', 'domain', 'claimed', 'description', 'longDescription', 'qualityScore').keys,
    ...object('isNsfw', 'urn').keys,
    links: listOf(object('name', 'url')),
    logos: listOf({ keys: { ...object('theme', 'type').keys, formats: FILES, tags: VALUES } }),
    images: listOf({ keys: { ...object('type').keys, formats: FILES, tags: VALUES } }),
    colors: listOf(object('hex', 'type', 'brightness')),
    fonts: listOf({ keys: { ...object('name', 'type', 'origin', 'originId').keys, weights: VALUES } }),
    company: {
      keys: {
        ...object('employees', 'foundedYear', 'kind').keys,
        financialIdentifiers: { keys: { isin: VALUES, ticker: VALUES } },
        industries: listOf({
          keys: { ...object('id', 'score', 'slug', 'name', 'emoji').keys, parent: PARENTS },
        }),
        location: object('city', 'country', 'countryCode', 'region', 'state', 'subregion'),
      },
    },
  },
};

/**
 * Labels shown by the specification or seen in the wild. Others exist, so only what is nearly one
 * of these is refused.
 */
const LABELS = [
  ...['twitter', 'facebook', 'instagram', 'github', 'youtube', 'linkedin', 'crunchbase'],
  ...['icon', 'logo', 'symbol', 'other', 'banner', 'dark', 'light', 'photographic', 'portrait'],
  ...['accent', 'brand', 'palette', 'title', 'body', 'google', 'custom', 'system'],
  ...['svg', 'webp', 'png', 'jpeg'],
];

/** Where a path leaves what is known: the segment, and what could stand there. */
interface Fault {
  readonly at: number;
  readonly choices: readonly string[];
}

/**
 * Whether a field is unknown, and the known one that is probably meant. null: it is known, or
 * written with a plus.
 */
export function findUnknownField(field: string, prefix: string): { readonly nearest: string | null } | null {
  if (uncheckedPath(field) !== null) return null;
  const name = prefix !== '' && field.startsWith(prefix) ? field.slice(prefix.length) : field;
  if (COLUMN_NAMES.some((column) => column === name)) return null;
  const segments = field.split('.');
  const fault = follow(BRAND, segments, 0);
  return fault === null ? null : { nearest: meantBy(name, segments, fault) };
}

function follow(shape: Shape, segments: readonly string[], at: number): Fault | null {
  const segment = segments[at];
  if (segment === undefined) return null;
  const { keys = {}, isList } = shape;
  if (isList && /^\d+$/.test(segment))
    return follow(shape.keys === undefined ? VALUE : { keys }, segments, at + 1);
  const next = Object.hasOwn(keys, segment) ? keys[segment] : undefined;
  if (next !== undefined) return follow(isList ? listOf(next) : next, segments, at + 1);
  const choices = Object.keys(keys);
  if (!isList || shape.keys === undefined) return { at, choices };
  if (isNearlyLabel(segment, choices)) return { at, choices: [...choices, ...LABELS] };
  // A label keeps some elements, or some of the files in them.
  const fault = follow(shape, segments, at + 1);
  const files = keys.formats;
  return fault === null || files === undefined ? fault : follow(files, segments, at + 1) && fault;
}

function isNearlyLabel(segment: string, keys: readonly string[]): boolean {
  const label = segment.toLowerCase();
  if (LABELS.includes(label)) return false;
  const most = Math.max(1, label.length / 4);
  return [...LABELS, ...keys].some(
    (known) => known.length > 2 && editDistance(label, known.toLowerCase()) <= most,
  );
}

function meantBy(name: string, segments: readonly string[], { at, choices }: Fault): string | null {
  const replaced = (segment: string) =>
    [...segments.slice(0, at), segment, ...segments.slice(at + 1)].join('.');
  const wanted = segments[at] ?? '';
  if (at > 0) {
    const near = nearest(wanted, choices);
    if (near !== undefined) return replaced(near);
  }
  const tops = [...Object.keys(BRAND.keys ?? {}), ...COLUMN_NAMES];
  const near = at === 0 && segments.length === 1 ? nearest(name, tops) : undefined;
  if (near !== undefined) return near;
  const top = at === 0 ? nearest(wanted, Object.keys(BRAND.keys ?? {})) : undefined;
  if (top !== undefined) return replaced(top);
  // `region` alone, or `company.city`.
  const last = segments.at(-1)?.toLowerCase();
  return PATHS.find((path) => path.toLowerCase().endsWith(`.${last}`)) ?? null;
}

/** Every path of the specification without labels and positions, and the links that are known. */
const PATHS: readonly string[] = [...pathsIn(BRAND), ...LABELS.slice(0, 7).map((name) => `links.${name}`)];

function pathsIn({ keys = {} }: Shape): string[] {
  return Object.entries(keys).flatMap(([key, shape]) => [
    key,
    ...pathsIn(shape).map((path) => `${key}.${path}`),
  ]);
}
