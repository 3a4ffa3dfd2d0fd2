/** The names of settings on pages, for people who know no keys. Pure. */
import type { Remedy } from '../../core/phrase.js';

/** The labels of fields on pages. */
export const FIELD_LABELS = {
  column: 'Column to look up',
  kind: 'What it holds',
  sheet: 'Sheet',
  skipLines: 'Lines above the header to leave out',
  header: 'The first row is data, not a header',
  where: 'Only rows where',
  fill: 'Fill your own columns',
  fillOver: 'Fill your own columns',
  priority: 'Looked up first',
  maxRequests: 'Paid lookups, at most',
} as const;

/** The meanings of settings, by key and value or by key alone; `*` stands for the value. */
const MEANINGS: Readonly<Record<string, string>> = {
  'header false': 'the first row is data, not a header',
  'header true': 'the first row is the header',
  'ragged invalid': 'do not look these rows up: they come back marked as invalid',
  'ragged take': 'read their cells by position',
  'allowMismatch true': 'use this column all the same',
  'minMatch 0': 'the service need not know these brands',
  skipLines: 'lines above the header: *',
  sheet: 'read the sheet *',
  records: 'read the rows from *',
  delimiter: 'cells are separated by *',
  encoding: 'the encoding is *',
  prefix: 'begin the names of added columns with *',
};

/** Returns what a setting of this value does. */
export function meaningOf(key: string, value: string): string {
  return MEANINGS[`${key} ${value}`] ?? MEANINGS[key]?.replace('*', value) ?? `${key} ${value}`;
}

/** Returns a remedy for a page: a field by its label, another setting by its key. */
export function onPage(remedy: Remedy): string {
  if ('set' in remedy) {
    const meanings = Object.entries(remedy.set).map(([key, value]) =>
      meaningOf(key, [value].flat().join(', ')),
    );
    return `“${meanings.join(', ')}”`;
  }
  if ('unset' in remedy) return `no choice for ${fieldOf(remedy.unset)}`;
  return fieldOf('choose' in remedy ? remedy.choose : remedy.setting);
}

function fieldOf(key: string): string {
  const label = Object.hasOwn(FIELD_LABELS, key) ? FIELD_LABELS[key as keyof typeof FIELD_LABELS] : undefined;
  return label === undefined ? `the setting ${key}` : `“${label}”`;
}
