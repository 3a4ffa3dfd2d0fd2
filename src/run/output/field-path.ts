/**
 * What `--fields` reads from a brand by path: `company.location.region`, `links.twitter`, `logos.icon.svg`.
 * Paths of fields that the service adds later work as well. How a column of such a path is named is here too;
 * which paths are known is `contract/known-fields.ts`'s.
 *
 * A segment goes into an object by key. In an array it is, whichever fits first:
 *   1. a position from 0;
 *   2. a label: keeps the elements whose `type`, `theme`, `format`, `name` or `slug` says so, or that have it as a tag;
 *   3. a label of the files in them: keeps those (`logos.icon.svg`);
 *   4. a key: that value of each element.
 * What the path ends on becomes one cell: of logos, images and files the best one's address, of links the address, of
 * colours the value, of fonts and industries the name; several values are joined with `|`; anything else is JSON.
 */
import { bestFile, isObject, objectsIn } from './brand-assets.js';
import { jsonOf } from './json-text.js';

const LABELS = ['type', 'theme', 'format', 'name', 'slug'] as const;
/** The value that stands for an object, by the first key that is there. */
const FACES = ['src', 'url', 'hex', 'name', 'slug', 'id'] as const;
const SEPARATOR = '|';

/** The cell for a path in a parsed profile; empty when there is nothing. */
export function fieldAt(profile: unknown, path: string): string {
  let value = profile;
  for (const segment of path.split('.')) {
    value = Array.isArray(value) ? stepIntoArray(value, segment) : stepIntoObject(value, segment);
    if (value === undefined || value === null) return '';
  }
  return cellOf(value);
}

function stepIntoObject(value: unknown, segment: string): unknown {
  return isObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
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

/** Without recursion: nothing says how deep a service nests its arrays. */
function cellOf(whole: unknown): string {
  const texts: string[] = [];
  const rest = [whole];
  while (rest.length > 0) {
    const value = rest.pop();
    const picture = Array.isArray(value)
      ? (bestFile(objectsIn(value)) ?? bestFile([{ formats: value }]))
      : null;
    if (Array.isArray(value) && picture === null) {
      for (let at = value.length - 1; at >= 0; at -= 1) rest.push(value[at]);
      continue;
    }
    const text = picture ?? textOf(value);
    if (text !== '') texts.push(text);
  }
  return texts.join(SEPARATOR);
}

function textOf(value: unknown): string {
  if (!isObject(value)) return isScalar(value) ? String(value) : '';
  const picture = bestFile([value]);
  if (picture !== null) return picture;
  const face = FACES.find((key) => isScalar(value[key]));
  if (face !== undefined) return String(value[face]);
  return FACES.some((key) => Object.hasOwn(value, key)) ? '' : jsonOf(value);
}

/** A number that is too large for JavaScript (`1e400`) is none. */
export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** `company.location.countryCode` is the column `company_location_country_code`. */
export function columnOfPath(path: string): string {
  return path
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('.', '_')
    .toLowerCase();
}
