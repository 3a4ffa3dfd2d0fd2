/** The shape of an input, and its rows, which are carried as raw text and never rebuilt. */
import type { SchemaElement as ParquetElement } from 'hyparquet';
import type { RowReason } from './row-reason.js';
import type { CellFormats } from './typed-cell.js';

export const TABLE_FORMATS = ['csv', 'jsonl', 'json', 'xlsx', 'parquet'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** True if rows are JSON objects as text: one on each line, or the elements of one array. */
export function isJson(format: TableFormat): boolean {
  return format === 'jsonl' || format === 'json';
}

/** True for binary files, whose rows are arrays of `TypedCell`. */
export function isTyped(format: TableFormat): boolean {
  return format === 'xlsx' || format === 'parquet';
}

/** `--ragged`: whether to read rows that do not fit the table by position or call them invalid. */
export const RAGGED_CHOICES = ['take', 'invalid'] as const;
export type Ragged = (typeof RAGGED_CHOICES)[number];

/** Returns the key of our JSON object: the prefix without trailing `_`, `.`, `-`; else `brand`. */
export function jsonKey(prefix: string): string {
  return prefix.replace(/(?<![_.-])[_.-]+$/, '') || 'brand';
}

/** Members of our object that every run writes: together they mark it as ours. */
export const JSON_MARKS = ['status', 'identifier', 'fetchedAt'] as const;

/** The column of keys, for an input whose rows are members of one JSON object. */
export const KEY_COLUMN = '_key';

export interface TableShape {
  readonly format: TableFormat;
  /** The cell separator; empty for JSONL. */
  readonly delimiter: string;
  /** The line end of the header; without a header, of the first record. */
  readonly lineEnd: '\n' | '\r\n' | '\r';
  readonly hasBom: boolean;
  readonly isGzip: boolean;
  /** As in `--encoding`: `utf-8`, `utf-16le`, `windows-1252` and others. */
  readonly encoding: string;
  /** By position: header cells or `column_1`, keys of JSON as first seen (`company.website`). */
  readonly columns: readonly string[];
  /** The header unchanged, plus a delimiter for each missing column; null without a header. */
  readonly rawHeader: string | null;
  /** For the typed cells of `Row.raw` and `rawHeader`; absent for text. */
  readonly typed?: CellFormats & { readonly sheet: string };
  /** The columns of a Parquet file, lists and groups as text; absent for other formats. */
  readonly parquet?: {
    readonly schema: readonly ParquetElement[];
    /** Metadata of GeoParquet: which columns are geometries, and their coordinate system. */
    readonly geo?: string;
  };
  /** Parts of the input that no output contains; absent if nothing is left out. */
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
  /** The record unchanged, without its line end; for binary files a JSON array of `TypedCell`. */
  readonly raw: string;
  /** Texts by position of `TableShape.columns`; empty if the record could not be read. */
  readonly cells: readonly string[];
  /** Why the record could not be read; null when it could. */
  readonly problem: RowReason | null;
  /** Set if cells and columns differ in number, so that cells may be in wrong columns. */
  readonly isMisfit?: true;
  /** Number of cells missing at the end: blank in `cells`, not in `raw`. Absent for 0. */
  readonly shortBy?: number;
  /** Number of cells beyond the last column: in `raw`, not in `cells`. Absent for 0. */
  readonly surplus?: number;
}

/** Fills the cells with blank ones up to `width`. */
export function padded(cells: readonly string[], width: number): readonly string[] {
  const missing = width - cells.length;
  return missing > 0 ? [...cells, ...new Array<string>(missing).fill('')] : cells;
}

/** Makes JSON keys or Parquet columns unique: blank becomes `column_3`, a second `a` `a_2`. */
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
