/** Judges which records fit the table: a cell in a wrong column would be bought. */

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

/** A nameless column with a smaller share of filled cells is empty: nothing belongs there. */
const EMPTY_BELOW = 0.2;
/** Below this share short rows are a few damaged ones. */
const SHORT_BELOW = 0.03;
/** From this share on a width of rows is one of the file's habits. */
const HABIT_FROM = 0.1;
/** Fewer rows do not show what a column holds. */
const LEAST_ROWS = 4;

export function fitTable({ header, rows, ragged }: FitInput) {
  const [width, widthCount] = commonest(countEach(rows.map(({ length }) => length))) ?? [1, 0];
  /** Columns of the table, those included that the header does not have. */
  const columnCount = countColumns(header, rows, width);
  /** Nameless columns that the header lacks, because the rows end in so many delimiters more. */
  const addedColumns = header === null ? 0 : columnCount - header.length;
  /** The width of most rows, where that is not the table's. */
  const usualWidth = widthCount > rows.length / 2 ? width : columnCount;
  const fitting = rows.filter(({ length }) => length <= columnCount);
  const columns = new ColumnKinds(fitting, columnCount);
  const emptyFrom = firstEmptyColumn();
  /** Whether the columns that the header lacks are the last ones: no row has anything there. */
  const lacksLast =
    rows.length >= LEAST_ROWS && fitting.every((row) => hasBlankEnd(row, header?.length ?? 0));
  const isTrimmed = ragged !== 'invalid' && !columns.isMixed && leavesBlanksOut(rows, columnCount);
  const shorter = rows.filter(({ length }) => length < columnCount).length;
  /** Where every row is as wide as the header no cell can be in a wrong place. */
  const isUniform = addedColumns === 0 && rows.every(({ length }) => length === columnCount);
  /** Rows as wide as the table are not doubted: hardly a row is shorter by habit. */
  const isRegular = shorter < Math.max(2, rows.length * SHORT_BELOW);
  const named = columnCount - addedColumns;
  const asNamed = rows.filter(({ length, [named - 1]: last = '' }) => length === named && !isBlank(last));
  /** The header's own width, where many rows lack the columns that were added to it. */
  const ownWidth = addedColumns > 0 && asNamed.length >= Math.max(2, rows.length * HABIT_FROM) ? named : null;
  const widths = rows.map(({ length }) => length).sort((one, other) => one - other);
  /** So narrow a row may leave out the columns after it, as several others do. */
  const leastWidth = widths[Math.max(2, Math.ceil(rows.length / 100)) - 1] ?? columnCount;

  /** The first column at the end without name, and hardly filled or missing in most rows. */
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
  /** One cell too many: a cell is unlike its column, and the one after it is like it. */
  const isShifted = (cells: Cells) =>
    cells.some((cell, at) => columns.isForeign(at, cell) && columns.isNative(at, cells[at + 1] ?? ''));

  /** Of a row as wide as the table. */
  function findFault(cells: Cells): RowReason | null {
    const stray = cells.findIndex((cell, at) => at >= emptyFrom && !isBlank(cell));
    // Where no column has a name, a value in a blank one may be its first.
    if (stray >= 0 && (header !== null || !isInPlace(cells))) {
      return { code: 'blank_column', cell: stray + 1 };
    }
    // Where most rows end sooner, one that is whole may have a cell too many.
    const isUnusual = usualWidth < columnCount && usualWidth >= emptyFrom;
    if (isRegular || (isUnusual ? isInPlace(cells) : !isShifted(cells))) return null;
    return { code: 'misplaced_cells' };
  }

  /** Of a shorter row: whether it is so by habit. */
  function isTaken(cells: Cells): boolean {
    const width = cells.length;
    if (width === ownWidth) return isInPlace(cells);
    if (width === usualWidth && width >= emptyFrom) return !isShifted(cells);
    if (isBlank(cells[width - 1] ?? '') && width !== usualWidth) return false;
    // From `emptyFrom` on only cells of empty columns are missing.
    return (width >= emptyFrom || (isTrimmed && leastWidth <= width)) && isInPlace(cells);
  }

  /** Why a record is not a row; null when it is one, of any width. */
  function findMisfit(cells: Cells): RowReason | null {
    const { length } = cells;
    if (ragged === 'take') return null;
    if (length === columnCount) {
      return isUniform || (isRegular && emptyFrom === columnCount) ? null : findFault(cells);
    }
    if (length < columnCount && isTaken(cells)) return null;
    // No cell of it can be in a wrong column.
    if (cells.every(isBlank)) return null;
    return { code: 'cell_count', cells: length, columns: columnCount };
  }

  return { columnCount, addedColumns, lacksLast, findMisfit };
}

/**
 * The header's width, or that of most rows where these only have blank cells more. One such row may
 * have a cell too many, and rows cut inside their text (", Inc.") prove no habit.
 */
function countColumns(header: Cells | null, rows: readonly Cells[], usual: number): number {
  if (header === null) return usual;
  if (usual <= header.length) return header.length;
  const longer = rows.filter((cells) => cells.length === usual && hasBlankEnd(cells, header.length));
  const isHabit = longer.length >= 2 && longer.length > rows.length / 2;
  return isHabit && !areCut(header, longer) && !areMixed(longer, usual) ? usual : header.length;
}

/** Whether the columns hold a bit of everything, as where delimiters are too many in any place. */
function areMixed(rows: readonly Cells[], columnCount: number): boolean {
  const columns = new ColumnKinds(rows, columnCount);
  if (columns.isMixed || rows.length < LEAST_ROWS) return columns.isMixed;
  const foreign = rows.filter((cells) => cells.some((cell, at) => columns.isForeign(at, cell)));
  return foreign.length > rows.length / 3;
}

export function hasBlankEnd(cells: Cells, from: number): boolean {
  return cells.slice(from).every(isBlank);
}

/** Whether the record is cut inside a text, as "Acme, Inc." is without quotes. */
export function isCut(cells: Cells): boolean {
  return cells.slice(1).some((cell) => /^\s+\S/.test(cell));
}

/** Whether most rows are cut, and the header is not. */
function areCut(header: Cells, rows: readonly Cells[]): boolean {
  return !isCut(header) && rows.filter(isCut).length > rows.length / 2;
}

/** Whether blank cells at the end are left out: many rows are short, hardly one ends blank. */
function leavesBlanksOut(rows: readonly Cells[], columnCount: number): boolean {
  const endsBlank = (cells: Cells) => cells.length > 1 && isBlank(cells.at(-1) ?? '');
  const short = rows.filter((cells) => cells.length < columnCount && !endsBlank(cells)).length;
  const ending = rows.filter(endsBlank).length;
  return short >= Math.max(2, rows.length / 5) && ending <= Math.max(1, rows.length / 20);
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

/** A larger share of rows that do not fit stops the run ... */
const SHARE_AT_MOST = 0.05;
/** ... but not one or two, if they are at most one in four. */
const FEW = 2;
const SHARE_OF_FEW = 0.25;
/** Rows that fit for each heading ... */
const LEAST_BELOW_HEADINGS = 10;
/** ... and for each remark below them. */
const LEAST_ABOVE_REMARKS = 2;

export interface TableGuess {
  readonly name: string;
  /** As people read it, with whether it was detected. */
  readonly delimiter: string;
  /** Another possible cause; null: none. */
  readonly suspicion: string | null;
}

/** Counts the rows that do not fit, or fit only by habit. */
export class MisfitTally {
  #rows = 0;
  readonly #misfits: Tally = { count: 0, line: 0, problem: null };
  readonly #short: Tally = { ...this.#misfits };
  readonly #long: Tally = { ...this.#misfits };
  /** Rows of one cell, where nothing is shifted: headings of groups ... */
  #headings = 0;
  /** ... and those of them that are the last rows, remarks below the table. */
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
      ...noteOf(this.#long, 'longer than the table: read by position, and also kept whole'),
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
    throw new RunError({
      code: 'input-ragged',
      subject:
        `${name}, ${count} of ${countOf(this.#rows, 'row')} with delimiter ${delimiter}, first in ` +
        `line ${line} (${cause})`,
      todo: phrase`put double quotes around cells that contain the delimiter, or set another ${{
        setting: 'delimiter',
      }}, or use ${{ set: { ragged: 'invalid' } }} to continue without these rows, or ${{
        set: { ragged: 'take' },
      }} to read them by position`,
    });
  }
}

/** With line and problem of the first one. */
interface Tally {
  count: number;
  line: number;
  problem: RowReason | null;
}

function noteOf({ count, line }: Tally, what: Phrase): Phrase[] {
  if (count === 0) return [];
  return [
    count === 1
      ? phrase`1 row (line ${line}) is ${what}`
      : phrase`${count} rows (first line ${line}) are ${what}`,
  ];
}
