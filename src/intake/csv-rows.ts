/**
 * Records of a CSV table as rows: cells by column, records that do not fit and oversized ones
 * marked, blank lines passed over. `record-splitter.ts` finds the records, `row-fit.ts` judges
 * which fit.
 */

import { parse } from 'csv-parse/sync';
import type { Row } from '../core/table.js';
import { isLongerThan, MAX_FIELD_BYTES, MAX_RECORD_BYTES, type RowReader } from './input.js';
import type { LineMode } from './line-finder.js';
import { createRecordSplitter, cutText, type SplitRecord } from './record-splitter.js';
import { raggedProblem, type TableFit } from './row-fit.js';

/**
 * The cells of each record, in order. None at all for a record with a problem, and for one that
 * csv-parse refuses: then it is ragged, and so marked.
 */
export function cellsOfRecords(
  records: readonly SplitRecord[],
  delimiter: string,
): readonly (readonly string[])[] {
  const doubled = records.filter((it) => it.isQuoted && it.cells === null && it.problem === null);
  const parsed = parseAll(
    doubled.map((it) => it.raw),
    delimiter,
  );
  let next = 0;
  return records.map(({ cells, problem, isQuoted, raw }) => {
    if (problem !== null) return [];
    if (cells !== null) return cells;
    if (!isQuoted) return raw.split(delimiter);
    next += 1;
    return parsed[next - 1] ?? [];
  });
}

function parseAll(texts: readonly string[], delimiter: string): readonly (readonly string[])[] {
  if (texts.length === 0) return [];
  const all = parseTogether(texts.join('\n'), delimiter);
  if (all?.length === texts.length) return all;
  return texts.map((text) => {
    const alone = parseTogether(text, delimiter);
    return alone?.length === 1 ? (alone[0] ?? []) : [];
  });
}

function parseTogether(text: string, delimiter: string): string[][] | null {
  try {
    return parse(text, {
      delimiter,
      // Records never hold a bare LF, whatever ends the lines of the file.
      record_delimiter: '\n',
      relax_quotes: true,
      relax_column_count: true,
      max_record_size: MAX_RECORD_BYTES * 2,
    });
  } catch {
    return null;
  }
}

export interface CsvLayout {
  readonly delimiter: string;
  readonly mode: LineMode;
  readonly fit: TableFit;
  /** Whether the first record is the header: it is not a row. */
  readonly hasHeader: boolean;
  /** Lines above the table. */
  readonly passLines: number;
}

export function createCsvReader(layout: CsvLayout): RowReader {
  const { delimiter, fit } = layout;
  const { columnCount } = fit;
  const splitter = createRecordSplitter({ ...layout, columnCount });
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
      const { line, raw } = record;
      rows.push({
        number,
        line,
        raw: isLongerThan(raw, MAX_RECORD_BYTES) ? cutText(raw) : raw,
        ...(record.problem === null ? readCells(raw, cellsOf[i] ?? []) : unread(record.problem)),
      });
    }
    return rows;
  }

  function readCells(raw: string, cells: readonly string[]): Omit<Row, 'number' | 'line' | 'raw'> {
    if (cells.length === 0) return unread(raggedProblem(0, columnCount));
    const problem = findProblem(raw, cells);
    if (problem !== null) return unread(problem);
    const verdict = fit.judge(cells);
    if (verdict.type === 'misfit') return { ...unread(verdict.problem), isMisfit: true };
    const { missing, surplus } = verdict;
    if (missing > 0) return { cells: [...cells, ...blanks(missing)], problem: null, shortBy: missing };
    if (surplus > 0) return { cells: cells.slice(0, columnCount), problem: null, surplus };
    return { cells, problem: null };
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

function unread(problem: string): Pick<Row, 'cells' | 'problem'> {
  return { cells: [], problem };
}

/** A line with nothing but blanks: no record in a table of several columns. */
export function isBlankLine(record: SplitRecord, delimiter: string): boolean {
  if (record.raw.length > 64 || record.isQuoted) return false;
  return record.raw.trim() === '' && !record.raw.includes(delimiter);
}

function blanks(count: number): string[] {
  return new Array<string>(count).fill('');
}

function findProblem(raw: string, cells: readonly string[]): string | null {
  if (raw.includes('\0')) return 'a NUL character';
  // Only a record that is itself that long can hold too long a cell.
  if (isLongerThan(raw, MAX_FIELD_BYTES)) {
    if (isLongerThan(raw, MAX_RECORD_BYTES))
      return 'the record is larger than 1 MiB; only its beginning is kept';
    if (cells.some((cell) => isLongerThan(cell, MAX_FIELD_BYTES))) return 'a cell is larger than 64 KiB';
  }
  return null;
}
