/** Counts a file's records (UTF-8, quote `"`) from its bytes, independent of the writer. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { TableShape } from '../../core/table.js';
import { FileReader } from '../../input/reader/file-reader.js';

/** The shape of a counted file. A single CR is data unless it is the `lineEnd`. */
export interface CountShape extends Pick<TableShape, 'format' | 'delimiter' | 'lineEnd'> {
  readonly hasHeader: boolean;
  readonly gzip: boolean;
  /** Bytes before a JSON array. Default 0. */
  readonly headBytes?: number;
}

const READ_BYTES = 256 * 1024;
const LF = 10;
const CR = 13;
const SPACE = 32;
const QUOTE = 34;
const BOM = [0xef, 0xbb, 0xbf];

/** Counts in a process of its own, as all workbooks and Parquet files are read. */
async function countTypedRows(path: string, part: string | null): Promise<number> {
  const file = await open(path, 'r');
  const reader = new FileReader({ name: path, descriptor: file.fd }, undefined);
  try {
    return await reader.count(part);
  } finally {
    reader.close();
    await file.close();
  }
}

/** Returns the number of records. Throws errors of the system, or of zlib for damaged files. */
export async function countRecords(path: string, shape: CountShape): Promise<number> {
  if (shape.format === 'xlsx') {
    const { SHEET_PART } = await import('../../input/xlsx/xlsx-file.js');
    return (await countTypedRows(path, SHEET_PART)) - (shape.hasHeader ? 1 : 0);
  }
  if (shape.format === 'parquet') return countTypedRows(path, null);
  const counter = shape.format === 'json' ? createElementCounter(shape.headBytes ?? 0) : createCounter(shape);
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  const drain = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) counter.push(chunk);
  };
  if (shape.gzip) await pipeline(file, createGunzip({ chunkSize: READ_BYTES }), drain);
  else await pipeline(file, drain);
  return counter.end();
}

function indexFrom(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
}

/** Counts records of text. Skips empty lines in CSV and blank lines in JSON lines. */
export function createCounter({
  format,
  delimiter,
  hasHeader,
  lineEnd,
}: Omit<CountShape, 'gzip' | 'headBytes'>) {
  const isCsv = format === 'csv';
  const separator = Buffer.from(isCsv ? delimiter : '\n');
  const separatorStart = separator[0] ?? LF;
  const canJump = separator.length === 1 && !(isCsv && lineEnd === '\r');
  /** `closed`: after a quote in a quoted cell. A second quote reopens it, else the rest is bare. */
  let state: 'start' | 'bare' | 'quoted' | 'closed' = 'start';
  let matched = 0;
  let isEmpty = true;
  let records = 0;
  let position = 0;

  function endRecord(): void {
    if (!isEmpty) records++;
    isEmpty = true;
    state = 'start';
    matched = 0;
  }

  function take(byte: number): void {
    if (byte === LF || (byte === CR && isCsv && lineEnd === '\r')) {
      endRecord();
      return;
    }
    if (isCsv ? byte !== CR : byte > SPACE) isEmpty = false;
    const opens = isCsv && byte === QUOTE && state !== 'bare';
    matched = byte === separator[matched] ? matched + 1 : Number(byte === separatorStart);
    const isSeparator = matched === separator.length;
    if (isSeparator) matched = 0;
    state = opens ? 'quoted' : isSeparator ? 'start' : 'bare';
  }

  return {
    push(bytes: Uint8Array): void {
      let lf = -1;
      let quote = isCsv ? -1 : bytes.length;
      for (let at = 0; at < bytes.length; at++) {
        if (canJump && state !== 'quoted' && state !== 'closed' && !isEmpty) {
          // For speed: outside quotes only line breaks matter, and quotes that start a cell.
          if (lf < at) lf = indexFrom(bytes, LF, at);
          if (quote < at) quote = indexFrom(bytes, QUOTE, at);
          const next = Math.min(lf, quote);
          if (next > at) state = bytes[next - 1] === separatorStart ? 'start' : 'bare';
          at = next;
          if (at === bytes.length) break;
        }
        const byte = bytes[at] ?? LF;
        if (state === 'quoted') {
          at = bytes.indexOf(QUOTE, at);
          if (at < 0) break;
          state = 'closed';
        } else if (byte !== BOM[position + at]) take(byte);
      }
      position += bytes.length;
    },
    /** Counts a last record without a line end, and returns the count. */
    end(): number {
      endRecord();
      return hasHeader ? Math.max(0, records - 1) : records;
    },
  };
}

/** Counts objects in the array that begins after `headBytes`, and nothing behind the array. */
function createElementCounter(headBytes: number): Pick<ReturnType<typeof createCounter>, 'push' | 'end'> {
  let left = headBytes;
  let hasEnded = false;
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let records = 0;
  return {
    push(bytes) {
      const skipped = Math.min(left, bytes.length);
      left -= skipped;
      for (const byte of bytes.subarray(skipped)) {
        if (hasEnded) return;
        if (isEscaped) isEscaped = false;
        else if (isText) {
          if (byte === 0x5c) isEscaped = true;
          else if (byte === QUOTE) isText = false;
        } else if (byte === QUOTE) isText = true;
        else if (byte === 0x7b || byte === 0x5b) {
          if (byte === 0x7b && depth === 1) records += 1;
          depth += 1;
        } else if (byte === 0x7d || byte === 0x5d) {
          depth -= 1;
          hasEnded = depth === 0;
        }
      }
    },
    end: () => records,
  };
}
