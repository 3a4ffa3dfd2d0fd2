/**
 * What a choice of columns is made of, and its text form as the `--column` flag. Finding the named column in a header
 * is `find-column.ts`'s, choosing without a name `judge-columns.ts`'s.
 */
import { IDENTIFIER_KINDS, type IdentifierKind } from '../model.js';

/** A column that identifiers are taken from. */
export interface ColumnChoice {
  /** Position among the columns, from 0. */
  readonly column: number;
  readonly name: string;
  readonly kind: IdentifierKind;
}

/** One `--column NAME[:KIND]`. The name may also be a position, from 1. */
export interface ColumnRequest {
  readonly name: string;
  /** null: not said. */
  readonly kind: IdentifierKind | null;
}

/**
 * Parses `website:domain`. Only a known kind after the last colon is a kind; otherwise the whole text is the name, since a
 * header may itself hold colons. Never throws.
 */
export function parseColumnRequest(text: string): ColumnRequest {
  const colon = text.lastIndexOf(':');
  const kind = colon > 0 ? readKind(text.slice(colon + 1)) : null;
  return kind === null ? { name: text, kind: null } : { name: text.slice(0, colon), kind };
}

function readKind(text: string): IdentifierKind | null {
  const word = text.trim().toLowerCase();
  return IDENTIFIER_KINDS.find((kind) => kind === word) ?? null;
}

/** Names are compared without case, outer blanks and invisible marks when nothing equals them exactly. */
export function looseName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\ufeff/g, '')
    .trim()
    .toLowerCase();
}

/** How people are shown a column: its name, or its position where the name is blank or not the only one. */
export function columnLabel(columns: readonly string[], column: number): string {
  return isNameable(columns, column) ? `"${columns[column]}"` : `number ${column + 1}`;
}

/** The flag that names this column, ready for a POSIX shell. */
export function columnFlag(columns: readonly string[], column: number, kind: IdentifierKind): string {
  const name = isNameable(columns, column) ? (columns[column] ?? '') : String(column + 1);
  const text = `${name}:${kind}`;
  return `--column ${/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`}`;
}

function isNameable(columns: readonly string[], column: number): boolean {
  const name = looseName(columns[column] ?? '');
  return name !== '' && columns.filter((other) => looseName(other) === name).length === 1;
}
