/** Finds columns by name or position, and says how people and settings name one. */
import { ConfigError } from '../../core/errors.js';
import { IDENTIFIER_KINDS, type IdentifierKind } from '../../core/identifier.js';
import { nearest } from '../../core/nearest.js';
import { joinPhrases, phrase } from '../../core/phrase.js';
import { firstOf, NAME_AT_MOST, shortName } from '../../core/terminal-text.js';
import type { ColumnRequest } from '../../settings/column-value.js';

export interface ColumnChoice {
  readonly column: number;
  readonly name: string;
  readonly kind: IdentifierKind;
  /** True for cells that are markets (`BTCUSDT`), of which the coin is looked up. */
  readonly areMarkets?: boolean;
}

type ColumnKey = 'column' | 'priority' | 'where' | 'nameColumn' | 'fill' | 'fillOver';

/**
 * Finds a column by `position:3`, its name in any case, or a bare number from 1. `key`: the setting
 * that names it. Throws column-unknown, column-doubtful.
 */
export function findColumn(
  columns: readonly string[],
  request: ColumnRequest,
  key: ColumnKey = 'column',
): { readonly column: number; readonly kind: IdentifierKind | null } {
  const { name, kind } = request;
  const position = readPosition(name);
  if (position !== null && columns[position] === undefined) {
    const what = 'no column has this position';
    const todo = `use one from ${positionText(0)} to ${positionText(columns.length - 1)}`;
    const subject = phrase`${{ setting: key }} ${positionText(position)}`;
    throw new ConfigError({ code: 'column-unknown', what, subject, todo });
  }
  if (position !== null) return { column: position, kind };
  const only = (isMeant: (column: string) => boolean): number | null => {
    const [found = null, ...others] = columns.flatMap((column, index) => (isMeant(column) ? [index] : []));
    if (found === null || others.length === 0) return found;
    const positions = [found, ...others].map((index) => ({ set: { [key]: positionText(index) } }));
    const what = 'several columns have this name';
    const todo = phrase`use its position: ${joinPhrases(positions, ' or ')}`;
    throw new ConfigError({ code: 'column-doubtful', what, subject: `"${shortName(name)}"`, todo });
  };
  // If there is a header `price:isin`, `--column price:isin` means that one.
  const whole = kind === null ? null : only((other) => other === `${name}:${kind}`);
  if (whole !== null) return { column: whole, kind: null };
  const number = /^\s*\d{1,6}\s*$/.test(name) ? Number(name) - 1 : -1;
  const column =
    only((other) => other === name) ??
    only((other) => looseName(other) === looseName(name)) ??
    (columns[number] === undefined ? null : number);
  if (column === null) throw unknownColumn(columns, request, key);
  return { column, kind };
}

/** Returns the error for a setting that names a column of an earlier run, which is replaced. */
export function columnIsOurs(columns: readonly string[], column: number, key: ColumnKey): ConfigError {
  return new ConfigError({
    code: 'column-ours',
    what: 'this column was added by an earlier run and will be replaced',
    subject: phrase`${columnLabel(columns, column)} in ${{ setting: key }}`,
    todo: phrase`choose one of your own columns, or set another ${{ setting: 'prefix' }} to keep this one`,
  });
}

function unknownColumn(columns: readonly string[], { name, kind }: ColumnRequest, key: ColumnKey) {
  const [, front, ending] = /^(.+):(.*)$/s.exec(name) ?? [];
  const isKindWrong = columns.some((column) => looseName(column) === looseName(front ?? ''));
  if (key === 'column' && kind === null && front !== undefined && isKindWrong) {
    const what = 'not a kind of identifier';
    const subject = phrase`"${shortName(ending ?? '')}" in ${{ setting: key }} ${shortName(name)}`;
    const todo = `use one of ${IDENTIFIER_KINDS.join(', ')}`;
    return new ConfigError({ code: 'column-unknown', what, subject, todo });
  }
  const names = columns.map((column) => looseName(column).slice(0, LONGEST_COMPARED));
  const meant = names.indexOf(nearest(looseName(name), names) ?? '-');
  const labels = columns.slice(0, 21).map((_, index) => columnLabel(columns, index));
  const all = `use one of ${firstOf(labels, 20)}`;
  const likely = kind === null ? columnLabel(columns, meant) : columnSetting(columns, meant, kind);
  const guess = phrase`did you mean ${likely}?${key === 'column' ? '' : ` Otherwise ${all}`}`;
  const subject = `"${shortName(name)}"`;
  return new ConfigError({ code: 'column-unknown', subject, todo: meant < 0 ? all : guess });
}

/** A header cell may be prose. */
const LONGEST_COMPARED = 100;

function looseName(name: string): string {
  return name.normalize('NFKC').replaceAll('\ufeff', '').trim().toLowerCase();
}

/** Returns the position, from 0, that `position:3` means; null for a name. */
function readPosition(name: string): number | null {
  const digits = /^\s*position:(\d{1,6})\s*$/i.exec(name)?.[1];
  return digits === undefined ? null : Number(digits) - 1;
}

function positionText(column: number): string {
  return `position:${column + 1}`;
}

/** Returns the name of a column for people; its position too for a number, alone if unclear. */
export function columnLabel(columns: readonly string[], column: number): string {
  const name = columns[column] ?? '';
  if (!isNameable(columns, column)) return `number ${column + 1}`;
  return /^\s*\d+\s*$/.test(name) ? `"${name}" (number ${column + 1})` : `"${name}"`;
}

/** Returns a unique name for a column, and its kind. */
export function columnRequest(columns: readonly string[], column: number, kind: IdentifierKind) {
  const name = columns[column] ?? '';
  const isClear = isNameable(columns, column) && !columns.includes(`${name}:${kind}`);
  return { name: isClear ? name : positionText(column), kind };
}

/** Returns the setting that chooses a column. */
export function columnSetting(columns: readonly string[], column: number, kind: IdentifierKind) {
  return { set: { column: `${columnRequest(columns, column, kind).name}:${kind}` } };
}

function isNameable(columns: readonly string[], column: number): boolean {
  const name = looseName(columns[column] ?? '');
  if (name === '' || name.length > NAME_AT_MOST || readPosition(name) !== null) return false;
  return columns.filter((other) => looseName(other) === name).length === 1;
}
