/**
 * The messages between a process of ours and the one that reads a binary file for it: requests are
 * lines of JSON, each is answered by one reply in the order of requests.
 */
import { BrandEnrichError, errorText, FailFileError, NeverStartError } from '../../core/errors.js';
import { readRowReason, writeRowReason } from '../../core/row-reason.js';
import type { Row } from '../../core/table.js';
import { cutText, shortText } from '../../core/terminal-text.js';
import { type BinaryTable, OverBounds } from '../binary-table.js';
import type { ReadingSettings } from '../input.js';

/** The file is descriptor 3. `name`: of the input, for messages. */
export type ReaderRequest = { readonly name: string } & (
  | { readonly type: 'open'; readonly opening: TableOpening }
  | { readonly type: 'sheets' }
  /**
   * Begins to answer `next`: with rows, with the bytes of a part. `wanted`: the columns whose cells
   * are needed; null: all.
   */
  | { readonly type: 'rows'; readonly limit: number | null; readonly wanted: readonly number[] | null }
  | { readonly type: 'bytes'; readonly part: string }
  /** Also with numbers of rows; `part`: the sheet's; null: it is a Parquet file. */
  | { readonly type: 'count'; readonly part: string | null }
  | { readonly type: 'next' }
);

/** What a pass over rows found, after its last batch. */
export interface RowsEnd {
  readonly width: number;
  readonly notes: readonly string[];
}

/** The settings that concern binary tables. */
export type TableOpening = Pick<ReadingSettings, 'header' | 'skipLines' | 'sheet'>;

/** A table, or the name of the only one in an archive. */
export type FoundTable =
  | ({ readonly type: 'table' } & Pick<BinaryTable, 'shape' | 'detected' | 'warnings'>)
  | { readonly type: 'inside'; readonly part: string };

export type ReaderReply =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'rows'; readonly rows: readonly Row[]; readonly width: number }
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  | { readonly type: 'error'; readonly error: Error };

const KINDS = ['json', 'rows', 'bytes', 'error'] as const;
/** Length of all after it (u32), kind (u8). */
const HEADER_BYTES = 5;
/** The size of a reply; a row has at most 1 MiB, and a schema 4,096 columns. */
const MOST_REPLY_BYTES = 64 * 1024 * 1024;

function frameOf(kind: (typeof KINDS)[number], parts: readonly Uint8Array[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  if (length > MOST_REPLY_BYTES) throw new Error('its structure is too large');
  header.writeUInt32LE(length);
  header.writeUInt8(KINDS.indexOf(kind), 4);
  return Buffer.concat([header, ...parts]);
}

export const jsonFrame = (value: unknown): Buffer => frameOf('json', [Buffer.from(JSON.stringify(value))]);

export const bytesFrame = (bytes: Buffer): Buffer => frameOf('bytes', [bytes]);

/** Anything unexpected comes from what is in the file. */
export function errorFrame(name: string, cause: unknown): Buffer {
  const error = damaged(name, cause);
  const { code, what, subject, todo } = error.detail;
  const { stack } = error.cause instanceof Error ? error.cause : {};
  const reason = stack && cutText(stack, STACK_AT_MOST);
  const isUsage = error instanceof NeverStartError;
  return frameOf('error', [Buffer.from(JSON.stringify({ code, what, subject, todo, isUsage, reason }))]);
}

/** Other libraries may quote the file, in the message and so in the stack. */
const CAUSE_AT_MOST = 300;
const STACK_AT_MOST = 2_000;

/** `input-binary` with the cause in the message; one of our errors stays. */
function damaged(name: string, cause: unknown): BrandEnrichError {
  if (cause instanceof BrandEnrichError) return cause;
  const isOver = cause instanceof OverBounds;
  return new FailFileError({
    code: 'input-binary',
    what: isOver ? 'the file is too large to be read' : 'the file is damaged, or has another format',
    // It is about the engine that runs this, not about the file.
    subject: `${name} (${
      cause instanceof RangeError
        ? 'its structure is nested too deeply, or too large'
        : shortText(errorText(cause), CAUSE_AT_MOST)
    })`,
    todo: isOver
      ? cause.todo
      : 'open it in the program that made it, save it again, or save it as CSV (UTF-8)',
    cause,
  });
}

function errorOf(text: string): Error {
  const { isUsage, reason, ...detail } = JSON.parse(text);
  const Kind = isUsage ? NeverStartError : FailFileError;
  return new Kind({ ...detail, ...(reason && { cause: new Error(reason) }) });
}

/** Rows in one reply, and about so many characters. */
const FRAME_ROWS = 4096;
const FRAME_CHARS = 128 * 1024;

/** How a text was encoded: one byte for each character, in UTF-8, or as JSON in UTF-8. */
const [ASCII, UTF8, JSON_TEXT] = [0, 1, 2] as const;

/**
 * Rows in order, encoded one by one: their many texts end young. The reply has numbers first: the
 * wanted columns, then of each row its line, how many cells it has and the sizes of its texts;
 * then these. Blank cells at the end of a row are only counted.
 */
export class RowsFrame {
  #numbers: number[] = [];
  #bytes = Buffer.allocUnsafeSlow(FRAME_CHARS * 2);
  #length = 0;
  #first = 0;
  #rows = 0;
  #chars = 0;

  /** `wanted`: the columns whose cells are sent, the others are blank; null: all. */
  constructor(private readonly wanted: readonly number[] | null) {}

  get isFull(): boolean {
    return this.#rows >= FRAME_ROWS || this.#chars >= FRAME_CHARS;
  }

  get isEmpty(): boolean {
    return this.#rows === 0;
  }

  add({ number, line, raw, problem, cells }: Row): void {
    if (this.#rows === 0) this.#first = number;
    this.#rows += 1;
    this.#chars += raw.length;
    this.#numbers.push(line);
    this.#write(raw);
    this.#write(problem === null ? '' : writeRowReason(problem));
    this.#numbers.push(cells.length);
    if (this.wanted !== null) {
      for (const at of this.wanted) this.#write(cells[at] ?? '');
      return;
    }
    let filled = cells.length;
    while (filled > 0 && cells[filled - 1] === '') filled -= 1;
    this.#numbers.push(filled);
    for (let at = 0; at < filled; at += 1) this.#write(cells[at] ?? '');
  }

  #write(text: string, isJson = false): void {
    const most = this.#length + text.length * 3;
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(most, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    const size = this.#bytes.write(text, this.#length);
    // UTF-8 has no halves of pairs, and cells may; JSON has escapes for them.
    if (!isJson && size > text.length && /\p{Surrogate}/u.test(text)) {
      this.#write(JSON.stringify(text), true);
      return;
    }
    this.#length += size;
    this.#numbers.push(size * 4 + (isJson ? JSON_TEXT : size === text.length ? ASCII : UTF8));
  }

  /** The reply; it is empty after that. `width`: the columns seen so far. */
  take(width: number): Buffer {
    const wanted = this.wanted ?? [];
    const numbers = Uint32Array.from([...wanted, ...this.#numbers]);
    const mode = this.wanted === null ? ALL : wanted.length;
    const start = Uint32Array.of(numbers.length, this.#first, this.#rows, width, mode);
    const texts = this.#bytes.subarray(0, this.#length);
    this.#numbers = [];
    this.#length = this.#rows = this.#chars = 0;
    return frameOf('rows', [bytesOf(start), bytesOf(numbers), texts]);
  }
}

/** In place of the count of wanted columns. */
const ALL = 0xffff_ffff;

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const START_BYTES = 20;

function rowsOf(bytes: Buffer): { rows: Row[]; width: number } {
  const count = bytes.readUInt32LE(0);
  const first = bytes.readUInt32LE(4);
  const width = bytes.readUInt32LE(12);
  const wantedCount = bytes.readUInt32LE(16);
  let position = START_BYTES + count * 4;
  // Numbers must be aligned, the frame is not.
  const numbers = new Uint32Array(
    bytes.buffer.slice(bytes.byteOffset + START_BYTES, bytes.byteOffset + position),
  );
  let at = wantedCount === ALL ? 0 : wantedCount;
  const next = () => numbers[at++] ?? 0;
  const take = () => {
    const sized = next();
    const from = position;
    position += sized >>> 2;
    if (from === position) return '';
    const kind = sized & 3;
    const text = bytes.toString(kind === ASCII ? 'latin1' : 'utf8', from, position);
    return kind === JSON_TEXT ? String(JSON.parse(text)) : text;
  };
  const wanted = wantedCount === ALL ? null : numbers.subarray(0, wantedCount);
  const rows = Array.from({ length: bytes.readUInt32LE(8) }, (_, index): Row => {
    const line = next();
    const raw = take();
    const reason = take();
    const problem = reason === '' ? null : readRowReason(reason);
    const cellCount = next();
    const cells: string[] = [];
    const filled = wanted === null ? next() : 0;
    while (cells.length < filled) cells.push(take());
    while (cells.length < cellCount) cells.push('');
    for (const column of wanted ?? []) {
      const text = take();
      if (column < cellCount) cells[column] = text;
    }
    return { number: first + index, line, raw, cells, problem };
  });
  return { rows, width };
}

/** Kept for the next replies; a larger one has memory of its own. */
const KEPT_BYTES = 4 * 1024 * 1024;

/**
 * Puts replies together from pieces of any size, in the same memory: else what was used piles up
 * until it is collected. Throws for a reply that no reader sends.
 */
export function createReplyReader(onReply: (reply: ReaderReply) => void) {
  let buffer = Buffer.allocUnsafeSlow(FRAME_CHARS);
  let length = 0;
  return (piece: Buffer): void => {
    if (length + piece.length > buffer.length) {
      const larger = Buffer.allocUnsafeSlow((length + piece.length) * 2);
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    length += piece.copy(buffer, length);
    let from = 0;
    while (length - from >= HEADER_BYTES) {
      const end = from + 4 + buffer.readUInt32LE(from);
      if (end - from > MOST_REPLY_BYTES + 4) throw new Error('the process that reads the file sent no reply');
      if (length < end) break;
      onReply(replyOf(buffer.subarray(from + 4, end)));
      from = end;
    }
    buffer.copyWithin(0, from, length);
    length -= from;
    if (length === 0 && buffer.length > KEPT_BYTES) buffer = Buffer.allocUnsafeSlow(FRAME_CHARS);
  };
}

function replyOf(frame: Buffer): ReaderReply {
  const type = KINDS[frame.readUInt8(0)] ?? 'json';
  const bytes = frame.subarray(1);
  if (type === 'rows') return { type, ...rowsOf(bytes) };
  if (type === 'bytes') return { type, bytes: Buffer.from(bytes) };
  if (type === 'error') return { type, error: errorOf(bytes.toString()) };
  return { type, value: JSON.parse(bytes.toString()) };
}
