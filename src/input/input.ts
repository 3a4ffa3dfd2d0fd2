/** An opened input: its shape, and passes over its rows. `open-input.ts` opens it. */
import { createHash } from 'node:crypto';
import { readingStopped } from '../core/errors.js';
import type { Phrase } from '../core/phrase.js';
import type { Row, TableShape } from '../core/table.js';
import type { Settings } from '../settings/settings.js';
import { type ByteSource, inputChanged } from './byte-source.js';
import { MisfitTally, type TableGuess } from './text/row-fit.js';

export const READING_KEYS = [
  'delimiter',
  'encoding',
  'header',
  'limit',
  'ragged',
  'records',
  'sheet',
  'skipLines',
] as const;
export type ReadingSettings = Pick<Settings, (typeof READING_KEYS)[number]>;

/** Records looked at for the choice of columns, at most of so many characters. */
const MAX_SAMPLE_ROWS = 1000;
const MAX_SAMPLE_CHARS = 16 * 1024 * 1024;

/** What a reading of the rows has shown so far; complete after the last batch. */
export interface Seen {
  /** Absent: the columns of the shape. */
  readonly columns?: readonly string[];
  /** The columns that an output has. Absent: all. */
  readonly keys?: readonly string[];
  /** Oddities that are not problems of single rows, as sentences. */
  readonly notes: readonly Phrase[];
  readonly around?: Around | null;
}

/** The text before and behind a JSON array that stands in an object. */
export interface Around {
  readonly head: string;
  readonly tail: string;
}

/** Gets every byte of the input, also after the last record; null: not needed. */
export type OnBytes = ((chunk: Uint8Array) => void) | null;

export interface InputParts {
  readonly source: ByteSource;
  readonly shape: TableShape;
  /** The detected format, for people: `CSV, delimiter ','`. */
  readonly detected: string;
  readonly warnings: readonly Phrase[];
  /** For the error about a table that too many rows do not fit; null: no such error. */
  readonly guess: TableGuess | null;
  readonly limit: number | null;
  /** Reads the records in batches. `wanted`: the columns whose cells are needed, or null. */
  openPass(
    onBytes: OnBytes,
    wanted: readonly number[] | null,
  ): { readonly batches: AsyncIterable<readonly Row[]>; seen(): Seen };
  close(): Promise<void>;
  /** Throws if the sample has no columns to choose from. */
  assertSample?(sample: readonly (readonly string[])[]): void;
}

/** The opener closes it. */
export class Input {
  readonly name: string;
  readonly shape: TableShape;
  readonly detected: string;
  /** Oddities, as sentences. Grows until the first `rows()` has ended. */
  readonly warnings: Phrase[];
  /** Later passes must find the same content. */
  #content: {
    /** SHA-256, in hex, of the decompressed bytes before decoding. */
    readonly contentHash: string;
    /** All columns of an output, for JSON the keys as first seen. */
    readonly columns: readonly string[];
    /** null: the rows were no array in an object, or not all of it was read. */
    readonly around: Around | null;
  } | null = null;

  private constructor(
    private readonly parts: InputParts,
    /** Cells of the first readable records, at most 1,000: for the choice of columns. */
    readonly sample: readonly (readonly string[])[],
    /** For JSONL those known from the sample; those of `content` are complete. */
    columns: readonly string[],
    isEmpty: boolean,
    private readonly stop: AbortSignal | undefined,
  ) {
    this.name = parts.source.name;
    this.shape = { ...parts.shape, columns };
    this.detected = parts.detected;
    this.warnings = [...parts.warnings, ...(isEmpty ? ['the table has a header and no rows'] : [])];
  }

  /** `stop` ends a pass. Throws the errors of `assertSample` and `rows`. */
  static async of(parts: InputParts, stop?: AbortSignal): Promise<Input> {
    const pass = parts.openPass(null, null);
    const cells: (readonly string[])[] = [];
    let rowCount = 0;
    let chars = 0;
    for await (const rows of pass.batches) {
      rowCount += rows.length;
      for (const row of rows) {
        if (row.problem !== null || chars > MAX_SAMPLE_CHARS) continue;
        cells.push(row.cells);
        chars += row.raw.length;
      }
      // A file of nothing but bad records is not searched to its end.
      if (cells.length >= MAX_SAMPLE_ROWS || chars > MAX_SAMPLE_CHARS || rowCount >= MAX_SAMPLE_ROWS * 20)
        break;
    }
    parts.assertSample?.(cells);
    const { columns = parts.shape.columns } = pass.seen();
    return new Input(parts, cells.slice(0, MAX_SAMPLE_ROWS), columns, rowCount === 0, stop);
  }

  /**
   * Reads the file again, in batches of at most a few thousand, in flat memory. Texts may share
   * memory with a whole chunk: copy those that are kept for long. `wanted`: the columns whose cells
   * are needed, or null. Throws `input-ragged` at the end of the first pass, `input-changed` where
   * a later one finds other content.
   */
  async *rows(wanted: readonly number[] | null = null): AsyncGenerator<readonly Row[]> {
    const { source, shape, guess, limit } = this.parts;
    const hash = createHash('sha256');
    const isWholeWanted = this.#content === null || limit === null;
    const pass = this.parts.openPass(isWholeWanted ? (bytes) => hash.update(bytes) : null, wanted);
    const tally = new MisfitTally();
    for await (const batch of pass.batches) {
      if (this.stop?.aborted) throw readingStopped(source.name);
      for (const row of batch) tally.note(row);
      yield batch;
    }
    const contentHash = hash.digest('hex');
    if (this.#content === null) {
      const { columns = shape.columns, keys = columns, notes, around = null } = pass.seen();
      this.#content = { contentHash, columns: keys, around };
      this.warnings.push(...notes, ...tally.notes());
      if (guess !== null) tally.assertFew(guess);
    } else if (isWholeWanted && this.#content.contentHash !== contentHash) {
      throw inputChanged(source.name);
    }
  }

  /** What a whole pass has shown. Throws until the first `rows()` has ended. */
  content() {
    if (this.#content === null) throw new Error('known only after rows() has ended');
    return this.#content;
  }

  /** Throws `input-changed` when size, modification time or inode differ from those at opening. */
  assertUnchanged(): Promise<void> {
    return this.parts.source.assertUnchanged();
  }

  /** Closes the file and removes the copy of standard input. Safe to call twice. */
  close(): Promise<void> {
    return this.parts.close();
  }
}
