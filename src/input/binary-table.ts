/** Shared by the readers of workbooks and Parquet. Any error there becomes `input-binary`. */
import { readSync } from 'node:fs';
import type { Phrase } from '../core/phrase.js';
import type { Row, TableShape } from '../core/table.js';

export interface BinaryFile {
  readonly name: string;
  readonly descriptor: number;
  readonly size: number;
}

/** Reads bytes, fewer at the end of the file. Throws errors of the file system. */
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
  /** Reads all rows. `wanted`: the columns whose cells are needed; null for all. */
  openRows(wanted: readonly number[] | null): BinaryRows;
}

export interface BinaryRows {
  readonly batches: AsyncIterable<Iterable<Row>>;
  width(): number;
  /** Returns sentences about oddities; complete after the last batch. */
  notes(): string[];
}

/** Unpacked bytes per packed byte: deflate reaches 1,032, a sheet of empty cells less than 300. */
export const MOST_RATIO = 500;

export const LONG_HEADER = 'its header is larger than 1 MiB';

/** Makes a row only when it is taken, because many large ones at once may exhaust memory. */
export function* rowsOf<T>(sources: Iterable<T>, rowOf: (source: T) => Row): Generator<Row> {
  for (const source of sources) yield rowOf(source);
}

/** Thrown for an intact file that exceeds a limit; `todo` says how to get below it. */
export class OverBounds extends Error {
  constructor(
    message: string,
    readonly todo: string,
  ) {
    super(message);
  }
}
