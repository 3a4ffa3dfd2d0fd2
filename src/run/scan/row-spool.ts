/**
 * The rows of the input on disk, unchanged, each with its identifiers or a reason. A record,
 * little-endian: length and line (u32 each), kind (u8), count of candidates (u8), their numbers
 * (u32 each), length of the reason (u16), the reason as `writeRowReason` writes it and the raw text
 * in UTF-8. If names are compared, an asked row has its name in place of the reason.
 */
import { readRowReason, sayRowReason } from '../../core/row-reason.js';
import type { SpoolFile } from './spool-file.js';

/** `asked`: with candidates; the others have a reason. `unreadable`: the record is broken. */
export const ROW_KINDS = ['asked', 'invalid', 'skipped', 'unreadable'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** A row: `length` bytes of `buffer` at `at`. `number`: its position in the input, from 1. */
export interface RowRecord {
  readonly number: number;
  readonly buffer: Buffer;
  readonly at: number;
  readonly length: number;
}

const KIND_AT = 4 + 4;
const CANDIDATES_AT = KIND_AT + 1 + 1;
const FIXED_BYTES = CANDIDATES_AT + 2;
const READ_BYTES = 1_048_576;
const CANDIDATES_AT_MOST = 255;
/** Rows with a gap up to this size are read at once, because a second read takes longer. */
const GAP_BYTES = 4_096;
const BLOCK_BYTES = 262_144;
/** The most memory for rows on their way to the output. */
const WINDOW_BYTES = 4 * 1_048_576;

export class RowSpool {
  count = 0;

  constructor(private readonly file: SpoolFile) {}

  get bytes(): number {
    return this.file.length;
  }

  /** `line`: where the row begins in the input. `reason`: for an `asked` row its name, or ''. */
  add(line: number, kind: RowKind, candidates: readonly number[], reason: string, raw: string): void {
    const few = candidates.slice(0, CANDIDATES_AT_MOST);
    const { buffer, at } = this.file.room(FIXED_BYTES + few.length * 4 + (reason.length + raw.length) * 3);
    let to = buffer.writeUInt32LE(line, at + 4);
    buffer[to++] = ROW_KINDS.indexOf(kind);
    buffer[to++] = few.length;
    for (const candidate of few) to = buffer.writeUInt32LE(candidate, to);
    const reasonBytes = reason === '' ? 0 : buffer.write(reason, to + 2);
    to = buffer.writeUInt16LE(reasonBytes, to) + reasonBytes;
    to += buffer.write(raw, to);
    buffer.writeUInt32LE(to - at, at);
    this.file.advance(to - at);
    this.count += 1;
  }

  /** Yields all rows in order, in batches; their parts are decoded on demand. */
  *records(): Generator<readonly RowRecord[]> {
    let number = 0;
    for (let position = 0; position < this.file.length; ) {
      const buffer = readWhole(this.file, position);
      const batch: RowRecord[] = [];
      let at = 0;
      while (at + 4 <= buffer.length) {
        const length = buffer.readUInt32LE(at);
        if (at + length > buffer.length) break;
        number += 1;
        batch.push({ number, buffer, at, length });
        at += length;
      }
      position += at;
      yield batch;
    }
  }

  /**
   * Yields rows, counted from 0, in any order; each is valid until the next is taken. `starts`:
   * where each row begins and the last one ends, the running sum of the lengths from `records`.
   * Rows of one window that are close together on disk are read at once.
   */
  *inOrder(order: Uint32Array, starts: Float64Array): Generator<RowRecord> {
    const startOf = (row = 0) => starts[row] ?? 0;
    const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    let buffer = Buffer.allocUnsafeSlow(Math.min(WINDOW_BYTES, this.file.length));
    for (let from = 0; from < order.length; ) {
      const { rows, ends } = windowFrom(order.subarray(from), starts);
      from += rows.length;
      const bytes = ends.at(-1) ?? 0;
      if (bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(bytes);
      const onDisk = Uint32Array.from(rows.keys()).sort((a, b) => (rows[a] ?? 0) - (rows[b] ?? 0));
      for (let first = 0, nth = 0; nth < onDisk.length; nth += 1) {
        const start = startOf(rows[onDisk[first] ?? 0]);
        const end = startOf((rows[onDisk[nth] ?? 0] ?? 0) + 1);
        const next = rows[onDisk[nth + 1] ?? -1];
        const isNear = next !== undefined && startOf(next) - end <= GAP_BYTES;
        if (isNear && startOf(next + 1) - start <= BLOCK_BYTES) continue;
        const read = this.file.read(start, end - start, end - start <= BLOCK_BYTES ? block : undefined);
        for (; first <= nth; first += 1) {
          const at = onDisk[first] ?? 0;
          const row = rows[at] ?? 0;
          read.copy(buffer, ends[at - 1] ?? 0, startOf(row) - start, startOf(row + 1) - start);
        }
      }
      for (let nth = 0, at = 0; nth < rows.length; nth += 1) {
        const end = ends[nth] ?? 0;
        yield { number: (rows[nth] ?? 0) + 1, buffer, at, length: end - at };
        at = end;
      }
    }
  }
}

/** Returns the first rows of an order that fit into memory, and where each ends there. */
function windowFrom(order: Uint32Array, starts: Float64Array) {
  const ends: number[] = [];
  let end = 0;
  for (const row of order) {
    const length = (starts[row + 1] ?? 0) - (starts[row] ?? 0);
    if (ends.length > 0 && end + length > WINDOW_BYTES) break;
    end += length;
    ends.push(end);
  }
  return { rows: order.subarray(0, ends.length), ends };
}

function readWhole(file: SpoolFile, position: number): Buffer {
  const left = file.length - position;
  const chunk = file.read(position, Math.min(READ_BYTES, left));
  const length = chunk.readUInt32LE(0);
  return length <= chunk.length ? chunk : file.read(position, length);
}

/** Returns the kind of a row. */
export function kindOf({ buffer, at }: RowRecord): RowKind {
  return ROW_KINDS[buffer[at + KIND_AT] ?? 0] ?? 'unreadable';
}

/** Returns the line of the input where the row begins. */
export function lineOf({ buffer, at }: RowRecord): number {
  return buffer.readUInt32LE(at + 4);
}

/** Returns the numbers of the identifiers to try, in order. */
export function candidatesOf({ buffer, at }: RowRecord): number[] {
  const candidates: number[] = [];
  const count = buffer[at + KIND_AT + 1] ?? 0;
  for (let nth = 0; nth < count; nth += 1) candidates.push(buffer.readUInt32LE(at + CANDIDATES_AT + nth * 4));
  return candidates;
}

function reasonAtOf({ buffer, at }: RowRecord): number {
  return at + CANDIDATES_AT + (buffer[at + KIND_AT + 1] ?? 0) * 4;
}

/** Returns the unchanged text of the row. */
export function rawOf(record: RowRecord): string {
  const { buffer, at, length } = record;
  const reasonAt = reasonAtOf(record);
  return buffer.toString('utf8', reasonAt + 2 + buffer.readUInt16LE(reasonAt), at + length);
}

/** Returns the name of an asked row; empty without one, or if names are not compared. */
export function nameOf(record: RowRecord): string {
  const at = reasonAtOf(record);
  return record.buffer.toString('utf8', at + 2, at + 2 + record.buffer.readUInt16LE(at));
}

export function readRow(record: RowRecord) {
  const { number, buffer } = record;
  const from = reasonAtOf(record);
  const reasonBytes = buffer.readUInt16LE(from);
  return {
    number,
    line: lineOf(record),
    kind: kindOf(record),
    candidates: candidatesOf(record),
    reason: reasonBytes === 0 ? '' : buffer.toString('utf8', from + 2, from + 2 + reasonBytes),
    raw: rawOf(record),
  };
}

/** Returns the reason for the error cell; the only place for the line of an unreadable row. */
export function reasonInCell({ kind, line, reason }: Omit<ReturnType<typeof readRow>, 'raw'>): string {
  const words = sayRowReason(readRowReason(reason));
  return kind === 'unreadable' ? `line ${line}: ${words}` : words;
}

/** A row for people. `value`: identifier or cell, cut after 200 characters. */
export interface ListedRow<Reason = string> {
  readonly line: number;
  readonly value: string;
  readonly reason: Reason;
}

const ROWS_AT_MOST = 100;
const VALUE_AT_MOST = 200;

/** Adds a row, up to a hundred; calls `value` only if it does. */
export function listRow<Reason>(
  rows: ListedRow<Reason>[],
  { line, reason, value }: Omit<ListedRow<Reason>, 'value'> & { readonly value: () => string },
): void {
  if (rows.length === ROWS_AT_MOST) return;
  const text = value();
  const cut = text.length > VALUE_AT_MOST ? `${text.slice(0, VALUE_AT_MOST)}…` : text;
  // A copy, because a slice would keep its chunk of the file in memory, or end in half a character.
  rows.push({ line, value: Buffer.from(cut).toString(), reason });
}
