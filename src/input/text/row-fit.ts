/** Judges which records fit the table, so that no cell of a wrong column is bought. */
import { commonest, countEach } from '../../core/counter.js';
import { RunError } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { type RowReason, sayRowReason } from '../../core/row-reason.js';
import type { Ragged, Row } from '../../core/table.js';
import { ColumnKinds } from '../cell-kinds.js';

type Cells = readonly string[];

interface FitInput {
  readonly header: Cells | null;
  readonly rows: readonly Cells[];
  readonly ragged: Ragged | null;
}

export type TableFit = ReturnType<typeof fitTable>;

/** A nameless column with a smaller share of filled cells counts as empty. */
const EMPTY_BELOW = 0.2;
/** A smaller share of short rows counts as damage. */
const SHORT_BELOW = 0.03;
/** A width with at least this share of the rows is a habit of the file. */
const HABIT_FROM = 0.1;
/** Fewer rows do not show what a column holds. */
const LEAST_ROWS = 4;

/** Finds the width of a table in a sample, and the rule by which its rows fit. */
export function fitTable({ header, rows, ragged }: FitInput) {
  const [width, widthCount] = commonest(countEach(rows.map(({ length }) => length))) ?? [1, 0];
  const columnCount = countColumns(header, rows, width);
  /** Columns that the header lacks, because the rows end in more delimiters. */
  const addedColumns = header === null ? 0 : columnCount - header.length;
  /** The width of most rows, or else that of the table. */
  const usualWidth = widthCount > rows.length / 2 ? width : columnCount;
  const fitting = rows.filter(({ length }) => length <= columnCount);
  const columns = new ColumnKinds(fitting, columnCount);
  const emptyFrom = firstEmptyColumn();
  /** True if the header lacks the last columns, where all rows are blank. */
  const lacksLast =
    rows.length >= LEAST_ROWS && fitting.every((row) => hasBlankEnd(row, header?.length ?? 0));
  const isTrimmed = ragged !== 'invalid' && !columns.isMixed && leavesBlanksOut(rows, columnCount);
  const shorter = rows.filter(({ length }) => length < columnCount).length;
  /** If every row is as wide as the header, no cell can be in a wrong place. */
  const isUniform = addedColumns === 0 && rows.every(({ length }) => length === columnCount);
  /** If hardly a row is short, rows as wide as the table are not doubted. */
  const isRegular = shorter < Math.max(2, rows.length * SHORT_BELOW);
  const named = columnCount - addedColumns;
  const asNamed = rows.filter(({ length, [named - 1]: last = '' }) => length === named && !isBlank(last));
  /** The width of the header, if many rows lack the added columns too. */
  const ownWidth = addedColumns > 0 && asNamed.length >= Math.max(2, rows.length * HABIT_FROM) ? named : null;
  const widths = rows.map(({ length }) => length).sort((one, other) => one - other);
  /** The width of the narrowest rows, without the one percent that may be damaged. */
  const leastWidth = widths[Math.max(2, Math.ceil(rows.length / 100)) - 1] ?? columnCount;

  /** Finds the first of the last columns that have no name, and no value in most rows. */
  function firstEmptyColumn(): number {
    let from = columnCount;
    for (; from > 1 && isBlank(header?.[from - 1] ?? ''); from -= 1) {
      const filled = fitting.filter((cells) => !isBlank(cells[from - 1] ?? ''));
      if (header === null && filled.length > 0) break;
      const isUsual = from <= usualWidth && filled.length >= rows.length * EMPTY_BELOW;
      if (header !== null && !columns.isMixed && isUsual && !areCut(header, filled)) break;
    }
    return from;
  }

  const isInPlace = (cells: Cells) => !cells.some((cell, at) => columns.isForeign(at, cell));
  /** True if a cell is unlike its column and the next cell fits there: one cell too many. */
  const isShifted = (cells: Cells) =>
    cells.some((cell, at) => columns.isForeign(at, cell) && columns.isNative(at, cells[at + 1] ?? ''));

  /** Returns the problem of a row as wide as the table, or null. */
  function findFault(cells: Cells): RowReason | null {
    const stray = cells.findIndex((cell, at) => at >= emptyFrom && !isBlank(cell));
    // Without a header, a value in a blank column may be its first.
    if (stray >= 0 && (header !== null || !isInPlace(cells))) {
      return { code: 'blank_column', cell: stray + 1 };
    }
    // If most rows end sooner, a whole one may have a cell too many.
    const isUnusual = usualWidth < columnCount && usualWidth >= emptyFrom;
    if (isRegular || (isUnusual ? isInPlace(cells) : !isShifted(cells))) return null;
    return { code: 'misplaced_cells' };
  }

  /** True for a short row like many others. */
  function isTaken(cells: Cells): boolean {
    const width = cells.length;
    if (width === ownWidth) return isInPlace(cells);
    if (width === usualWidth && width >= emptyFrom) return !isShifted(cells);
    if (isBlank(cells[width - 1] ?? '') && width !== usualWidth) return false;
    // A row that ends after `emptyFrom` lacks cells of empty columns only.
    return (width >= emptyFrom || (isTrimmed && leastWidth <= width)) && isInPlace(cells);
  }

  /** Returns why a record is not a row, or null if it is one. */
  function findMisfit(cells: Cells): RowReason | null {
    const { length } = cells;
    if (ragged === 'take') return null;
    if (length === columnCount) {
      return isUniform || (isRegular && emptyFrom === columnCount) ? null : findFault(cells);
    }
    if (length < columnCount && isTaken(cells)) return null;
    // A blank row has no cell in a wrong column.
    if (cells.every(isBlank)) return null;
    return { code: 'cell_count', cells: length, columns: columnCount };
  }

  return { columnCount, addedColumns, lacksLast, findMisfit };
}

/**
 * Returns the header's width, or that of most rows if their further cells are blank. A single such
 * row may have a cell too many, and rows cut inside their text (", Inc.") prove no habit.
 */
function countColumns(header: Cells | null, rows: readonly Cells[], usual: number): number {
  if (header === null) return usual;
  if (usual <= header.length) return header.length;
  const longer = rows.filter((cells) => cells.length === usual && hasBlankEnd(cells, header.length));
  const isHabit = longer.length >= 2 && longer.length > rows.length / 2;
  return isHabit && !areCut(header, longer) && !areMixed(longer, usual) ? usual : header.length;
}

/** True if columns hold a bit of everything, as when stray delimiters shift cells. */
function areMixed(rows: readonly Cells[], columnCount: number): boolean {
  const columns = new ColumnKinds(rows, columnCount);
  if (columns.isMixed || rows.length < LEAST_ROWS) return columns.isMixed;
  const foreign = rows.filter((cells) => cells.some((cell, at) => columns.isForeign(at, cell)));
  return foreign.length > rows.length / 3;
}

export function hasBlankEnd(cells: Cells, from: number): boolean {
  return cells.slice(from).every(isBlank);
}

/** True if the record is cut inside a text, like "Acme, Inc." without quotes. */
export function isCut(cells: Cells): boolean {
  return cells.slice(1).some((cell) => /^\s+\S/.test(cell));
}

function areCut(header: Cells, rows: readonly Cells[]): boolean {
  return !isCut(header) && rows.filter(isCut).length > rows.length / 2;
}

/** True if rows leave out blank cells at the end: many are short, hardly one ends blank. */
function leavesBlanksOut(rows: readonly Cells[], columnCount: number): boolean {
  const endsBlank = (cells: Cells) => cells.length > 1 && isBlank(cells.at(-1) ?? '');
  const short = rows.filter((cells) => cells.length < columnCount && !endsBlank(cells)).length;
  const ending = rows.filter(endsBlank).length;
  return short >= Math.max(2, rows.length / 5) && ending <= Math.max(1, rows.length / 20);
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

/** A larger share of misfits stops the run. */
const SHARE_AT_MOST = 0.05;
/** This many misfits are accepted up to a larger share. */
const FEW = 2;
const SHARE_OF_FEW = 0.25;
/** Headings are accepted with this many fitting rows for each. */
const LEAST_BELOW_HEADINGS = 10;
/** Remarks at the end are accepted with this many fitting rows for each. */
const LEAST_ABOVE_REMARKS = 2;

export interface TableGuess {
  readonly name: string;
  /** As shown to people, with `(detected)` if it was. */
  readonly delimiter: string;
  /** Another possible cause, or null. */
  readonly suspicion: string | null;
}

/** Counts the rows that do not fit, or fit only by habit. */
export class MisfitTally {
  #rows = 0;
  readonly #misfits: Tally = { count: 0, line: 0, problem: null };
  readonly #short: Tally = { ...this.#misfits };
  readonly #long: Tally = { ...this.#misfits };
  /** Rows of a single cell. */
  #headings = 0;
  /** Headings after the last other row. */
  #remarks = 0;

  note({ line, problem, isMisfit, shortBy, surplus }: Row): void {
    this.#rows += 1;
    const isHeading = problem?.code === 'cell_count' && problem.cells === 1;
    if (isHeading) this.#headings += 1;
    this.#remarks = isHeading ? this.#remarks + 1 : 0;
    const habit = shortBy !== undefined ? this.#short : surplus !== undefined ? this.#long : null;
    const tally = isMisfit ? this.#misfits : habit;
    if (tally?.count === 0) Object.assign(tally, { line, problem });
    if (tally !== null) tally.count += 1;
  }

  notes(): Phrase[] {
    const { problem } = this.#misfits;
    const misfit = phrase`invalid, because the cells do not fit the columns (${
      problem === null ? '' : sayRowReason(problem)
    }); ${{ set: { ragged: 'take' } }} reads such rows by position`;
    return [
      ...noteOf(this.#short, 'shorter than the table: the missing cells at the end are taken as blank'),
      ...noteOf(this.#long, 'longer than the table: read by position, and kept whole in the output'),
      ...noteOf(this.#misfits, misfit),
    ];
  }

  /** Throws RunError `input-ragged` when too many rows do not fit. */
  assertFew({ name, delimiter, suspicion }: TableGuess): void {
    const { count, line, problem } = this.#misfits;
    const most = Math.max(this.#rows * SHARE_AT_MOST, Math.min(FEW, this.#rows * SHARE_OF_FEW));
    const fitting = this.#rows - count;
    const remarks = fitting >= this.#remarks * LEAST_ABOVE_REMARKS ? this.#remarks : 0;
    const harmless = fitting >= this.#headings * LEAST_BELOW_HEADINGS ? this.#headings : remarks;
    if (problem === null || count - harmless <= most) return;
    const cause = [sayRowReason(problem), ...(suspicion === null ? [] : [suspicion])].join('; ');
    const rows = `${count} of ${countOf(this.#rows, 'row')} with delimiter ${delimiter}`;
    const subject = `${name}, ${rows}, first in line ${line} (${cause})`;
    const another = phrase`set another ${{ setting: 'delimiter' }}`;
    const without = phrase`use ${{ set: { ragged: 'invalid' } }} to continue without these rows`;
    const todo = phrase`put double quotes around cells that contain the delimiter, or ${another}, or ${
      without
    }, or ${{ set: { ragged: 'take' } }} to read them by position`;
    throw new RunError({ code: 'input-ragged', subject, todo });
  }
}

/** A number of rows, with line and problem of the first. */
interface Tally {
  count: number;
  line: number;
  problem: RowReason | null;
}

function noteOf({ count, line }: Tally, what: Phrase): Phrase[] {
  if (count === 0) return [];
  if (count === 1) return [phrase`1 row (line ${line}) is ${what}`];
  return [phrase`${count} rows (first line ${line}) are ${what}`];
}
