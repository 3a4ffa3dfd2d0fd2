/**
 * What `--fields` is known to take, and the nearest of it for a word that is not known. Unknown paths are allowed,
 * since the service adds fields without notice; a hint is only for a warning.
 */
import { DEFAULT_COLUMNS } from './columns.js';

/** Paths of the specification's Brand; `*` stands for any label (network, type, theme, format, position). */
const BRAND_PATHS: readonly string[] = [
  'id',
  'name',
  'domain',
  'claimed',
  'description',
  'longDescription',
  'links',
  'links.*',
  'logos',
  'logos.*',
  'logos.*.*',
  'logos.*.*.*',
  'colors',
  'colors.*',
  'fonts',
  'fonts.*',
  'fonts.*.origin',
  'fonts.*.originId',
  'fonts.*.weights',
  'images',
  'images.*',
  'images.*.*',
  'qualityScore',
  'company',
  'company.employees',
  'company.financialIdentifiers.isin',
  'company.financialIdentifiers.ticker',
  'company.foundedYear',
  'company.industries',
  'company.industries.*',
  'company.industries.*.*',
  'company.kind',
  'company.location.city',
  'company.location.country',
  'company.location.countryCode',
  'company.location.region',
  'company.location.state',
  'company.location.subregion',
  'isNsfw',
  'urn',
];

/** Labels shown by the specification or seen in the wild, so that a hint can name them. */
const LABELLED_PATHS: readonly string[] = [
  ...['twitter', 'facebook', 'instagram', 'github', 'youtube', 'linkedin', 'crunchbase'].map(
    (n) => `links.${n}`,
  ),
  ...['logo', 'symbol', 'icon', 'other'].flatMap((n) => [`logos.${n}`, `logos.${n}.svg`, `logos.${n}.png`]),
  ...['accent', 'dark', 'light', 'brand'].map((n) => `colors.${n}`),
  ...['title', 'body'].map((n) => `fonts.${n}`),
  'images.banner',
];

/** Default columns (without prefix) and paths, as a list to print. */
export const KNOWN_FIELDS: readonly string[] = [
  ...new Set([
    ...DEFAULT_COLUMNS.map((column) => column.name),
    ...BRAND_PATHS.filter((path) => !path.includes('*')),
    ...LABELLED_PATHS,
  ]),
];

const KNOWN_SHAPES = BRAND_PATHS.map((path) => path.split('.'));

/** Whether a field is one that the specification or our own columns know. */
export function isKnownField(field: string, prefix: string): boolean {
  const name = prefix !== '' && field.startsWith(prefix) ? field.slice(prefix.length) : field;
  if (DEFAULT_COLUMNS.some((column) => column.name === name)) return true;
  const segments = field.split('.');
  return KNOWN_SHAPES.some(
    (shape) =>
      shape.length === segments.length && shape.every((part, i) => part === '*' || part === segments[i]),
  );
}

/** The known field that is nearest in spelling, when it is near enough to be meant; null for a known or far-off one. */
export function nearestField(field: string, prefix: string): string | null {
  if (isKnownField(field, prefix)) return null;
  const wanted = field.toLowerCase();
  let nearest: string | null = null;
  let least = Math.max(2, Math.floor(field.length / 4)) + 1;
  for (const known of KNOWN_FIELDS) {
    const far = editDistance(wanted, known.toLowerCase());
    if (far < least) {
      nearest = known;
      least = far;
    }
  }
  return nearest;
}

/** Levenshtein's distance: insertions, deletions and replacements of one character. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    previous = row;
  }
  return previous[to.length] ?? 0;
}
