/**
 * Which records are rows of the table: those with as many cells as it has columns, and those that
 * differ from it only as the file does by habit (every row ends in a delimiter, blank cells at the
 * end are left out). Any other record may have its cells in the wrong columns, and a wrong cell
 * would be bought. Pure.
 */

import { FailFileError } from '../core/errors.js';
import type { Ragged, Row } from '../core/table.js';
import { learnColumns } from './cell-kinds.js';

type RowVerdict =
  /** `missing` cells at the end are blank; `surplus` cells beyond the last column are left out. */
  | { readonly type: 'row'; readonly missing: number; readonly surplus: number }
  | { readonly type: 'misfit'; readonly problem: string };

export interface TableFit {
  /** Columns of the table, those included that the header does not have. */
  readonly columnCount: number;
  /** Nameless columns that the header lacks, because the rows end in so many delimiters more. */
  readonly addedColumns: number;
  judge(cells: readonly string[]): RowVerdict;
}

interface FitInput {
  /** Cells of the header; null where there is none. */
  readonly header: readonly string[] | null;
  /** Cells of sampled records below it. */
  readonly rows: readonly (readonly string[])[];
  readonly ragged: Ragged | null;
}

const FITS: RowVerdict = { type: 'row', missing: 0, surplus: 0 };

/**
 * A nameless column with fewer filled cells than this is an empty one: what stands in it does not
 * belong there.
 */
const EMPTY_BELOW = 0.2;
/** Below this share short rows are a few damaged ones. */
const SHORT_BELOW = 0.03;
/** From this share on a width of rows is one of the file's habits. */
const HABIT_FROM = 0.1;
/** Fewer rows do not show what a column holds. */
const LEAST_ROWS = 4;

export function fitTable({ header, rows, ragged }: FitInput): TableFit {
  const commonest = commonestWidth(rows);
  const columnCount = countColumns(header, rows, commonest?.width ?? 1);
  const addedColumns = header === null ? 0 : columnCount - header.length;
  /** The width of most rows, where that is not the table's. */
  const usualWidth = commonest !== null && commonest.count > rows.length / 2 ? commonest.width : columnCount;
  const columns = learnColumns(
    rows.filter((cells) => cells.length <= columnCount),
    columnCount,
  );
  const emptyFrom = firstEmptyColumn({ header, rows, columnCount, usualWidth }, columns.isMuddled);
  const isTrimmed = ragged !== 'invalid' && !columns.isMuddled && leavesBlanksOut(rows, columnCount);
  const shorter = rows.filter((cells) => cells.length < columnCount).length;
  /** Rows as wide as the table have nothing to be doubted for: hardly a row is shorter by habit. */
  const isRegular = shorter < Math.max(2, rows.length * SHORT_BELOW);
  const named = columnCount - addedColumns;
  const asNamed = rows.filter((cells) => cells.length === named && !isBlank(cells[named - 1] ?? '')).length;
  /** The header's own width, where many rows lack the columns that were added to it. */
  const ownWidth = addedColumns > 0 && asNamed >= Math.max(2, rows.length * HABIT_FROM) ? named : null;

  const misfit = (cells: readonly string[]): RowVerdict => ({
    type: 'misfit',
    problem: raggedProblem(cells.length, columnCount),
  });
  const isInPlace = (cells: readonly string[]) => !cells.some((cell, at) => columns.isForeign(at, cell));
  /** One cell too many: a cell is unlike its column, and the one after it is like it. */
  const isShifted = (cells: readonly string[]) =>
    cells.some((cell, at) => columns.isForeign(at, cell) && columns.isNative(at, cells[at + 1] ?? ''));

  function judgeWhole(cells: readonly string[]): RowVerdict {
    const stray = cells.findIndex((cell, at) => at >= emptyFrom && !isBlank(cell));
    // Where no column has a name, a value in a blank one may be its first.
    if (stray >= 0 && (header !== null || !isInPlace(cells))) {
      return { type: 'misfit', problem: `cell ${stray + 1} is filled where the table has a blank column` };
    }
    // Where most rows end sooner, one that is whole may have a cell too many.
    const isUnusual = usualWidth < columnCount && usualWidth >= emptyFrom;
    if (isRegular || (isUnusual ? isInPlace(cells) : !isShifted(cells))) return FITS;
    return { type: 'misfit', problem: 'the cells do not stand in their columns: one is too many' };
  }

  const widths = rows.map((cells) => cells.length).sort((a, b) => a - b);
  /** Whether the column after so many cells is one that several rows leave out. */
  const isLeftOut = (width: number) =>
    (widths[Math.max(2, Math.ceil(rows.length / 100)) - 1] ?? columnCount) <= width;

  function isTaken(cells: readonly string[]): boolean {
    const width = cells.length;
    if (width === ownWidth) return isInPlace(cells);
    const endsBlank = isBlank(cells[width - 1] ?? '');
    if (width === usualWidth && width >= emptyFrom) return !isShifted(cells);
    if (endsBlank && width !== usualWidth) return false;
    // Only cells of empty columns are missing.
    if (width >= emptyFrom) return isInPlace(cells);
    return isTrimmed && isLeftOut(width) && isInPlace(cells);
  }

  function judge(cells: readonly string[]): RowVerdict {
    const missing = columnCount - cells.length;
    if (ragged === 'take' && cells.length > 0) {
      return { type: 'row', missing: Math.max(0, missing), surplus: Math.max(0, -missing) };
    }
    if (missing === 0) return isRegular && emptyFrom === columnCount ? FITS : judgeWhole(cells);
    if (missing < 0 || cells.length === 0 || !isTaken(cells)) return misfit(cells);
    return { type: 'row', missing, surplus: 0 };
  }

  return { columnCount, addedColumns, judge };
}

/** Why a record of so many cells is no row of the table. */
export function raggedProblem(cells: number, columns: number): string {
  return `${count(cells, 'cell')} where the table has ${count(columns, 'column')}`;
}

/**
 * The header's width, or that of most rows where these only have blank cells more. One such row
 * proves no habit: it may be one with a cell too many. Nor do rows that are cut inside their text,
 * as ", Inc." is.
 */
function countColumns(
  header: readonly string[] | null,
  rows: readonly (readonly string[])[],
  usual: number,
): number {
  if (header === null) return usual;
  if (usual <= header.length) return header.length;
  const longer = rows.filter((cells) => cells.length === usual && hasBlankEnd(cells, header.length));
  const isHabit = longer.length >= 2 && longer.length > rows.length / 2;
  return isHabit && !areCut(header, longer) && !isMuddled(longer, usual) ? usual : header.length;
}

/**
 * Whether the columns hold a bit of everything, as they do where delimiters are too many in any
 * place.
 */
function isMuddled(rows: readonly (readonly string[])[], columnCount: number): boolean {
  const columns = learnColumns(rows, columnCount);
  if (columns.isMuddled || rows.length < LEAST_ROWS) return columns.isMuddled;
  const foreign = rows.filter((cells) => cells.some((cell, at) => columns.isForeign(at, cell)));
  return foreign.length > rows.length / 3;
}

/** Whether the cells from `from` on are blank. */
export function hasBlankEnd(cells: readonly string[], from: number): boolean {
  return cells.slice(from).every(isBlank);
}

interface Widths extends Omit<FitInput, 'ragged'> {
  readonly columnCount: number;
  readonly usualWidth: number;
}

/**
 * The first of those columns at the end that have no name and hardly a filled cell, or that most
 * rows do not have.
 */
function firstEmptyColumn({ header, rows, columnCount, usualWidth }: Widths, isMuddled: boolean): number {
  let from = columnCount;
  while (from > 1 && isBlank(header?.[from - 1] ?? '')) {
    const filled = rows.filter((cells) => cells.length <= columnCount && !isBlank(cells[from - 1] ?? ''));
    const isFilled =
      header === null
        ? filled.length > 0
        : !isMuddled &&
          from <= usualWidth &&
          filled.length >= rows.length * EMPTY_BELOW &&
          !areCut(header, filled);
    if (isFilled) break;
    from -= 1;
  }
  return from;
}

/** Whether most rows are cut inside a text, as "Acme, Inc." is without quotes. */
function areCut(header: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const beginsBlank = (cell: string) => /^\s+\S/.test(cell);
  if (header.slice(1).some(beginsBlank)) return false;
  return rows.filter((cells) => cells.slice(1).some(beginsBlank)).length > rows.length / 2;
}

/**
 * Whether the file leaves out blank cells at the end of its rows: many rows are short, and hardly
 * one ends in a blank cell.
 */
function leavesBlanksOut(rows: readonly (readonly string[])[], columnCount: number): boolean {
  const endsBlank = (cells: readonly string[]) => cells.length > 1 && isBlank(cells.at(-1) ?? '');
  const short = rows.filter((cells) => cells.length < columnCount && !endsBlank(cells)).length;
  return (
    short >= Math.max(2, rows.length / 5) && rows.filter(endsBlank).length <= Math.max(1, rows.length / 20)
  );
}

/** The width of most rows; null without rows. */
function commonestWidth(
  rows: readonly (readonly string[])[],
): { readonly width: number; readonly count: number } | null {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  const [first] = [...counts].sort((a, b) => b[1] - a[1]);
  return first === undefined ? null : { width: first[0], count: first[1] };
}

function isBlank(cell: string): boolean {
  return cell.trim() === '';
}

function count(n: number, word: string): string {
  return n === 1 ? `1 ${word}` : `${n} ${word}s`;
}

interface Misfits {
  readonly count: number;
  /** All rows of the table, these included. */
  readonly rows: number;
  readonly first: { readonly line: number; readonly problem: string } | null;
}

interface MisfitTally {
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
