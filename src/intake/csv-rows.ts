/**
 * Records of a CSV table as rows: cells by column, short, long and oversized records marked, blank lines passed over.
 * Where records begin and end is `record-splitter.ts`'s; what becomes of short ones is for whoever looks for identifiers.
 */
import type { Row } from '../table.js';
import { cellsOfRecords } from './csv-cells.js';
import { isLongerThan, MAX_FIELD_BYTES, MAX_RECORD_BYTES } from './limits.js';
import type { LineMode } from './line-finder.js';
import { createRecordSplitter, cutText, type SplitRecord } from './record-splitter.js';
import type { RowReader } from './row-reader.js';

export interface CsvLayout {
  readonly delimiter: string;
  readonly mode: LineMode;
  readonly columnCount: number;
  /** Whether the first record is the header: it is not a row. */
  readonly hasHeader: boolean;
  /** Lines above the table. */
  readonly passLines: number;
}

export function createCsvReader(layout: CsvLayout): RowReader {
  const { delimiter, columnCount } = layout;
  const splitter = createRecordSplitter(layout);
  let isHeaderDue = layout.hasHeader;
  let number = 0;
  let blankLines = 0;

  function push(text: string, isLast: boolean): Row[] {
    const records = splitter.push(text, isLast);
    const cellsOf = cellsOfRecords(records, delimiter);
    const rows: Row[] = [];
    for (const [i, record] of records.entries()) {
      if (isBlankLine(record, delimiter)) {
        blankLines += 1;
        if (columnCount > 1 || isHeaderDue) continue;
      }
      if (isHeaderDue) {
        isHeaderDue = false;
        continue;
      }
      number += 1;
      const { line } = record;
      let { raw } = record;
      let cells = cellsOf[i] ?? [];
      if (hasBlankEnd(cells, columnCount)) {
        raw = withoutLastCells(raw, cells.length - columnCount, delimiter);
        cells = cells.slice(0, columnCount);
      }
      const problem = record.problem ?? findProblem(raw, cells, columnCount);
      const shortBy = problem === null ? columnCount - cells.length : 0;
      rows.push({
        number,
        line,
        raw: isLongerThan(raw, MAX_RECORD_BYTES) ? cutText(raw) : raw,
        cells: problem !== null ? [] : shortBy > 0 ? [...cells, ...blanks(shortBy)] : cells,
        problem,
        ...(shortBy > 0 ? { shortBy } : {}),
      });
    }
    return rows;
  }

  function notes(): string[] {
    if (blankLines === 0) return [];
    const lines = blankLines === 1 ? '1 blank line' : `${blankLines} blank lines`;
    return columnCount > 1
      ? [`${lines}: not records, left out`]
      : [`${lines}: kept as rows with a blank cell, since the table has one column`];
  }

  return { push, notes, columns: () => null, position: splitter.position };
}

/** A line with nothing but blanks: no record in a table of several columns. */
export function isBlankLine(record: SplitRecord, delimiter: string): boolean {
  if (record.raw.length > 64 || record.isQuoted) return false;
  return record.raw.trim() === '' && !record.raw.includes(delimiter);
}

/** Blank cells beyond the last column are a habit of spreadsheets, and mean nothing. */
function hasBlankEnd(cells: readonly string[], columnCount: number): boolean {
  return cells.length > columnCount && cells.slice(columnCount).every((cell) => cell.trim() === '');
}

/** Blank cells hold no delimiter, however they are quoted. */
function withoutLastCells(raw: string, cells: number, delimiter: string): string {
  let end = raw.length;
  for (let left = cells; left > 0; left -= 1) end = raw.lastIndexOf(delimiter, end - 1);
  return raw.slice(0, end);
}

function blanks(count: number): string[] {
  return new Array<string>(count).fill('');
}

/** Why a record of so many cells is no row of the table: said of short ones too, once they turn out to be none. */
export function raggedProblem(cells: number, columns: number): string {
  return `${count(cells, 'cell')} where the table has ${count(columns, 'column')}`;
}

function findProblem(raw: string, cells: readonly string[], columnCount: number): string | null {
  if (cells.length > columnCount || cells.length === 0) return raggedProblem(cells.length, columnCount);
  if (raw.includes('\0')) return 'a NUL character';
  // Only a record that is itself that long can hold too long a cell.
  if (isLongerThan(raw, MAX_FIELD_BYTES)) {
    if (isLongerThan(raw, MAX_RECORD_BYTES))
      return 'the record is larger than 1 MiB; only its beginning is kept';
    if (cells.some((cell) => isLongerThan(cell, MAX_FIELD_BYTES))) return 'a cell is larger than 64 KiB';
  }
  return null;
}

function count(n: number, word: string): string {
  return n === 1 ? `1 ${word}` : `${n} ${word}s`;
}
