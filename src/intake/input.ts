/**
 * An opened input, the settings it is opened with, and the limits of what is read: beyond them a
 * stray quote or a wrong file is far more likely than data. `open-input.ts` makes an `Input`.
 */
import type { Ragged, Row, TableFormat, TableShape } from '../core/table.js';

export interface IntakeOptions {
  /** One character, or `tab`; detected when absent. */
  readonly delimiter?: string;
  /** A name that iconv-lite knows; detected when absent. */
  readonly encoding?: string;
  /**
   * False for `--no-header`: the first record is data and the columns are called `column_1` and on.
   */
  readonly hasHeader: boolean;
  /** Lines to pass over before the table begins. */
  readonly skipLines: number;
  /** The most records to read; null: all. */
  readonly limit: number | null;
  /**
   * What becomes of rows that do not fit the table; absent: they are invalid, and too many of them
   * stop the run.
   */
  readonly ragged?: Ragged;
  /** Only when forced; else the content and the extension decide. */
  readonly format?: TableFormat;
  /**
   * `file`: only a regular file, never waited for. `own file`: nor what a link leads to. Absent:
   * whatever can be read, pipes included.
   */
  readonly only?: 'file' | 'own file' | undefined;
  /** Folder in which standard input is kept while it is needed; made when it is missing. */
  readonly spoolFolder: string;
  /** Ends opening, however long the input is or keeps silent. */
  readonly stop?: AbortSignal;
}

/** One opened input. The caller closes it. */
export interface Input {
  /** The path, or `stdin`: for people. */
  readonly name: string;
  /** For JSONL the columns known from the sample; `columns()` is complete. */
  readonly shape: TableShape;
  /**
   * What was detected, and what is odd but does not stop the run, each as a sentence. Grows until
   * the first `rows()` has ended.
   */
  readonly warnings: readonly string[];
  /** Cells of the first readable records, at most 1,000: for the choice of columns. */
  readonly sample: readonly (readonly string[])[];
  /**
   * Records in batches of at most a few thousand, in order, in flat memory. Every call reads the
   * file again from its start. Texts may share memory with the whole chunk that they were read in:
   * copy those that are kept for long.
   *
   * Throws `FailFileError`: `input-encoding` where bytes are not in the encoding, `input-missing`
   * where they cannot be read, `input-ragged` at the end of the first pass where too many rows do
   * not fit the table, `input-changed` where a later pass does not find the content of the first.
   */
  rows(): AsyncIterable<readonly Row[]>;
  /**
   * SHA-256, in hex, of the input's decompressed bytes as they were before decoding; after `rows()`
   * has ended.
   */
  contentHash(): string;
  /**
   * All columns, for JSONL every key in the order in which they were first seen; after `rows()` has
   * ended.
   */
  columns(): readonly string[];
  /**
   * Throws `FailFileError` `input-changed` when size, modification time or inode differ from those
   * at opening.
   */
  assertUnchanged(): Promise<void>;
  /** Lets go of the file and removes the copy of standard input. Safe to call twice. */
  close(): Promise<void>;
}

/** One cell, in bytes of UTF-8. */
export const MAX_FIELD_BYTES = 64 * 1024;
/** One record, in bytes of UTF-8; of a longer one the text up to here is kept. */
export const MAX_RECORD_BYTES = 1024 * 1024;
/** Line breaks inside one quoted cell. */
export const MAX_QUOTED_LINE_BREAKS = 100;
/** Keys of JSON objects that become columns; more of them would make memory grow with the file. */
export const MAX_JSON_COLUMNS = 4096;
/** Rows in one batch. */
export const MAX_BATCH_ROWS = 4096;
/** Records looked at for the choice of columns. */
export const MAX_SAMPLE_ROWS = 1000;

/**
 * Whether the text takes more than `maxBytes` in UTF-8; counts bytes only when the length leaves a
 * doubt.
 */
export function isLongerThan(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes;
}

export interface RowReader {
  /** The rows that are complete with this text. `isLast`: no more text comes. */
  push(text: string, isLast: boolean): Row[];
  /** What was odd but no problem of one row, as sentences; after the last push. */
  notes(): string[];
  /** Columns seen until now, where they are not fixed from the start. */
  columns(): readonly string[] | null;
  /** Line and text that wait for more: where a fault in the bytes that follow will be. */
  position(): { readonly line: number; readonly rest: string };
}
