/** The shape of an input, and one record of it, which is carried as raw text and never rebuilt. */
import type { SchemaElement as ParquetElement } from 'hyparquet';
import type { RowReason } from './row-reason.js';
import type { CellFormats } from './typed-cell.js';

export const TABLE_FORMATS = ['csv', 'jsonl', 'json', 'xlsx', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** Whether rows are JSON objects as text: one on each line, or the elements of one array. */
export function isJson(format: TableFormat): boolean {
  return format === 'jsonl' || format === 'json';
}

/** Whether rows are arrays of `TypedCell` and the file is binary. */
export function isTyped(format: TableFormat): boolean {
  return format === 'xlsx' || format === 'parquet';
}

/** `--ragged`: rows that do not fit the table are read by position or are invalid, however many. */
export const RAGGED_CHOICES = ['take', 'invalid'] as const;
export type Ragged = (typeof RAGGED_CHOICES)[number];

/** The key of our object in JSON: the prefix without its trailing `_`, `.`, `-`; else `brand`. */
export function jsonKey(prefix: string): string {
  return prefix.replace(/(?<![_.-])[_.-]+$/, '') || 'brand';
}

/** Members of that object that every run writes: together they mark it as ours. */
export const JSON_MARKS = ['status', 'identifier', 'fetchedAt'] as const;

/** The column of the names of rows that are members of a JSON object. */
export const KEY_COLUMN = '_key';

export interface TableShape {
  readonly format: TableFormat;
  /** The cell separator; empty for JSONL. */
  readonly delimiter: string;
  /** The line end of the header record (of the first record where there is no header). */
  readonly lineEnd: '\n' | '\r\n' | '\r';
  readonly hasBom: boolean;
  readonly isGzip: boolean;
  /** As `--encoding` takes it: `utf-8`, `utf-16le`, `windows-1252` and others. */
  readonly encoding: string;
  /**
   * Names by position. CSV: the header's cells as they stand, or `column_1` and on. JSONL: keys as
   * they were first seen, those of inner objects too (`company.website`).
   */
  readonly columns: readonly string[];
  /** The header as it stood, with a delimiter for each column that it lacks; null without one. */
  readonly rawHeader: string | null;
  /** For the typed cells of `Row.raw` and `rawHeader`; absent for text. */
  readonly typed?: CellFormats & {
    readonly sheet: string;
  };
  /** The columns of a Parquet file, lists and groups as text; absent for other formats. */
  readonly parquet?: {
    readonly schema: readonly ParquetElement[];
    /** Metadata of GeoParquet: which columns are geometries, and their coordinate system. */
    readonly geo?: string;
  };
  /** What of the input no output has; absent: nothing. */
  readonly leftOut?: {
    /** Lines above the table, or rows of a sheet. */
    readonly linesAbove: number;
    /** The other sheets of a workbook. */
    readonly sheets: readonly string[];
  };
}

/** The shape of a binary file, which has neither lines nor an encoding. */
export const BINARY_SHAPE = {
  delimiter: '',
  lineEnd: '\n',
  hasBom: false,
  isGzip: false,
  encoding: 'utf-8',
} as const satisfies Partial<TableShape>;

export interface Row {
  /** Position among the records, from 1; the header does not count. */
  readonly number: number;
  /** Line of the input on which the record begins, from 1. */
  readonly line: number;
  /** The record unchanged, without its line end; of workbooks a JSON array of `TypedCell`. */
  readonly raw: string;
  /** Texts by position of `TableShape.columns`; none when the record could not be read. */
  readonly cells: readonly string[];
  /** Why the record could not be read; null when it could. */
  readonly problem: RowReason | null;
  /** Whether the number of cells is not that of the columns: they may be in wrong ones. */
  readonly isMisfit?: true;
  /** Cells that are missing at the end: blank in `cells`, not there in `raw`. Absent: none. */
  readonly shortBy?: number;
  /** Cells beyond the last column: left out of `cells`, still there in `raw`. Absent: none. */
  readonly surplus?: number;
}

/** The cells with blank ones at the end, up to `width`. */
export function padded(cells: readonly string[], width: number): readonly string[] {
  const missing = width - cells.length;
  return missing > 0 ? [...cells, ...new Array<string>(missing).fill('')] : cells;
}

/** Names of JSON keys or Parquet columns: blank becomes `column_3`, a taken name gets a number. */
export function uniqueNames(columns: readonly string[], positions: readonly number[]): string[] {
  const names = new Set(positions.map((at) => columns[at] ?? ''));
  const used = new Set<string>();
  return positions.map((at) => {
    const column = columns[at] ?? '';
    const name = column === '' ? `column_${at + 1}` : column;
    let key = name;
    for (let n = 2; used.has(key) || (key !== column && names.has(key)); n++) key = `${name}_${n}`;
    used.add(key);
    return key;
  });
}
