/**
 * Which columns or keys of an input were written by an earlier run and are replaced, and which only look so. An
 * enriched file is a valid input; a customer's own `brand_name` column is never overwritten.
 */
import { NeverStartError } from '../errors.js';
import type { TableFormat } from '../table.js';
import { membersOf } from './json-text.js';

/** Columns that an output of ours always has, without prefix. */
const ALWAYS_OURS = ['status', 'identifier', 'fetched_at'];
/** Keys that the object under our key always has in JSON lines. */
const ALWAYS_IN_OURS = ['status', 'identifier', 'fetchedAt'];

/** Our key in JSON lines: the prefix without what separates it from a column name; `brand` for a prefix of nothing else. */
export function jsonKey(prefix: string): string {
  const key = prefix.replace(/[_.-]+$/, '');
  return key === '' ? 'brand' : key;
}

/**
 * Positions of the columns that an earlier run added.
 *
 * CSV: when status, identifier and fetched_at are all there under the prefix, every column with the prefix is ours.
 * JSON lines: our one key, if it is there; whether each line's value is ours is told by {@link isEarlierValue}.
 * @throws NeverStartError `column-ours` when columns begin with the prefix and are the customer's.
 */
export function findEarlierColumns(
  columns: readonly string[],
  prefix: string,
  format: TableFormat,
): readonly number[] {
  if (format === 'jsonl') return positionsOf(columns, (column) => column === jsonKey(prefix));
  if (ALWAYS_OURS.every((name) => columns.includes(prefix + name))) {
    return positionsOf(columns, (column) => prefix === '' || column.startsWith(prefix));
  }
  const theirs = prefix === '' ? [] : columns.filter((column) => column.startsWith(prefix));
  if (theirs.length > 0) throw refusal(theirs.join(', '));
  return [];
}

function positionsOf(columns: readonly string[], isOurs: (column: string) => boolean): number[] {
  return [...columns.keys()].filter((position) => isOurs(columns[position] ?? ''));
}

/** Whether the JSON text of a value under our key was written by an earlier run. */
export function isEarlierValue(value: string): boolean {
  const members = membersOf(value);
  return members !== null && ALWAYS_IN_OURS.every((key) => members.some((member) => member.key === key));
}

/** The refusal to write over what is the customer's. */
export function refusal(subject: string): NeverStartError {
  return new NeverStartError({
    code: 'column-ours',
    subject,
    todo: 'choose another name for our columns with --prefix, for example --prefix enriched_',
  });
}
