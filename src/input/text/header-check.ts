/** Whether the first record is the header: lines above, data in its place, equal names. */

import { commonest, countEach } from '../../core/counter.js';
import { RunError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { type RowReason, sayRowReason } from '../../core/row-reason.js';
import { firstOf, shortName } from '../../core/terminal-text.js';
import { IDENTIFYING, valueKind } from '../cell-kinds.js';
import { skipBlank } from '../identify/clean-cell.js';
import { isHeaderLike } from '../identify/header-words.js';
import { isKnownAbove } from '../identify/known-symbols.js';
import { isReadable, type SplitRecord } from './record-splitter.js';
import { isCut } from './row-fit.js';

type Cells = readonly string[];

const MAX_PREAMBLE = 30;

interface FoundTable {
  readonly headerAt: number;
  readonly width: number;
}

interface HeaderToCheck {
  readonly name: string;
  /** The delimiter for people; null: it is a sheet. */
  readonly shown: string | null;
  readonly lineOf: (record: SplitRecord) => number;
  readonly records: readonly [SplitRecord, ...SplitRecord[]];
  /** Whether its width is known to be that of the table, even if the rows differ. */
  readonly isWidthSettled: boolean;
}

/** How a table is to be read whose first record is not its header, and what to say of it. */
export interface HeaderCorrection {
  readonly options: { readonly header: false } | { readonly skipLines: number };
  readonly warning: Phrase;
}

/** How a broker marks the header of each of several tables, and their rows. */
const MARKS = /^(?:Header|Data|SubTotal|Total|Notes)$/;

/** Throws `input-preamble` for several tables in one file, each named in its first column. */
function assertOneTable(name: string, rows: readonly Cells[]): void {
  const headers = rows.filter(([, mark]) => mark === 'Header');
  const tables = [...new Set(headers.map(([table = '']) => table))];
  if (tables.length < 2 || !rows.every(([, mark = '']) => MARKS.test(mark))) return;
  const isOfSecurities = (cells: Cells) => cells.some((cell) => /^(?:symbol|isin)$/i.test(cell));
  const [wanted = ''] = headers.find(isOfSecurities) ?? tables;
  throw new RunError({
    code: 'input-preamble',
    what: 'the file holds several tables',
    subject: `${name} (${shortName(tables.join(', '))})`,
    todo: `give one of them: grep '^${wanted.replaceAll("'", '.')},' ${shortName(name)} > one.csv`,
  });
}

/** null: the first record is the header. Throws `input-preamble` if it cannot be read. */
export function correctHeader(table: HeaderToCheck): HeaderCorrection | null {
  const { name, shown, lineOf, records, isWidthSettled } = table;
  const [first, ...others] = records;
  const line = lineOf(first);
  const readable = records.filter(isReadable);
  const cells = readable.map((record) => record.cells);
  if (shown !== null) assertOneTable(name, cells);
  const preamble = isWidthSettled ? null : findPreamble(cells);
  const header = readable[preamble?.headerAt ?? -1];
  // Rows that are too long for a header do not make the first of them another header: they are
  // refused when they are counted.
  if (preamble !== null && header !== undefined && !isFirstRow(cells, preamble)) {
    const at = lineOf(header);
    const setting = { setting: 'skipLines' };
    const begins = `the table begins in line ${at} ('${shortName(header.raw)}')`;
    const warning = phrase`${
      begins
    }: the lines above it are not in the output; if it begins elsewhere, use ${setting}`;
    return { options: { skipLines: at - 1 }, warning };
  }
  const problem: RowReason | null = first.problem ?? (first.raw.includes('\0') ? { code: 'nul' } : null);
  if (problem !== null) {
    const place = shown === null ? 'row' : 'line';
    const skip = { choose: 'skipLines', example: 'N' };
    const cut = phrase`, or ${{ setting: 'delimiter' }} if ${shown ?? ''} does not separate the cells`;
    const orCut = shown === null ? '' : cut;
    const todo = phrase`correct that ${place}, or use ${skip} or ${{ set: { header: false } }}${orCut}`;
    const subject = `${name}, ${place} ${line} (${sayRowReason(problem)})`;
    throw new RunError({ code: 'input-preamble', what: 'the header cannot be read', subject, todo });
  }
  const rows = others.filter(isReadable).map((record) => record.cells);
  const data = findDataInHeader(first.cells, rows) ?? findSymbolInHeader(first.cells, rows);
  if (data === null) return null;
  const names = 'columns are named column_1 and so on';
  const warning = `no header: the first line ('${shortName(data)}') is data like the others; ${names}`;
  return { options: { header: false }, warning };
}

/** Whether what seems to be the table's header is a row below a header of several names. */
function isFirstRow([header = [], ...rows]: readonly Cells[], { headerAt, width }: FoundTable): boolean {
  const [row = [], ...others] = rows;
  if (headerAt !== 1 || header.length < 2 || header.length === width) return false;
  return (isCut(row) && !isCut(header)) || findDataInHeader(row, others) !== null;
}

/**
 * Finds records above the header that are narrower than the table, or filled in one cell only.
 * Returns null when the first record fits; so does one name alone with data below it.
 */
export function findPreamble(records: readonly Cells[]): FoundTable | null {
  const [[mark = '', version = ''] = [], names = []] = records;
  // DATEV's format has a line about the file.
  if (/^(?:EXTF|DTVF)$/.test(mark) && /^\d+$/.test(version)) return { headerAt: 1, width: names.length };
  const isComment = ([first = '', ...others]: Cells) => others.length === 0 && /^#\s/.test(first);
  const comments = records.findIndex((cells) => !isComment(cells));
  if (comments > 0 && records[comments]?.length === 1) return { headerAt: comments, width: 1 };
  const widths = records.map(({ length }) => length);
  const width = widths[0] ?? 0;
  const table = findTable(widths);
  if (table !== null && width < table.width) return table;
  const filled = records.map((cells) => cells.filter((text) => text.trim() !== '').length);
  // `Market:;XETR` above a wide table is no header either.
  if ((width < 3 && filled[0] !== 0) || (filled[0] ?? 0) > (width < 6 ? 1 : 2)) return null;
  const headerAt = filled.findIndex((it, i) => it === width && widths[i] === width);
  if (headerAt < 1 || headerAt > MAX_PREAMBLE) return null;
  const isAllTitle = filled.slice(0, headerAt).every((it) => it <= 2 && it < width);
  return isAllTitle && isHeaderBelow(records, headerAt) ? { headerAt, width } : null;
}

/** Whether this record is no data, and named as columns are if the first one is. */
export function isHeaderBelow([first = [], ...others]: readonly Cells[], at: number): boolean {
  const [header = [], ...rows] = others.slice(at - 1);
  // `Fund Name:` is the label of what stands beside it.
  const isName = (text: string) => isHeaderLike(text) && !/:\s*$/.test(text);
  const isNamed = header.some(isHeaderLike) || !first.some(isName);
  return isNamed && findDataInHeader(header, rows) === null;
}

/** The first record from which on nearly all agree on a width of two or more; null without one. */
export function findTable(widths: readonly number[]): FoundTable | null {
  const [width] = commonest(countEach(widths.slice(1).filter((it) => it > 1))) ?? [0];
  const headerAt = widths.indexOf(width);
  if (headerAt < 0 || headerAt > MAX_PREAMBLE) return null;
  const below = widths.slice(headerAt);
  const agreeing = below.filter((it) => it === width).length;
  // The header and one row at least.
  const isTable = agreeing >= Math.max(2, headerAt / 2) && agreeing / below.length >= 0.8;
  return isTable ? { headerAt, width } : null;
}

/** Last words of dotted column names (`company.website`), though some are top-level domains. */
const COLUMN_WORDS =
  /\.(name|web|website|domain|email|mail|url|uri|link|site|host|homepage|company|id|isin)$/i;

/** Returns the address or ISIN that shows the first record to be data, or null. */
export function findDataInHeader(header: Cells, rows: readonly Cells[]): string | null {
  const kinds = header.map((cell) => (COLUMN_WORDS.test(cell.trim()) ? 'text' : valueKind(cell)));
  const telling = kinds.findIndex((kind) => IDENTIFYING.has(kind));
  if (telling < 0) return null;
  const isLikeBelow = kinds.every((kind, column) => {
    // A dump of a database writes \N for nothing.
    const filled = rows
      .map((row) => (row[column] ?? '').trim())
      .filter((it) => skipBlank(it, 'domain') === null);
    return kind === 'blank' || filled.filter((it) => valueKind(it) === kind).length >= filled.length / 2;
  });
  return isLikeBelow ? (header[telling] ?? null) : null;
}

/** The cell that is a well-known symbol, above others of them. */
export function findSymbolInHeader(header: Cells, rows: readonly Cells[]): string | null {
  const isSymbol = (cell: string, at: number) =>
    isKnownAbove(
      cell,
      rows.map((row) => row[at] ?? ''),
    );
  return header.find(isSymbol) ?? null;
}

/** What is a domain to a lookup. */
const WEB_KINDS = new Set(['email', 'url', 'domain']);

/** Whether these are a list of one kind without a header: the first is safely read as data. */
export function isBareList(records: readonly Cells[]): boolean {
  const [first = '', ...others] = records.map(([cell = '']) => cell).filter((cell) => cell.trim() !== '');
  if (records.some(({ length }) => length > 1) || COLUMN_WORDS.test(first.trim())) return false;
  const groupOf = (cell: string) => (WEB_KINDS.has(valueKind(cell)) ? 'domain' : valueKind(cell));
  const group = groupOf(first);
  const alike = others.filter((cell) => groupOf(cell) === group).length;
  return IDENTIFYING.has(group) && alike >= others.length * 0.9;
}

const MOST_EQUAL = 20;

/** Sentences about blank and equal names, at most 20 of these; columns are kept by position. */
export function headerWarnings(columns: readonly string[]): string[] {
  const places = new Map<string, number[]>();
  columns.forEach((column, i) => {
    const name = column.trim();
    places.set(name, [...(places.get(name) ?? []), i + 1]);
  });
  const odd = [...places].filter(([name, at]) => name === '' || at.length > 1).slice(0, MOST_EQUAL);
  return odd.map(([name, at]) => {
    const what = name === '' ? 'blank' : `named '${shortName(name)}'`;
    const [column, are] = at.length === 1 ? ['column', 'is'] : ['columns', 'are'];
    return `${column} ${firstOf(at.map(String), 10)} ${are} ${what}: kept by position`;
  });
}
