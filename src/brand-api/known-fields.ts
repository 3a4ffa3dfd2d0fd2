/** What `--fields` takes: our columns, paths into the Brand, and any path with a plus. */
import { editDistance, nearest } from '../core/nearest.js';
import { BRAND, isList, type Shape } from './brand.js';

/** Our columns without prefix, in the order of the output. */
export const COLUMN_NAMES = [
  ...(['status', 'kind', 'identifier', 'name', 'domain', 'quality_score', 'quality_tier'] as const),
  ...(['description', 'industry', 'employees', 'founded_year', 'country', 'city', 'logo_url'] as const),
  ...(['icon_url', 'color', 'claimed', 'is_nsfw', 'id', 'urn', 'source', 'duplicate_of'] as const),
  ...(['fetched_at', 'error'] as const),
] as const;
export type ColumnName = (typeof COLUMN_NAMES)[number];

/** Returns the path after a plus, which is not checked; null for a field without a plus. */
export function uncheckedPath(field: string): string | null {
  return field.startsWith('+') ? field.slice(1) : null;
}

/** The possible next segments of a path; in a list, positions and labels too. */
type Place = { readonly members: Readonly<Record<string, Shape>>; readonly isList: boolean };

/** Returns the possible segments after `shape`; a list adds positions and labels. */
function placeIn(shape: Shape, isInList = false): Place {
  if (isList(shape)) return placeIn(shape[0] ?? 'unknown', true);
  return { members: typeof shape === 'string' ? {} : shape, isList: isInList };
}

/** Labels of the specification. Others exist, so only a misspelt one of these is refused. */
const LABELS = [
  ...['twitter', 'facebook', 'instagram', 'github', 'youtube', 'linkedin', 'crunchbase'],
  ...['icon', 'logo', 'symbol', 'other', 'banner', 'dark', 'light', 'photographic', 'portrait'],
  ...['accent', 'brand', 'palette', 'title', 'body', 'google', 'custom', 'system'],
  ...['svg', 'webp', 'png', 'jpeg'],
];

/** The first wrong segment of a path, and the possible ones. */
type Fault = { readonly at: number; readonly choices: readonly string[] };

/** Returns null for a known field or one with a plus, else the field that is probably meant. */
export function findUnknownField(field: string, prefix: string): { readonly nearest: string | null } | null {
  if (uncheckedPath(field) !== null) return null;
  const name = prefix !== '' && field.startsWith(prefix) ? field.slice(prefix.length) : field;
  if (COLUMN_NAMES.some((column) => column === name)) return null;
  const segments = field.split('.');
  const fault = follow(placeIn(BRAND), segments, 0);
  return fault === null ? null : { nearest: meantBy(name, segments, fault) };
}

function follow({ members, isList }: Place, segments: readonly string[], at: number): Fault | null {
  const segment = segments[at];
  if (segment === undefined) return null;
  if (isList && /^\d+$/.test(segment)) return follow({ members, isList: false }, segments, at + 1);
  const next = Object.hasOwn(members, segment) ? members[segment] : undefined;
  if (next !== undefined) return follow(placeIn(next, isList), segments, at + 1);
  const choices = Object.keys(members);
  if (!isList || choices.length === 0) return { at, choices };
  if (isNearlyLabel(segment, choices)) return { at, choices: [...choices, ...LABELS] };
  // A label selects elements, or the files in them.
  const fault = follow({ members, isList }, segments, at + 1);
  const files = members.formats;
  return fault === null || files === undefined ? fault : follow(placeIn(files), segments, at + 1) && fault;
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
  const tops = [...Object.keys(BRAND), ...COLUMN_NAMES];
  const near = at === 0 && segments.length === 1 ? nearest(name, tops) : undefined;
  if (near !== undefined) return near;
  const top = at === 0 ? nearest(wanted, Object.keys(BRAND)) : undefined;
  if (top !== undefined) return replaced(top);
  // `region` alone, or `company.city` for `company.location.city`.
  const last = segments.at(-1)?.toLowerCase();
  return PATHS.find((path) => path.toLowerCase().endsWith(`.${last}`)) ?? null;
}

const LINKS = LABELS.slice(0, 7).map((name) => `links.${name}`);
/** All paths of the specification, without labels and positions, and the known links. */
const PATHS: readonly string[] = [...pathsIn(BRAND), ...LINKS];

const OF_BRAND = COLUMN_NAMES.slice(COLUMN_NAMES.indexOf('name'), COLUMN_NAMES.indexOf('source'));
const NAMES = OF_BRAND.map((column) => column.replaceAll('_', ''));
const nameIn = (path: string) => path.slice(path.lastIndexOf('.') + 1).toLowerCase();
const OTHERS = [...pathsIn(BRAND, true), ...LINKS].filter((path) => !NAMES.includes(nameIn(path)));
/** Fields that a page offers for a cell: columns of a brand, and other paths to a value or list. */
export const CELL_FIELDS: readonly string[] = [...OF_BRAND, ...OTHERS];

function pathsIn(shape: Shape, onlyValues = false): string[] {
  if (onlyValues && isList(shape)) return [];
  return Object.entries(placeIn(shape).members).flatMap(([name, inner]) => {
    const inside = pathsIn(inner, onlyValues).map((path) => `${name}.${path}`);
    return onlyValues && inside.length > 0 ? inside : [name, ...inside];
  });
}
