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

/** One reading of the rows, from the first to the last. */
interface RowPass {
  /** Records in batches of at most a few thousand, in order. */
  readonly batches: AsyncIterable<readonly Row[]>;
  /** Columns seen so far; null if the shape has all of them. */
  columns(): readonly string[] | null;
  /** Those of them that an output has; absent: all. */
  keys?(): readonly string[] | null;
  /** Oddities that are not problems of single rows, as sentences; after the last batch. */
  notes(): readonly Phrase[];
  /** The text around a JSON array, after the last batch; absent: other formats. */
  around?(): Around | null;
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
  /** The most records that a pass reads; null: all. */
  readonly limit: number | null;
  /** `wanted`: the columns whose cells are needed, the others may be blank; null: all. */
  openPass(onBytes: OnBytes, wanted: readonly number[] | null): RowPass;
  close(): Promise<void>;
  /** Throws if the sample has no columns to choose from. */
  assertSample?(sample: readonly (readonly string[])[]): void;
}

/** The opener closes it. */
export class Input {
  /** The path, or `stdin`: for people. */
  readonly name: string;
  readonly shape: TableShape;
  readonly detected: string;
  readonly #warnings: Phrase[];
  /** Known after the first whole pass; later ones must find the same content. */
  #settled: {
    readonly hash: string;
    readonly columns: readonly string[];
    readonly around: Around | null;
  } | null = null;

  private constructor(
    private readonly parts: InputParts,
    /** Cells of the first readable records, at most 1,000: for the choice of columns. */
    readonly sample: readonly (readonly string[])[],
    /** For JSONL those known from the sample; `columns()` is complete. */
    columns: readonly string[],
    isEmpty: boolean,
    private readonly stop: AbortSignal | undefined,
  ) {
    this.name = parts.source.name;
    this.shape = { ...parts.shape, columns };
    this.detected = parts.detected;
    this.#warnings = [...parts.warnings, ...(isEmpty ? ['the table has a header and no rows'] : [])];
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
    const columns = pass.columns() ?? parts.shape.columns;
    return new Input(parts, cells.slice(0, MAX_SAMPLE_ROWS), columns, rowCount === 0, stop);
  }

  /** Oddities, as sentences. Grows until the first `rows()` has ended. */
  get warnings(): readonly Phrase[] {
    return this.#warnings;
  }

  note(warning: Phrase): void {
    this.#warnings.push(warning);
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
    const isWholeWanted = this.#settled === null || limit === null;
    const pass = this.parts.openPass(isWholeWanted ? (bytes) => hash.update(bytes) : null, wanted);
    const tally = new MisfitTally();
    for await (const batch of pass.batches) {
      if (this.stop?.aborted) throw readingStopped(source.name);
      for (const row of batch) tally.note(row);
      yield batch;
    }
    const digest = hash.digest('hex');
    if (this.#settled === null) {
      const columns = pass.keys?.() ?? pass.columns() ?? shape.columns;
      this.#settled = { hash: digest, columns, around: pass.around?.() ?? null };
      this.#warnings.push(...pass.notes(), ...tally.notes());
      if (guess !== null) tally.assertFew(guess);
    } else if (isWholeWanted && this.#settled.hash !== digest) {
      throw inputChanged(source.name);
    }
  }

  /** SHA-256, in hex, of the decompressed bytes before decoding; after `rows()` has ended. */
  contentHash(): string {
    return this.#afterPass().hash;
  }

  /** All columns of an output, for JSON the keys as first seen; after `rows()` has ended. */
  columns(): readonly string[] {
    return this.#afterPass().columns;
  }

  /** null: the rows were no array in an object, or not all of it was read. */
  around(): Around | null {
    return this.#afterPass().around;
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
    return this.parts.close();
  }
}
