/**
 * Columns that an earlier run added. An enriched file is a valid input: its `brand_*` columns are replaced, not doubled,
 * and never taken for identifiers. A customer's own `brand_*` column must not be overwritten, so a half-match stops.
 */
import { NeverStartError } from '../core/errors.js';

/** All three are written by every run, so together they mark a file as ours. */
const MARKS = ['status', 'identifier', 'fetched_at'] as const;

/**
 * Positions of the columns to be replaced; none when the table is not ours. Throws `NeverStartError` column-ours when
 * there are columns with the prefix and not all of the marks. An empty prefix claims nothing.
 */
export function findOurColumns(columns: readonly string[], prefix: string): number[] {
  if (prefix === '') return [];
  const prefixed = columns.flatMap((column, index) => (column.startsWith(prefix) ? [index] : []));
  if (prefixed.length === 0) return [];
  const missing = MARKS.map((mark) => prefix + mark).filter((name) => !columns.includes(name));
  if (missing.length === 0) return prefixed;
  const names = prefixed.map((index) => columns[index]).join(', ');
  throw new NeverStartError({
    code: 'column-ours',
    what: `some columns begin with "${prefix}" like those that are added, but ${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    subject: names,
    todo: `keep them as yours with another prefix for ours, such as --prefix ${prefix === 'enriched_' ? 'added_' : 'enriched_'}`,
  });
}
