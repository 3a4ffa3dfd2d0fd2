/** An opened input: its shape, and passes over its rows. `open-input.ts` opens it. */
import { createHash } from 'node:crypto';
import { FailFileError } from '../core/errors.js';
import type { Row, TableShape } from '../core/table.js';
import { type ByteSource, inputChanged } from './byte-source.js';
import type { ChosenEncoding } from './choose-encoding.js';
import { detectLineMode, LineFinder } from './line-finder.js';
import { MisfitTally } from './row-fit.js';
import type { RowReader } from './row-readers.js';
import { showDelimiter, type TableLayout } from './sniff-table.js';
import { createStrictDecoder, EncodingFault, type StrictDecoder } from './strict-decoder.js';

/** Rows in one batch. */
const MAX_BATCH_ROWS = 4096;
/** Records looked at for the choice of columns. */
const MAX_SAMPLE_ROWS = 1000;

/** The results of the stages of opening. */
export interface InputParts {
  readonly source: ByteSource;
  readonly chosen: ChosenEncoding;
  readonly layout: TableLayout;
  /** The most records to read; null: all. */
  readonly limit: number | null;
}

/** The opener closes it. */
export class Input {
  /** The path, or `stdin`: for people. */
  readonly name: string;
  readonly shape: TableShape;
  readonly #warnings: string[];
  /** Known after the first whole pass; later ones must find the same content. */
  #settled: { readonly hash: string; readonly columns: readonly string[] } | null = null;

  private constructor(
    private readonly parts: InputParts,
    /** Cells of the first readable records, at most 1,000: for the choice of columns. */
    readonly sample: readonly (readonly string[])[],
    /** For JSONL those known from the sample; `columns()` is complete. */
    columns: readonly string[],
    isEmpty: boolean,
  ) {
    const { source, chosen, layout } = parts;
    const { format, delimiter, lineEnd, rawHeader } = layout;
    const { encoding, bomBytes } = chosen;
    const { isGzip } = source;
    const hasBom = bomBytes > 0;
    const how = format === 'jsonl' ? 'JSONL' : `CSV, delimiter ${showDelimiter(delimiter)}`;
    this.name = source.name;
    this.shape = { format, delimiter, lineEnd, rawHeader, hasBom, isGzip, encoding, columns };
    this.#warnings = [
      `detected: ${[how, encoding, ...(isGzip ? ['gzip'] : [])].join(', ')}`,
      ...layout.warnings,
      ...(isEmpty ? ['the table has a header and no rows'] : []),
    ];
  }

  /** Throws `input-empty` for JSONL without an object, and what `rows` throws. */
  static async of(parts: InputParts): Promise<Input> {
    const { source, layout } = parts;
    const reader = layout.createReader();
    const cells: (readonly string[])[] = [];
    let rowCount = 0;
    for await (const rows of readRows(parts, reader, false)) {
      rowCount += rows.length;
      cells.push(...rows.filter(({ problem }) => problem === null).map((row) => row.cells));
      // A file of nothing but bad records is not searched to its end.
      if (cells.length >= MAX_SAMPLE_ROWS || rowCount >= MAX_SAMPLE_ROWS * 20) break;
    }
    if (layout.format === 'jsonl' && cells.length === 0) {
      throw new FailFileError({
        code: 'input-empty',
        what: 'no line of the input is a JSON object',
        subject: source.name,
        todo: 'write one object per line, or use --format csv if it is a table',
      });
    }
    const columns = reader.columns() ?? layout.columns;
    return new Input(parts, cells.slice(0, MAX_SAMPLE_ROWS), columns, rowCount === 0);
  }

  /** Detected formats and oddities, as sentences. Grows until the first `rows()` has ended. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /**
   * Records in batches of at most a few thousand, in order, in flat memory. Every call reads the
   * file again. Texts may share memory with a whole chunk: copy those that are kept for long.
   *
   * Throws `FailFileError`: `input-encoding`, `input-missing`, `input-ragged` at the end of the
   * first pass, `input-changed` where a later pass does not find the content of the first.
   */
  async *rows(): AsyncGenerator<readonly Row[]> {
    const { source, layout, limit } = this.parts;
    const reader = layout.createReader();
    const hash = createHash('sha256');
    const tally = new MisfitTally();
    for await (const batch of readRows(this.parts, reader, this.#settled === null, (it) => hash.update(it))) {
      for (const row of batch) tally.note(row);
      yield batch;
    }
    const digest = hash.digest('hex');
    if (this.#settled === null) {
      this.#settled = { hash: digest, columns: reader.columns() ?? layout.columns };
      this.#warnings.push(...reader.notes(), ...tally.notes());
      if (layout.guess !== null) tally.assertFew(layout.guess);
    } else if (limit === null && this.#settled.hash !== digest) {
      throw inputChanged(source.name);
    }
  }

  /** SHA-256, in hex, of the decompressed bytes before decoding; after `rows()` has ended. */
  contentHash(): string {
    return this.#afterPass().hash;
  }

  /** All columns, for JSONL as they were first seen; after `rows()` has ended. */
  columns(): readonly string[] {
    return this.#afterPass().columns;
  }

  #afterPass() {
    if (this.#settled === null) throw new Error('known only after rows() has ended');
    return this.#settled;
  }

  /** Throws `input-changed` when size, modification time or inode differ from those at opening. */
  assertUnchanged(): Promise<void> {
    return this.parts.source.assertUnchanged();
  }

  /** Closes the file and removes the copy of standard input. Safe to call twice. */
  close(): Promise<void> {
    return this.parts.source.close();
  }
}

/** @param isWholeWanted after the limit the remaining bytes are still read */
async function* readRows(
  { source, chosen, limit }: InputParts,
  reader: RowReader,
  isWholeWanted: boolean,
  onBytes?: (chunk: Buffer) => void,
): AsyncGenerator<readonly Row[]> {
  const decoder = createStrictDecoder(chosen.encoding);
  let bomBytes = chosen.bomBytes;
  let left = limit ?? Number.POSITIVE_INFINITY;
  const read = (bytes: Buffer, isLast: boolean) => {
    const text = decode(decoder, bytes, isLast, { name: source.name, chosen, ...reader.position() });
    const rows = reader.push(text, isLast).slice(0, left);
    left -= rows.length;
    return inBatches(rows);
  };
  for await (const chunk of source.read()) {
    onBytes?.(chunk);
    if (left === 0) continue;
    const bytes = chunk.subarray(bomBytes);
    bomBytes -= chunk.length - bytes.length;
    yield* read(bytes, false);
    if (left === 0 && !isWholeWanted) return;
  }
  if (left > 0) yield* read(Buffer.alloc(0), true);
}

function* inBatches(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += MAX_BATCH_ROWS) yield rows.slice(at, at + MAX_BATCH_ROWS);
}

interface Place {
  /** Of the input. */
  readonly name: string;
  readonly chosen: ChosenEncoding;
  /** Line of the text that was read before and still waits, and that text. */
  readonly line: number;
  readonly rest: string;
}

/** Throws `input-encoding` with line and byte. */
export function decode(decoder: StrictDecoder, bytes: Buffer, isLast: boolean, place: Place): string {
  try {
    return decoder.write(bytes, isLast);
  } catch (fault) {
    if (!(fault instanceof EncodingFault)) throw fault;
    const { name, chosen, rest } = place;
    const { encoding, bomBytes } = chosen;
    const before = rest + fault.textBefore;
    const lines = new LineFinder(before, detectLineMode(before, false), true);
    const line = place.line + lines.count(0, before.length);
    const byte = `byte ${bomBytes + fault.offset} (0x${fault.seen} is not ${encoding})`;
    const another = 'set another --encoding';
    const naming = encoding === 'utf-8' ? 'set the encoding, for example --encoding windows-1252' : another;
    const todo = `${naming}, or correct that line`;
    const subject = `${name}, line ${line}, ${byte}`;
    throw new FailFileError({ code: 'input-encoding', subject, todo, cause: fault });
  }
}
