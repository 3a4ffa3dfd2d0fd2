/**
 * Kinds of values that say how a file is read: columns, delimiter, encoding. Whether the file has
 * such a column is checked once its header is known.
 */
import iconv from 'iconv-lite';
import { IDENTIFIER_KINDS, type IdentifierKind } from '../core/identifier.js';
import { nearest } from '../core/nearest.js';
import { accepted, eachText, oneText, refused, type ValueKind } from './parse-value.js';

/**
 * One `--column NAME[:KIND]`. The name may also be a position from 1, as `position:3` or, where no
 * column has that name, `3`.
 */
export interface ColumnRequest {
  readonly name: string;
  /** null: not given; `--kind` or the column's values decide. */
  readonly kind: IdentifierKind | null;
}

/**
 * `NAME` or `NAME:KIND`. A name may itself hold colons: only what follows the last one, and only
 * when it is a kind, is taken off. An ending that is nearly a kind is refused, since it is more
 * likely a slip than a name.
 */
export const columnChoices: ValueKind<readonly ColumnRequest[]> = eachText(
  'repeated',
  'NAME[:KIND]',
  (seen) => {
    const colon = seen.lastIndexOf(':');
    const ending = seen.slice(colon + 1);
    const kind = colon > 0 ? IDENTIFIER_KINDS.find((each) => each === ending) : undefined;
    const name = kind === undefined ? seen : seen.slice(0, colon);
    const meant =
      colon > 0 && kind === undefined && ending.length >= 4 ? nearest(ending, IDENTIFIER_KINDS) : undefined;
    if (name.trim() === '' || meant !== undefined) {
      const write = `NAME or NAME:KIND with one of ${IDENTIFIER_KINDS.join(', ')}, for example website:domain`;
      return refused('a column', write, meant === undefined ? undefined : `${seen.slice(0, colon)}:${meant}`);
    }
    return accepted({ name, kind: kind ?? null });
  },
);

/** A column that decides which rows are looked up first. */
export interface PriorityChoice {
  readonly name: string;
  readonly direction: 'asc' | 'desc';
}

const DIRECTIONS = ['asc', 'desc'] as const;

/**
 * `NAME`, `NAME:asc` or `NAME:desc`; the highest first unless said otherwise. Read as `--column`
 * is.
 */
export const priorityValue: ValueKind<PriorityChoice> = oneText('NAME[:asc|desc]', (seen) => {
  const colon = seen.lastIndexOf(':');
  const ending = seen.slice(colon + 1);
  const direction = colon > 0 ? DIRECTIONS.find((each) => each === ending) : undefined;
  const name = direction === undefined ? seen : seen.slice(0, colon);
  const meant = colon > 0 && direction === undefined ? nearest(ending, DIRECTIONS) : undefined;
  if (name.trim() === '' || meant !== undefined) {
    const write = 'NAME, NAME:asc or NAME:desc, for example revenue:desc';
    return refused('a column', write, meant === undefined ? undefined : `${seen.slice(0, colon)}:${meant}`);
  }
  return accepted({ name, direction: direction ?? 'desc' });
});

/** One character, or the word `tab`. */
export const delimiterValue: ValueKind<string> = oneText('CHARACTER', (seen) => {
  if (seen === 'tab' || seen === '\\t') return accepted('\t');
  return /^[^"\r\n]$/u.test(seen)
    ? accepted(seen)
    : refused('a separator', 'one character such as , ; or | (quoted for the shell), or the word tab');
});

const COMMON_ENCODINGS = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1', 'latin1'];

/** Names that iconv-lite knows and that are no encodings of text files. */
const NOT_OF_FILES = ['base64', 'hex', 'binary'];

/** Any name that iconv-lite can decode a text file with. */
export const encodingValue: ValueKind<string> = oneText('NAME', (seen) =>
  iconv.encodingExists(seen) && !NOT_OF_FILES.includes(seen.toLowerCase())
    ? accepted(seen.toLowerCase())
    : refused('an encoding', 'its name, for example utf-8 or windows-1252', nearest(seen, COMMON_ENCODINGS)),
);

/** The prefix of our columns. */
export const prefixValue: ValueKind<string> = oneText('TEXT', (seen) =>
  /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/.test(seen)
    ? accepted(seen)
    : refused('a prefix', 'up to 32 letters, digits, _ . or -, for example brand_'),
);
