/**
 * The values of a brand in cells: by a path of `--fields`, or the best logo, colour or industry.
 * Any field may be absent or malformed. In an object, a segment of a path is a key; in an array,
 * the first that fits: a position from 0; a label (`type`, `theme`, `format`, `name`, `slug`, tag)
 * of elements or of their files (`logos.icon.svg`); a key. The value becomes one cell: the address
 * of the best logo or file, addresses of links, values of colours, names of fonts and industries,
 * joined with `|`; anything else as JSON.
 */
import type { Brand } from '../../brand-api/brand.js';
import { attempt } from '../../core/lifecycle.js';

const LABELS = ['type', 'theme', 'format', 'name', 'slug'] as const;
/** Keys whose value stands for an object; the first present one counts. */
const FACES = ['src', 'url', 'hex', 'name', 'slug', 'id'] as const;
const SEPARATOR = '|';

/** Returns the cell for a path in a parsed profile; empty without a value. */
export function fieldAt(profile: unknown, path: string): string {
  return cellOf(valueAt(profile, path) ?? []);
}

/**
 * Returns the value at a path, as `--fields` takes it: `company.location.country`, `links.twitter`,
 * `logos.icon.svg`, or a field that the specification does not know; undefined or null without one.
 */
export function valueAt(profile: unknown, path: string): unknown {
  let value = profile;
  for (const segment of path.split('.')) {
    if (Array.isArray(value)) value = stepIntoArray(value, segment);
    else value = isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
    if (value === undefined || value === null) return value;
  }
  return value;
}

function stepIntoArray(values: readonly unknown[], segment: string): unknown {
  if (/^\d{1,9}$/.test(segment)) return values[Number(segment)];
  const objects = objectsIn(values);
  const labelled = objects.filter((object) => hasLabel(object, segment));
  if (labelled.length > 0) return labelled;
  const files = objects.flatMap((object) => objectsIn(object.formats));
  const labelledFiles = files.filter((file) => hasLabel(file, segment));
  if (labelledFiles.length > 0) return labelledFiles;
  const plucked = objects.flatMap((object) => (Object.hasOwn(object, segment) ? object[segment] : []));
  return plucked.length > 0 ? plucked : undefined;
}

function hasLabel(object: Readonly<Record<string, unknown>>, label: string): boolean {
  const wanted = label.toLowerCase();
  const says = (value: unknown) => typeof value === 'string' && value.toLowerCase() === wanted;
  return LABELS.some((key) => says(object[key])) || (Array.isArray(object.tags) && object.tags.some(says));
}

/** Has no recursion, because arrays of a service may be nested deeper than the stack allows. */
function cellOf(whole: unknown): string {
  const texts: string[] = [];
  const rest = [whole];
  while (rest.length > 0) {
    const value = rest.pop();
    const isList = Array.isArray(value);
    const picture = isList
      ? (bestFile(objectsIn(value)) ?? bestFile([{ formats: value }]))
      : isObject(value)
        ? bestFile([value])
        : null;
    if (picture === null && isList) {
      for (let at = value.length - 1; at >= 0; at -= 1) rest.push(value[at]);
    } else texts.push(picture ?? cellTextOf(value));
  }
  return texts.filter((text) => text !== '').join(SEPARATOR);
}

function cellTextOf(value: unknown): string {
  if (!isObject(value)) return scalarText(value);
  const face = FACES.find((key) => isScalar(value[key]));
  if (face !== undefined) return String(value[face]);
  // A value may be nested deeper than the stack allows.
  return FACES.some((key) => Object.hasOwn(value, key)) ? '' : attempt(() => JSON.stringify(value), '');
}

const TEXT_AT_MOST = 200;

/** Returns a text for people; null if it is blank or no text. */
export function textOf(value: unknown, atMost = TEXT_AT_MOST): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, atMost) : null;
}

/** False for a number that is too large for JavaScript (`1e400`). */
function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** Returns the text of a scalar; empty for anything else. */
export function scalarText(value: unknown): string {
  return isScalar(value) ? String(value) : '';
}

/** Returns `company_location_country_code` for `company.location.countryCode`. */
export function columnOfPath(path: string): string {
  return path
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toLowerCase();
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Vector first, then lossless; formats unknown to this list come last. */
const FORMAT_ORDER = ['svg', 'png', 'webp', 'jpeg'];
/** `dark` has dark ink, which is readable on a white page. */
const THEME_ORDER = ['dark', null, 'light'];

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function placeIn(order: readonly unknown[], value: unknown): number {
  const place = order.indexOf(value ?? null);
  return place < 0 ? order.length : place;
}

/** Returns the best file by theme (dark, none, light), format (svg, png, webp, jpeg) and width. */
function bestFile(assets: readonly JsonObject[]): string | null {
  let best: { readonly src: string; readonly place: number; readonly width: number } | null = null;
  for (const { theme, formats } of assets) {
    for (const { src, format, width: stated } of objectsIn(formats)) {
      if (typeof src !== 'string' || src === '') continue;
      const place = placeIn(THEME_ORDER, theme) * 10 + placeIn(FORMAT_ORDER, format);
      const width = typeof stated === 'number' ? stated : 0;
      if (best === null || place < best.place || (place === best.place && width > best.width))
        best = { src, place, width };
    }
  }
  return best?.src ?? null;
}

function bestOfType(brand: Brand, type: string): string | null {
  return bestFile(objectsIn(brand.logos).filter((logo) => logo.type === type));
}

/** Returns a logo, else a symbol; icons have their own column. */
export function bestLogo(brand: Brand): string | null {
  return bestOfType(brand, 'logo') ?? bestOfType(brand, 'symbol');
}

export function bestIcon(brand: Brand): string | null {
  return bestOfType(brand, 'icon');
}

/** Returns the accent colour, else the first colour with a value. */
export function mainColor(brand: Brand): unknown {
  const colors = objectsIn(brand.colors).filter((color) => typeof color.hex === 'string' && color.hex !== '');
  return (colors.find((color) => color.type === 'accent') ?? colors[0])?.hex ?? null;
}

export function locationOf(brand: Brand): JsonObject {
  const location = isObject(brand.company) ? brand.company.location : null;
  return isObject(location) ? location : {};
}

/** Returns the name of the country, or else its code. */
export function countryOf(brand: Brand): unknown {
  const { country, countryCode } = locationOf(brand);
  return country || countryCode;
}

/** Returns the name, or else the slug, of the industry with the highest score (first of equals). */
export function mainIndustry(brand: Brand): unknown {
  const scoreOf = ({ score }: JsonObject) => (typeof score === 'number' ? score : Number.NEGATIVE_INFINITY);
  const industries = objectsIn(isObject(brand.company) ? brand.company.industries : null);
  const best = industries.reduce<JsonObject | null>(
    (best, each) => (best === null || scoreOf(each) > scoreOf(best) ? each : best),
    null,
  );
  return best?.name ?? best?.slug ?? null;
}
