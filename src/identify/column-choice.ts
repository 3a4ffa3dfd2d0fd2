/**
 * What a choice of columns is made of, and how it is written as the `--column` flag. Finding the named column in a header
 * is `find-column.ts`'s, choosing without a name `judge-columns.ts`'s.
 */
import type { IdentifierKind } from '../core/identifier.js';

/** A column that identifiers are taken from. */
export interface ColumnChoice {
  /** Position among the columns, from 0. */
  readonly column: number;
  readonly name: string;
  readonly kind: IdentifierKind;
}

/** One `--column NAME[:KIND]`. The name may also be a position from 1, as `position:3` or, where no column is called so, `3`. */
export interface ColumnRequest {
  readonly name: string;
  /** null: not said. */
  readonly kind: IdentifierKind | null;
}

/** Names are compared without case, outer blanks and invisible marks when nothing equals them exactly. */
export function looseName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\ufeff/g, '')
    .trim()
    .toLowerCase();
}

/** `position:3`, from 1: names the third column whatever the columns are called. */
const POSITION = /^\s*position:(\d{1,6})\s*$/i;

/** The position, from 0, that a text spells as one; null when it is a name. Not yet compared with the table. */
export function readPosition(name: string): number | null {
  const digits = POSITION.exec(name)?.[1];
  return digits === undefined ? null : Number(digits) - 1;
}

/** The spelling of a position, `column` from 0. */
export function positionText(column: number): string {
  return `position:${column + 1}`;
}

/**
 * How people are shown a column: its name, with its position where the name is a number, or its position alone where the
 * name is blank or not the only one.
 */
export function columnLabel(columns: readonly string[], column: number): string {
  const name = columns[column] ?? '';
  if (!isNameable(columns, column)) return `number ${column + 1}`;
  return /^\s*\d+\s*$/.test(name) ? `"${name}" (number ${column + 1})` : `"${name}"`;
}

/** What names this column and kind in a setting, so that it is read as this column and no other. */
function columnText(columns: readonly string[], column: number, kind: IdentifierKind): string {
  const name = columns[column] ?? '';
  const isClear = isNameable(columns, column) && !columns.includes(`${name}:${kind}`);
  return `${isClear ? name : positionText(column)}:${kind}`;
}

/** The flag that names this column, ready for a POSIX shell. */
export function columnFlag(columns: readonly string[], column: number, kind: IdentifierKind): string {
  const text = columnText(columns, column, kind);
  return `--column ${/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`}`;
}

function isNameable(columns: readonly string[], column: number): boolean {
  const name = looseName(columns[column] ?? '');
  if (name === '' || readPosition(name) !== null) return false;
  return columns.filter((other) => looseName(other) === name).length === 1;
}
