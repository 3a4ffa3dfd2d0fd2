/** An opened input, and the parts that each format brings to it. */
import { createHash } from 'node:crypto';
import { readingStopped } from '../core/errors.js';
import type { Phrase } from '../core/phrase.js';
import type { Row, TableShape } from '../core/table.js';
import type { Settings } from '../settings/settings.js';
import { type ByteSource, inputChanged } from './byte-source.js';
import { FIRST_ROWS } from './identify/measure-columns.js';
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

/** Limits of the sample from which the columns are chosen. */
const MAX_SAMPLE_ROWS = 1000;
const MAX_SAMPLE_CHARS = 16 * 1024 * 1024;

/** What a pass has shown of the table so far; complete after the last batch. */
export interface PassFacts {
  /** Absent if they are the columns of the shape. */
  readonly columns?: readonly string[];
  /** The columns of an output; absent for all. */
  readonly keys?: readonly string[];
  /** Sentences about oddities of the table as a whole. */
  readonly notes: readonly Phrase[];
  readonly around?: Around | null;
}

/** The text before and after a JSON array inside an object. */
export interface Around {
  readonly head: string;
  readonly tail: string;
}

/** Receives every byte of the input, also after the last record; null if nobody needs them. */
export type OnBytes = ((chunk: Uint8Array) => void) | null;

export interface InputParts {
  readonly source: ByteSource;
  readonly shape: TableShape;
  /** The detected format, for people: `CSV, delimiter ','`. */
  readonly detected: string;
  readonly warnings: readonly Phrase[];
  /** Used to refuse a table with too many misfits; null if their number does not matter. */
  readonly guess: TableGuess | null;
  readonly limit: number | null;
  /** Reads the records in batches. `wanted`: the columns whose cells are needed; null for all. */
  openPass(
    onBytes: OnBytes,
    wanted: readonly number[] | null,
  ): { readonly batches: AsyncIterable<readonly Row[]>; seen(): PassFacts };
  close(): Promise<void>;
  /** Throws if the sample has no columns to choose from. */
  assertSample?(sample: readonly (readonly string[])[]): void;
}

/** A table that can be read several times. Whoever opens it closes it. */
export class Input {
  readonly name: string;
  readonly shape: TableShape;
  readonly detected: string;
  /** Sentences about oddities; grows until the first `rows()` has ended. */
  readonly warnings: Phrase[];
  /** Null until the first `rows()` has ended; later passes must find the same content. */
  #content: {
    /** SHA-256, in hex, of the decompressed bytes before decoding. */
    readonly contentHash: string;
    /** All columns of an output; for JSON, the keys in the order of their first appearance. */
    readonly columns: readonly string[];
    /** Null unless the rows are an array inside an object that was read to its end. */
    readonly around: Around | null;
  } | null = null;

  private constructor(
    private readonly parts: InputParts,
    /** Cells of the first readable records, at most 1,000, from which the columns are chosen. */
    readonly sample: readonly (readonly string[])[],
    readonly firstLines: readonly number[],
    /** For JSON, the columns of the sample; `content` has all of them. */
    columns: readonly string[],
    isEmpty: boolean,
    private readonly stop: AbortSignal | undefined,
  ) {
    this.name = parts.source.name;
    this.shape = { ...parts.shape, columns };
    this.detected = parts.detected;
    this.warnings = [...parts.warnings, ...(isEmpty ? ['the table has a header and no rows'] : [])];
  }

  /** Reads the sample. `stop` ends later passes. Throws the errors of `assertSample` and `rows`. */
  static async of(parts: InputParts, stop?: AbortSignal): Promise<Input> {
    const pass = parts.openPass(null, null);
    const cells: (readonly string[])[] = [];
    const firstLines: number[] = [];
    let rowCount = 0;
    let chars = 0;
    for await (const rows of pass.batches) {
      rowCount += rows.length;
      for (const row of rows) {
        if (row.problem !== null || chars > MAX_SAMPLE_CHARS) continue;
        cells.push(row.cells);
        if (firstLines.length < FIRST_ROWS) firstLines.push(row.line);
        chars += row.raw.length;
      }
      // Do not search a file of bad records to its end.
      if (cells.length >= MAX_SAMPLE_ROWS || chars > MAX_SAMPLE_CHARS || rowCount >= MAX_SAMPLE_ROWS * 20)
        break;
    }
    parts.assertSample?.(cells);
    const { columns = parts.shape.columns } = pass.seen();
    return new Input(parts, cells.slice(0, MAX_SAMPLE_ROWS), firstLines, columns, rowCount === 0, stop);
  }

  /**
   * Reads the file in batches of at most a few thousand rows. Texts share memory with a whole
   * chunk: copy those that you keep. `wanted`: the columns whose cells are needed; null for all.
   * Throws `input-ragged` at the end of the first pass, `input-changed` if a later one differs.
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

  /** Returns what the first pass has shown. Throws before that pass has ended. */
  content() {
    if (this.#content === null) throw new Error('content() is known only after rows() has ended');
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
