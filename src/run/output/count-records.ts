/**
 * Counts the records of a written file from its bytes alone, knowing nothing of how it was written: one of the three
 * counts that must agree before a run says "done". For UTF-8 with `"` as quote, plain or gzip-compressed.
 */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { TableFormat } from '../../core/table.js';

export interface CountShape {
  readonly format: TableFormat;
  readonly delimiter: string;
  /** A header is not counted. JSON lines have none. */
  readonly hasHeader: boolean;
  /** The line end of its records, if known; else the first one outside quotes tells. CR alone is data in LF and CRLF files. */
  readonly lineEnd?: '\n' | '\r\n' | '\r';
}

/** Takes bytes, in pieces of any size, and tells how many records they hold. */
export interface RecordCounter {
  push(bytes: Uint8Array): void;
  /** To be asked once, at the end: a last record without a line end counts. */
  end(): number;
}

const READ_BYTES = 256 * 1024;
const LF = 10;
const SPACE = 32;
const CR = 13;
const QUOTE = 34;
const BOM = [0xef, 0xbb, 0xbf];

/**
 * How many records a file holds.
 * @throws the system's error when it cannot be read, zlib's when its compression is damaged or cut short.
 */
export async function countRecords(path: string, shape: CountShape): Promise<number> {
  const counter = shape.format === 'csv' ? createCsvCounter(shape) : createLineCounter();
  const file = createReadStream(path, { highWaterMark: READ_BYTES });
  const drain = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) counter.push(chunk);
  };
  if (await isGzipped(path)) await pipeline(file, createGunzip({ chunkSize: READ_BYTES }), drain);
  else await pipeline(file, drain);
  return counter.end();
}

async function isGzipped(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

/** Where a CSV stands between two bytes. A quote opens a cell only as its first character. */
const CELL_START = 0;
const BARE = 1;
const QUOTED = 2;
/** After a quote in a quoted cell: a second one is a character, anything else goes on as a bare cell would. */
const CLOSED = 3;

/** A record without a single byte (an empty line) is none, so the LF of a CRLF in a CR file ends nothing. */
export function createCsvCounter(shape: CountShape): RecordCounter {
  const delimiter = Buffer.from(shape.delimiter);
  const delimiterStart = delimiter[0];
  const known = shape.lineEnd;
  /** Whether CR alone ends a record; null until the first line end has told. */
  let endsAtCr: boolean | null = known === undefined ? null : known === '\r';
  let isAfterFirstCr = false;
  let state = CELL_START;
  let matched = 0;
  let isEmpty = true;
  let records = 0;
  let bomAt = 0;

  function endRecord(): void {
    if (!isEmpty) records++;
    isEmpty = true;
    state = CELL_START;
    matched = 0;
  }

  /** A byte outside quotes that is no line end. */
  function takeBare(byte: number): void {
    isEmpty = false;
    if (byte === QUOTE && state !== BARE) {
      state = QUOTED;
      matched = 0;
      return;
    }
    state = BARE;
    if (byte !== delimiter[matched]) matched = 0;
    if (byte === delimiter[matched] && ++matched === delimiter.length) {
      state = CELL_START;
      matched = 0;
    }
  }

  function takeOutside(byte: number): void {
    if (isAfterFirstCr) {
      isAfterFirstCr = false;
      endsAtCr = byte !== LF;
      endRecord();
    }
    if (byte === LF) {
      endsAtCr ??= false;
      endRecord();
    } else if (byte !== CR) {
      takeBare(byte);
    } else if (endsAtCr === null) {
      isAfterFirstCr = true;
    } else if (endsAtCr) {
      endRecord();
    } else {
      state = BARE;
    }
  }

  return {
    push(bytes) {
      let at = 0;
      while (bomAt < BOM.length && at < bytes.length) {
        if (bytes[at] !== BOM[bomAt]) {
          bomAt = BOM.length;
        } else {
          bomAt++;
          at++;
        }
      }
      for (; at < bytes.length; at++) {
        if (state === BARE && matched === 0 && !isAfterFirstCr) at = skipPlain(bytes, at, delimiterStart);
        if (state !== QUOTED) {
          const byte = bytes[at];
          if (byte !== undefined) takeOutside(byte);
          continue;
        }
        at = bytes.indexOf(QUOTE, at);
        if (at < 0) return;
        state = CLOSED;
      }
    },
    end() {
      endRecord();
      return shape.hasHeader ? Math.max(0, records - 1) : records;
    },
  };
}

/** The first position from `from` on that could matter in a bare cell. For speed: most bytes are none. */
function skipPlain(bytes: Uint8Array, from: number, delimiterStart: number | undefined): number {
  let at = from;
  for (let byte = bytes[at]; byte !== undefined && byte > CR && byte !== delimiterStart; byte = bytes[at])
    at++;
  return at;
}

/** JSON lines: lines with anything but blanks in them. */
export function createLineCounter(): RecordCounter {
  let records = 0;
  let isBlank = true;
  return {
    push(bytes) {
      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at] ?? LF;
        if (!isBlank) {
          at = bytes.indexOf(LF, at);
          if (at < 0) return;
          isBlank = true;
        } else if (byte > SPACE) {
          isBlank = false;
          records++;
        }
      }
    },
    end: () => records,
  };
}
