/** Checks the header: lines above it, data in its place, equal names. */
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
  /** The delimiter as shown to people; null for a sheet. */
  readonly shown: string | null;
  readonly lineOf: (record: SplitRecord) => number;
  readonly records: readonly [SplitRecord, ...SplitRecord[]];
  /** True if the first record surely has the width of the table, even if the rows differ. */
  readonly isWidthSettled: boolean;
}

/** How to read a table whose first record is not its header, and the warning about it. */
export interface HeaderCorrection {
  readonly options: { readonly header: false } | { readonly skipLines: number };
  readonly warning: Phrase;
}

/** Second cells of a broker's statement, which holds several tables. */
const MARKS = /^(?:Header|Data|SubTotal|Total|Notes)$/;

/** Throws `input-preamble` for several tables in one file, each named in its first column. */
function assertOneTable(name: string, rows: readonly Cells[]): void {
  const headers = rows.filter(([, mark]) => mark === 'Header');
  const tables = [...new Set(headers.map(([table = '']) => table))];
  if (tables.length < 2 || !rows.every(([, mark = '']) => MARKS.test(mark))) return;
  const isOfSecurities = (cells: Cells) => cells.some((cell) => /^(?:symbol|isin)$/i.test(cell));
  const [wanted = ''] = headers.find(isOfSecurities) ?? tables;
  const subject = `${name} (${shortName(tables.join(', '))})`;
  const todo = `give one of them: grep '^${wanted.replaceAll("'", '.')},' ${shortName(name)} > one.csv`;
  throw new RunError({ code: 'input-preamble', what: 'the file holds several tables', subject, todo });
}

/** Returns null if the first record is the header. Throws `input-preamble` if it is unreadable. */
export function correctHeader(table: HeaderToCheck): HeaderCorrection | null {
  const { name, shown, lineOf, records, isWidthSettled } = table;
  const [first, ...others] = records;
  const line = lineOf(first);
  const readable = records.filter(isReadable);
  const cells = readable.map((record) => record.cells);
  if (shown !== null) assertOneTable(name, cells);
  const preamble = isWidthSettled ? null : findPreamble(cells);
  const header = readable[preamble?.headerAt ?? -1];
  // Rows wider than the header are no reason for another header; they are refused when counted.
  if (preamble !== null && header !== undefined && !isFirstRow(cells, preamble)) {
    const at = lineOf(header);
    const begins = `the table begins in line ${at} ('${shortName(header.raw)}')`;
    const above = 'the lines above it are not in the output';
    const warning = phrase`${begins}: ${above}; if it begins elsewhere, use ${{ setting: 'skipLines' }}`;
    return { options: { skipLines: at - 1 }, warning };
  }
  const problem: RowReason | null = first.problem ?? (first.raw.includes('\0') ? { code: 'nul' } : null);
  if (problem !== null) {
    const place = shown === null ? 'row' : 'line';
    const below = others.find(isReadable);
    const skip = below?.cells.some(isHeaderLike)
      ? { set: { skipLines: lineOf(below) - 1 } }
      : { choose: 'skipLines', example: 'N' };
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

/** True if the supposed header is the first row, below a real header of several names. */
function isFirstRow([header = [], ...rows]: readonly Cells[], { headerAt, width }: FoundTable): boolean {
  const [row = [], ...others] = rows;
  if (headerAt !== 1 || header.length < 2 || header.length === width) return false;
  return (isCut(row) && !isCut(header)) || findDataInHeader(row, others) !== null;
}

/**
 * Finds the header below lines that are narrower than the table, or filled in one cell only.
 * Returns null if the first record is the header, even if it is one name above data.
 */
export function findPreamble(records: readonly Cells[]): FoundTable | null {
  const [[mark = '', version = ''] = [], names = []] = records;
  // A DATEV file begins with a line about itself.
  if (/^(?:EXTF|DTVF)$/.test(mark) && /^\d+$/.test(version)) return { headerAt: 1, width: names.length };
  const isComment = ([first = '', ...others]: Cells) => others.length === 0 && /^#\s/.test(first);
  const comments = records.findIndex((cells) => !isComment(cells));
  if (comments > 0 && records[comments]?.length === 1) return { headerAt: comments, width: 1 };
  const widths = records.map(({ length }) => length);
  const width = widths[0] ?? 0;
  const table = findTable(widths);
  if (table !== null && width < table.width) return table;
  const filled = records.map((cells) => cells.filter((text) => text.trim() !== '').length);
  // A line above a wide table may have two cells (`Market:;XETR`).
  if ((width < 3 && filled[0] !== 0) || (filled[0] ?? 0) > (width < 6 ? 1 : 2)) return null;
  const headerAt = filled.findIndex((it, i) => it === width && widths[i] === width);
  if (headerAt < 1 || headerAt > MAX_PREAMBLE) return null;
  const isAllTitle = filled.slice(0, headerAt).every((it) => it <= 2 && it < width);
  return isAllTitle && isHeaderBelow(records, headerAt) ? { headerAt, width } : null;
}

/** True if this record is not data, and has names of columns if the first record has them. */
export function isHeaderBelow([first = [], ...others]: readonly Cells[], at: number): boolean {
  const [header = [], ...rows] = others.slice(at - 1);
  // `Fund Name:` labels the cell beside it.
  const isName = (text: string) => isHeaderLike(text) && !/:\s*$/.test(text);
  const isNamed = header.some(isHeaderLike) || !first.some(isName);
  return isNamed && findDataInHeader(header, rows) === null;
}

/** Finds the first record from which 80 % have the same width of two or more; null without one. */
export function findTable(widths: readonly number[]): FoundTable | null {
  const [width] = commonest(countEach(widths.slice(1).filter((it) => it > 1))) ?? [0];
  const headerAt = widths.indexOf(width);
  if (headerAt < 0 || headerAt > MAX_PREAMBLE) return null;
  const below = widths.slice(headerAt);
  const agreeing = below.filter((it) => it === width).length;
  const isTable = agreeing >= Math.max(2, headerAt / 2) && agreeing / below.length >= 0.8;
  return isTable ? { headerAt, width } : null;
}

/** Endings of columns' names (`company.website`), although some are top-level domains. */
const COLUMN_WORDS =
  /\.(name|web|website|domain|email|mail|url|uri|link|site|host|homepage|company|id|isin)$/i;

/** Returns the address or ISIN that proves the header to be data, or null. */
export function findDataInHeader(header: Cells, rows: readonly Cells[]): string | null {
  const kinds = header.map((cell) => (COLUMN_WORDS.test(cell.trim()) ? 'text' : valueKind(cell)));
  const telling = kinds.findIndex((kind) => IDENTIFYING.has(kind));
  if (telling < 0) return null;
  const isLikeBelow = kinds.every((kind, column) => {
    // Blank values may be written as text: a database dump writes \N.
    const filled = rows
      .map((row) => (row[column] ?? '').trim())
      .filter((it) => skipBlank(it, 'domain') === null);
    return kind === 'blank' || filled.filter((it) => valueKind(it) === kind).length >= filled.length / 2;
  });
  return isLikeBelow ? (header[telling] ?? null) : null;
}

/** Returns a well-known symbol in the header, above other symbols, or null. */
export function findSymbolInHeader(header: Cells, rows: readonly Cells[]): string | null {
  const below = (at: number) => rows.map((row) => row[at] ?? '');
  return header.find((cell, at) => isKnownAbove(cell, below(at))) ?? null;
}

/** Kinds that are looked up as domains. */
const WEB_KINDS = new Set(['email', 'url', 'domain']);

/** True for a list of one column and one kind without a header. */
export function isBareList(records: readonly Cells[]): boolean {
  const [first = '', ...others] = records.map(([cell = '']) => cell).filter((cell) => cell.trim() !== '');
  if (records.some(({ length }) => length > 1) || COLUMN_WORDS.test(first.trim())) return false;
  const groupOf = (cell: string) => (WEB_KINDS.has(valueKind(cell)) ? 'domain' : valueKind(cell));
  const group = groupOf(first);
  const alike = others.filter((cell) => groupOf(cell) === group).length;
  return IDENTIFYING.has(group) && alike >= others.length * 0.9;
}

const MOST_EQUAL = 20;

/** Returns at most 20 sentences about blank and equal names. */
export function headerWarnings(columns: readonly string[]): string[] {
  const places = new Map<string, number[]>();
  columns.forEach((column, i) => {
    const name = column.trim();
    places.set(name, [...(places.get(name) ?? []), i + 1]);
  });
  const odd = [...places].filter(([name, at]) => name === '' || at.length > 1).slice(0, MOST_EQUAL);
  return odd.map(([name, at]) => {
    const columns = `column${at.length === 1 ? '' : 's'} ${firstOf(at.map(String), 10)}`;
    const fact = name === '' ? 'without a name' : `with the same name '${shortName(name)}'`;
    return `${columns} ${fact}: kept by position`;
  });
}
