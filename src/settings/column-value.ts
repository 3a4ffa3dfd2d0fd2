/** Values for how files are read and written. */
import { IDENTIFIER_KINDS, type IdentifierKind } from '../core/identifier.js';
import { load } from '../core/load.js';
import { nearest } from '../core/nearest.js';
import { eachText, matching, oneText, Refusal } from './parse-value.js';

/** One `--column NAME[:KIND]`; the name may be a position from 1, as `position:3` or `3`. */
export interface ColumnRequest {
  readonly name: string;
  /** null if not given: then `--kind` or the column's values decide. */
  readonly kind: IdentifierKind | null;
}

export const columnChoices = eachText('repeated', 'NAME[:KIND]', (seen): ColumnRequest | Refusal => {
  const write = `NAME or NAME:KIND with one of ${IDENTIFIER_KINDS.join(', ')}, for example website:domain`;
  const split = splitName(seen, IDENTIFIER_KINDS, 4, write);
  return split instanceof Refusal ? split : { name: split.name, kind: split.ending };
});

/** The column by which rows are looked up first, by default from its highest value. */
export const priorityValue = oneText('NAME[:asc|desc]', (seen) => {
  const write = 'NAME, NAME:asc or NAME:desc, for example revenue:desc';
  const split = splitName(seen, ['asc', 'desc'], 0, write);
  return split instanceof Refusal ? split : { name: split.name, direction: split.ending ?? 'desc' };
});

/** Splits off an ending after the last colon; refuses near misses from `slipFrom` characters on. */
function splitName<const T extends string>(
  seen: string,
  endings: readonly T[],
  slipFrom: number,
  write: string,
) {
  const colon = seen.lastIndexOf(':');
  const tail = colon > 0 ? seen.slice(colon + 1) : null;
  const ending = endings.find((each) => each === tail) ?? null;
  const name = ending === null ? seen : seen.slice(0, colon);
  const isSlip = tail !== null && ending === null && tail.length >= slipFrom;
  const meant = isSlip ? nearest(tail, endings) : undefined;
  if (name.trim() !== '' && meant === undefined) return { name, ending };
  return new Refusal('a column', write, meant && `${seen.slice(0, colon)}:${meant}`);
}

/** What a cell must contain; `value` is empty for `blank` and `filled`. */
export interface RowCondition {
  readonly column: string;
  readonly wants: 'value' | 'blank' | 'filled';
  readonly value: string;
}

const STATES = ['blank', 'filled'] as const;

/** Reads a condition, whose name ends at the first `=`; null for another text. Pure. */
export function readCondition(text: string): RowCondition | null {
  const equals = text.indexOf('=');
  if (equals >= 0) return { column: text.slice(0, equals), wants: 'value', value: text.slice(equals + 1) };
  const state = STATES.find((each) => text.endsWith(`:${each}`));
  return state === undefined ? null : { column: text.slice(0, -state.length - 1), wants: state, value: '' };
}

/** Reverses {@link readCondition}. Pure. */
export function conditionText({ column, wants, value }: RowCondition): string {
  return wants === 'value' ? `${column}=${value}` : `${column}:${wants}`;
}

/** Returns the part that a condition lacks; null if it is complete. Pure. */
export function missingIn({ column, wants, value }: RowCondition): 'column' | 'value' | null {
  if (column.trim() === '') return 'column';
  return wants === 'value' && value.trim() === '' ? 'value' : null;
}

/** Returns the conditions for a run's key, independent of their order. */
export function keyOfConditions(where: readonly RowCondition[]): string[] {
  const texts = where.map(({ column, wants, value }) => JSON.stringify([column, wants, comparable(value)]));
  return [...new Set(texts)].sort();
}

/** Returns a text as cells are compared: without outer blanks, case and compatibility forms. */
export function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase();
}

export const rowConditions = eachText('repeated', 'COLUMN=VALUE', (seen): RowCondition | Refusal => {
  const write = 'COLUMN=VALUE, COLUMN:blank or COLUMN:filled, for example country=DE';
  const condition = readCondition(seen);
  if (condition === null) {
    const split = splitName(seen, STATES, 0, write);
    return new Refusal('a condition', write, split instanceof Refusal ? split.nearest : undefined);
  }
  const missing = missingIn(condition);
  if (missing === null) return condition;
  return new Refusal('a condition', write, missing === 'value' ? `${condition.column}:blank` : undefined);
});

/** One `--fill COLUMN=FIELD`: a column of the user, and a field as in `--fields`. */
export interface FillRequest {
  readonly column: string;
  readonly field: string;
}

/** The last `=` ends the name. */
export const fillRequests = eachText('repeated', 'COLUMN=FIELD', (seen): FillRequest | Refusal => {
  const equals = seen.lastIndexOf('=');
  const [column, field] = [seen.slice(0, equals), seen.slice(equals + 1).trim()];
  if (equals > 0 && column.trim() !== '' && field !== '') return { column, field };
  return new Refusal('a column to fill', 'COLUMN=FIELD, for example country=company.location.country');
});

/** True for `--fields none`: the output gets none of our columns. */
export function hasNoColumns(fields: readonly string[] | null): boolean {
  return fields?.length === 1 && fields[0] === 'none';
}

/** One UTF-16 code unit, which is what CSV readers take, or the word `tab`. */
export const delimiterValue = oneText('CHARACTER', (seen) => {
  if (/^(tab|\\t)$/i.test(seen)) return '\t';
  const write = 'one character such as , ; or | (quoted for the shell), or the word tab';
  return /^[^"\r\n]$/.test(seen) ? seen : new Refusal('a separator', write);
});

const COMMON_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1', 'latin1'];

/** Other names, as letters and digits only. */
const ALIASES = new Map(
  Object.entries({
    'utf-8': 'utf8 utf8bom utf8sig ascii usascii',
    'utf-16': 'utf16',
    'utf-16le': 'utf16le ucs2',
    'utf-16be': 'utf16be',
    'windows-1252': 'cp1252 windows1252 win1252 ansi',
    'iso-8859-1': 'latin1 iso88591',
  }).flatMap(([encoding, names]) => names.split(' ').map((name) => [name, encoding] as const)),
);

/** Codecs of iconv-lite that do not encode text. */
const NO_TEXT = new Set(['', 'base64', 'hex', 'binary', 'utf7', 'utf7imap']);

/** An encoding by its usual name, or any of iconv-lite; `utf-16` leaves the byte order open. */
export const encodingValue = oneText('NAME', (seen) => {
  const key = seen.toLowerCase().replace(/[^a-z0-9]/g, '');
  const usual = ALIASES.get(key);
  if (usual !== undefined) return usual;
  const { encodingExists } = load('iconv-lite') as typeof import('iconv-lite');
  if (!NO_TEXT.has(key) && encodingExists(key)) return seen.toLowerCase();
  const write = 'the name of one, for example utf-8 or windows-1252';
  return new Refusal('an encoding', write, nearest(seen, COMMON_ENCODINGS));
});

export const prefixValue = matching(
  'TEXT',
  /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/,
  'a prefix',
  'up to 32 letters, digits, _ . or -, for example brand_',
);
