/**
 * The rows of the input on disk, as they stood, each with what its cells came to. Written in the first pass and read
 * in order as often as needed, so that memory does not grow with the number of rows.
 *
 * A record: length (u32), kind (u8), count of candidates (u8), candidate numbers (u32 each), length of the reason
 * (u16), reason, raw text. All UTF-8, little-endian.
 */
import type { SpoolFile } from './spool-file.js';

/** `asked`: there are candidates. The others carry a reason instead. `unreadable`: the record itself is broken. */
export const ROW_KINDS = ['asked', 'invalid', 'skipped', 'unreadable'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

export interface SpooledRow {
  /** Position among the records, from 1. */
  readonly number: number;
  readonly kind: RowKind;
  /** Numbers of the identifiers to try, in order. */
  readonly candidates: readonly number[];
  readonly reason: string;
  readonly raw: string;
}

export interface RowSpool {
  readonly count: number;
  add(kind: RowKind, candidates: readonly number[], reason: string, raw: string): void;
  /** All rows in order, in batches. */
  rows(): Generator<readonly SpooledRow[]>;
}

const FIXED_BYTES = 4 + 1 + 1 + 2;
const READ_BYTES = 1_048_576;
const CANDIDATES_AT_MOST = 255;
const REASON_AT_MOST = 1_000;

export function createRowSpool(file: SpoolFile): RowSpool {
  let count = 0;
  return {
    get count() {
      return count;
    },
    add(kind, candidates, reason, raw) {
      const few = candidates.slice(0, CANDIDATES_AT_MOST);
      const short = reason.slice(0, REASON_AT_MOST);
      const { buffer, at } = file.room(FIXED_BYTES + few.length * 4 + (short.length + raw.length) * 3);
      let to = at + 4;
      buffer[to++] = ROW_KINDS.indexOf(kind);
      buffer[to++] = few.length;
      for (const candidate of few) to = buffer.writeUInt32LE(candidate, to);
      const reasonBytes = short === '' ? 0 : buffer.write(short, to + 2);
      to = buffer.writeUInt16LE(reasonBytes, to) + reasonBytes;
      to += buffer.write(raw, to);
      buffer.writeUInt32LE(to - at, at);
      file.advance(to - at);
      count += 1;
    },
    *rows() {
      file.flush();
      let position = 0;
      let number = 0;
      while (position < file.length) {
        const chunk = readWhole(file, position);
        const batch: SpooledRow[] = [];
        let at = 0;
        while (at + 4 <= chunk.length) {
          const length = chunk.readUInt32LE(at);
          if (at + length > chunk.length) break;
          number += 1;
          batch.push(readRow(chunk, at, length, number));
          at += length;
        }
        position += at;
        yield batch;
      }
    },
  };
}

/** At least one whole record from `position` on. */
function readWhole(file: SpoolFile, position: number): Buffer {
  const left = file.length - position;
  const chunk = file.read(position, Math.min(READ_BYTES, left));
  const length = chunk.readUInt32LE(0);
  return length <= chunk.length ? chunk : file.read(position, length);
}

function readRow(chunk: Buffer, at: number, length: number, number: number): SpooledRow {
  const kind = ROW_KINDS[chunk[at + 4] ?? 0] ?? 'unreadable';
  const candidates: number[] = [];
  let from = at + 6;
  for (let left = chunk[at + 5] ?? 0; left > 0; left -= 1) {
    candidates.push(chunk.readUInt32LE(from));
    from += 4;
  }
  const reasonBytes = chunk.readUInt16LE(from);
  from += 2;
  const reason = reasonBytes === 0 ? '' : chunk.toString('utf8', from, from + reasonBytes);
  from += reasonBytes;
  return { number, kind, candidates, reason, raw: chunk.toString('utf8', from, at + length) };
}
