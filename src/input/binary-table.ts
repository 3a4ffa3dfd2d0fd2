/** Shared by the readers of workbooks and Parquet, where any error is `input-binary`. */
import { readSync } from 'node:fs';
import type { Phrase } from '../core/phrase.js';
import type { Row, TableShape } from '../core/table.js';

export interface BinaryFile {
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
  readonly warnings: readonly Phrase[];
  /** Reads the rows from the first on. `wanted`: the columns whose cells are needed, or null. */
  openRows(wanted: readonly number[] | null): BinaryRows;
}

export interface BinaryRows {
  readonly batches: AsyncIterable<Iterable<Row>>;
  width(): number;
  /** Oddities, as sentences; after the last batch. */
  notes(): string[];
}

/** Unpacked bytes for a packed one: deflate reaches 1,032, sheets of empty cells stay below 300. */
export const MOST_RATIO = 500;

export const LONG_HEADER = 'its header is larger than 1 MiB';

/** Makes each row when it is taken: many large ones may share what they are made of. */
export function* rowsOf<T>(sources: Iterable<T>, rowOf: (source: T) => Row): Generator<Row> {
  for (const source of sources) yield rowOf(source);
}

/** A file is intact, and has more of something than is read. */
export class OverBounds extends Error {
  constructor(
    message: string,
    readonly todo: string,
  ) {
    super(message);
  }
}
