/**
 * Whether the first record is the header of what follows: lines above the table, data where a
 * header should be, blank and equal names. Verdicts and sentences; whether they stop anything is
 * decided in `sniff-table.ts`. Pure.
 */
import { valueKind } from './cell-kinds.js';

/** A title above the table is at most this many records long. */
const MAX_PREAMBLE = 30;

export interface PreambleVerdict {
  /** Index of the record that looks like the header. */
  readonly headerAt: number;
  readonly width: number;
}

/**
 * Finds records above the header: they are narrower than the table (a title, a date), or as wide
 * but with only one filled cell (a title exported from a spreadsheet). null: the first record fits.
 * A header with one name alone fits too: below it stands data, and not another header.
 *
 * @param records the cells of each sample record
 */
export function findPreamble(records: readonly (readonly string[])[]): PreambleVerdict | null {
  const widths = records.map((cells) => cells.length);
  const first = widths[0] ?? 0;
  const table = findTable(widths);
  if (table !== null && first < table.width) return table;
  const filled = records.map((cells) => cells.filter((text) => text.trim() !== '').length);
  const titled = findPaddedTitle(first, widths, filled);
  if (titled === null) return null;
  const isData =
    findDataInHeader(records[titled.headerAt] ?? [], records.slice(titled.headerAt + 1)) !== null;
  return isData ? null : titled;
}

/**
 * The first record from which on nearly all agree on a width of two or more cells. null when there
 * is none, or when there are too few of them for what stands above.
 */
export function findTable(widths: readonly number[]): PreambleVerdict | null {
  const width = commonest(widths.slice(1).filter((it) => it > 1));
  const headerAt = widths.indexOf(width);
  if (headerAt < 0 || headerAt > MAX_PREAMBLE) return null;
  const below = widths.slice(headerAt);
  const agreeing = below.filter((it) => it === width).length;
  // The header and one row at least.
  const isTable = agreeing >= Math.max(2, headerAt / 2) && agreeing / below.length >= 0.8;
  return isTable ? { headerAt, width } : null;
}

function findPaddedTitle(
  width: number,
  widths: readonly number[],
  filled: readonly number[],
): PreambleVerdict | null {
  if (width < 3 || (filled[0] ?? 0) > 1) return null;
  const headerAt = filled.findIndex((it, i) => it === width && widths[i] === width);
  if (headerAt < 1 || headerAt > MAX_PREAMBLE) return null;
  const isAllTitle = filled.slice(0, headerAt).every((it) => it <= 2 && it < width);
  return isAllTitle ? { headerAt, width } : null;
}

function commonest(numbers: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const it of numbers) counts.set(it, (counts.get(it) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? 0;
}

const IDENTIFYING = new Set(['email', 'url', 'isin', 'domain']);

/**
 * Last words of dotted column names (`company.website`), though some of them are top-level domains.
 */
const COLUMN_WORDS =
  /\.(name|web|website|domain|email|mail|url|uri|link|site|host|homepage|company|id|isin)$/i;

/**
 * The cell of the first record that shows it to be data; null when it may be a header. It is data
 * when one of its cells is an address or an ISIN, and every cell is of the kind that its column
 * mostly holds.
 */
export function findDataInHeader(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string | null {
  const kinds = header.map((cell) => (COLUMN_WORDS.test(cell.trim()) ? 'text' : valueKind(cell)));
  const telling = kinds.findIndex((kind) => IDENTIFYING.has(kind));
  if (telling < 0) return null;
  const isLikeBelow = kinds.every((kind, column) => {
    const below = rows.map((row) => valueKind(row[column] ?? '')).filter((it) => it !== 'blank');
    if (kind === 'blank' || below.length === 0) return true;
    return below.filter((it) => it === kind).length >= below.length / 2;
  });
  return isLikeBelow ? (header[telling] ?? null) : null;
}

/** Kinds that are all a domain to a lookup. */
const WEB_KINDS = new Set(['email', 'url', 'domain']);

/**
 * Whether these records are a list of one kind without a header: one cell each, and the first of
 * the kind of nearly all others. Then nothing is lost or bought wrongly when the first is read as
 * data.
 */
export function isBareList(records: readonly (readonly string[])[]): boolean {
  const [first = '', ...others] = records.map(([cell = '']) => cell).filter((cell) => cell.trim() !== '');
  if (records.some(({ length }) => length > 1) || COLUMN_WORDS.test(first.trim())) return false;
  const groupOf = (cell: string) => (WEB_KINDS.has(valueKind(cell)) ? 'domain' : valueKind(cell));
  const group = groupOf(first);
  return (
    IDENTIFYING.has(group) && others.filter((cell) => groupOf(cell) === group).length >= others.length * 0.9
  );
}

/**
 * Sentences about blank and equal header cells; columns are kept by position whatever they are
 * called.
 */
export function headerWarnings(columns: readonly string[]): string[] {
  const warnings: string[] = [];
  const blank = columns.flatMap((name, i) => (name.trim() === '' ? [i + 1] : []));
  if (blank.length > 0) warnings.push(`${plural('header cell', blank)} blank: kept by position`);
  const places = new Map<string, number[]>();
  columns.forEach((name, i) => {
    if (name.trim() !== '') places.set(name.trim(), [...(places.get(name.trim()) ?? []), i + 1]);
  });
  for (const [name, at] of places) {
    if (at.length > 1) warnings.push(`${plural('column', at)} called '${name}': kept by position`);
  }
  return warnings;
}

function plural(word: string, numbers: readonly number[]): string {
  const shown = numbers.length > 10 ? [...numbers.slice(0, 10), '...'] : numbers;
  return numbers.length === 1 ? `${word} ${shown[0]} is` : `${word}s ${shown.join(', ')} are`;
}
