/**
 * What the readers of workbooks and Parquet files have in common. They run in a process of their
 * own.
 */
import { readSync } from 'node:fs';
import type { Row, TableShape } from '../core/table.js';

/** An open file. */
export interface BinaryFile {
  /** The name of the input, for messages. */
  readonly name: string;
  readonly descriptor: number;
  readonly size: number;
}

/** Fewer bytes at the end of the file. Throws errors of the file system. */
export function readAt({ descriptor }: BinaryFile, position: number, bytes: number): Buffer {
  const target = Buffer.allocUnsafe(bytes);
  let read = 0;
  while (read < bytes) {
    const got = readSync(descriptor, target, read, bytes - read, position + read);
    if (got === 0) break;
    read += got;
  }
  return target.subarray(0, read);
}

export interface BinaryTable {
  readonly shape: TableShape;
  readonly detected: string;
  readonly warnings: readonly string[];
  /** One reading of the rows from the first on; null: all. */
  openRows(limit: number | null): BinaryRows;
}

export interface BinaryRows {
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Columns seen so far. */
  width(): number;
  /** Oddities, as sentences; after the last batch. */
  notes(): string[];
}

/**
 * What is unpacked, to bytes of the file: deflate reaches 1,032:1 with one repeated byte; sheets of
 * empty cells stay below 300:1.
 */
export const MOST_RATIO = 500;

export const LONG_HEADER = 'its header is larger than 1 MiB';

/** Rows in one batch, and about so many characters. */
const BATCH_ROWS = 4096;
const BATCH_CHARS = 512 * 1024;

/** Rows are made when they are asked for: many large ones may share what they are made of. */
export async function* inBatches(
  groups: AsyncIterable<Iterable<Row>> | Iterable<Iterable<Row>>,
): AsyncGenerator<readonly Row[]> {
  let batch: Row[] = [];
  let size = 0;
  for await (const rows of groups) {
    for (const row of rows) {
      batch.push(row);
      size += row.raw.length;
      if (size < BATCH_CHARS && batch.length < BATCH_ROWS) continue;
      yield batch;
      batch = [];
      size = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
