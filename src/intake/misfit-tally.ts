/**
 * How many rows do not fit the table: the sentences about them, and from which share on they stop a run, because then the
 * delimiter or the whole file is more likely wrong than a few rows.
 */
import { FailFileError } from '../core/errors.js';
import type { Row } from '../core/table.js';

export interface Misfits {
  readonly count: number;
  /** All rows of the table, these included. */
  readonly rows: number;
  readonly first: { readonly line: number; readonly problem: string } | null;
}

export interface MisfitTally {
  note(row: Row): void;
  misfits(): Misfits;
  notes(): string[];
}

export function createMisfitTally(): MisfitTally {
  let rows = 0;
  let misfits = 0;
  let first: Misfits['first'] = null;
  let short = { count: 0, line: 0 };
  let long = { count: 0, line: 0 };
  const more = (tally: typeof short, line: number) =>
    tally.count === 0 ? { count: 1, line } : { ...tally, count: tally.count + 1 };

  return {
    note({ line, problem, isMisfit, shortBy, surplus }) {
      rows += 1;
      if (isMisfit) {
        misfits += 1;
        first ??= { line, problem: problem ?? '' };
      }
      if (shortBy !== undefined) short = more(short, line);
      if (surplus !== undefined) long = more(long, line);
    },
    misfits: () => ({ count: misfits, rows, first }),
    notes() {
      const notes: string[] = [];
      if (short.count > 0) {
        notes.push(`${rowsText(short)} shorter than the table: the cells missing at the end are blank`);
      }
      if (long.count > 0) {
        notes.push(`${rowsText(long)} longer than the table: read by position, and kept whole besides`);
      }
      if (first !== null) {
        const { line, problem } = first;
        notes.push(
          `${rowsText({ count: misfits, line })} invalid, for not fitting the table (${problem}); --ragged take reads such rows by position`,
        );
      }
      return notes;
    },
  };
}

function rowsText({ count, line }: { readonly count: number; readonly line: number }): string {
  return count === 1 ? `1 row (line ${line}) is` : `${count} rows (first line ${line}) are`;
}

/** A larger share of rows that do not fit stops the run. */
const SHARE_AT_MOST = 0.05;

export interface TableGuess {
  readonly name: string;
  /** As people read it, with whether it was detected. */
  readonly delimiter: string;
  /** What else was seen that may be the cause; null: nothing. */
  readonly suspicion: string | null;
}

/** Throws FailFileError `input-ragged` when too many rows do not fit. */
export function assertFew({ count, rows, first }: Misfits, guess: TableGuess): void {
  if (first === null || count <= rows * SHARE_AT_MOST) return;
  const { name, delimiter, suspicion } = guess;
  throw new FailFileError({
    code: 'input-ragged',
    subject: `${name}, ${count} of ${rows} ${rows === 1 ? 'row' : 'rows'} by delimiter ${delimiter}, first line ${first.line} (${first.problem}${suspicion === null ? '' : `; ${suspicion}`})`,
    todo: 'enclose cells that hold the delimiter in double quotes, or name another --delimiter, or say --ragged invalid to go on without these rows, or --ragged take to read them by position',
  });
}
