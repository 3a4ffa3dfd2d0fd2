/** Reads the rows of a sheet. */
import type { RowReason } from '../../core/row-reason.js';
import { cutText, shortName } from '../../core/terminal-text.js';
import { type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { OverBounds } from '../binary-table.js';
import {
  isLongerThan,
  KEPT_CHARS,
  MAX_COLUMNS,
  MAX_RECORD_BYTES,
  OVER_RECORD,
} from '../text/record-splitter.js';
import type { ZipArchive } from '../zip-archive.js';
import { addText, createCells, MOST_CELL_CHARS, type SharedStrings, SPLIT } from './sheet-cells.js';
import type { Workbook } from './workbook.js';
import { parseXml } from './xml-feed.js';

/** The last row of a sheet (Excel specifications and limits). */
export const LAST_SHEET_ROW = 1_048_576;
/** `XFD`, from the same source. */
export const LAST_SHEET_COLUMN = 16_384;
/** Characters of a batch; a few shared texts can make many large rows. */
const BATCH_CHARS = 512 * 1024;
/** A wider gap between two filled cells counts: a sheet can claim any width. */
const WIDE_GAP = 256;
/** The most empty cells in wide gaps of all rows together. */
const MOST_GAPS = 20_000_000;

const FEWER_COLUMNS = 'delete the cells to the right of the table, and save the workbook again';

export interface SheetRow {
  readonly line: number;
  /** The cells as a JSON array of `TypedCell`, without empty ones at the end. */
  readonly raw: string;
  /** Columns up to the last filled one. */
  readonly width: number;
  /** By column; blank for a column that is not wanted. */
  readonly texts: readonly string[];
  readonly isBlank: boolean;
  /** True if a formula has no stored result, because its program does not calculate. */
  readonly lacksResult: boolean;
  /** Set if a cell, or all together, are too long; `raw` is then cut. */
  readonly problem: RowReason | null;
}

const OVER_CELL: RowReason = { code: 'long_cell', most: MOST_CELL_CHARS };

/** Reads rows with cells. `wanted`: columns whose texts are needed. Throws Error for broken XML. */
export async function* readSheetRows(
  chunks: AsyncIterable<Buffer>,
  book: Workbook,
  strings: SharedStrings | null,
  wanted: readonly number[] | null,
): AsyncGenerator<readonly SheetRow[]> {
  const { formats, formatOfStyle } = book;
  const cellOf = createCells(book, strings);
  const isWanted = new Set(wanted);
  /** Columns up to the last one that is wanted. */
  const textWidth = wanted === null ? MAX_COLUMNS : Math.max(-1, ...wanted) + 1;
  let rows: SheetRow[] = [];
  let chars = 0;
  let gaps = 0;
  let line = 0;
  let cells: TypedCell[] = [];
  /** Characters of the row, with cells that a later one of the same place replaced. */
  let rowChars = 0;
  let column = -1;
  let lacksResult = false;
  let problem: RowReason | null = null;
  let type = '';
  let format = 0;
  let value = '';
  let isRow = false;
  let isValue = false;
  /** A text in the cell itself, which replaces its value. */
  let isInline = false;
  let isPhonetic = false;
  let isFormula = false;

  const place = () => {
    const placed = cellOf(type, value, format);
    // Colour alone makes no cell: headers are often coloured to the sheet's last column.
    if (placed === null) return;
    if (column >= MAX_COLUMNS) {
      const where = `row ${line} has a cell beyond the first ${MAX_COLUMNS} columns`;
      throw new OverBounds(where, FEWER_COLUMNS);
    }
    const gap = column - cells.length;
    if (gap > WIDE_GAP) gaps += gap;
    if (gaps > MOST_GAPS) throw new OverBounds('its filled cells are too far apart', FEWER_COLUMNS);
    while (cells.length < column) cells.push(null);
    cells[column] = placed.cell;
    rowChars += Math.min(placed.chars, MOST_CELL_CHARS);
    if (placed.chars > MOST_CELL_CHARS) problem ??= OVER_CELL;
  };

  const finishRow = () => {
    if (cells.length === 0) return;
    const whole = JSON.stringify(cells);
    if (rowChars > MAX_RECORD_BYTES || isLongerThan(whole, MAX_RECORD_BYTES)) problem = OVER_RECORD;
    const raw = problem === null ? whole : cutText(whole, KEPT_CHARS);
    const textAt = (at: number) => textOfCell(cells[at] ?? null, formats);
    const texts = cells.slice(0, textWidth).map((_cell, at) => {
      return wanted === null || isWanted.has(at) ? textAt(at) : '';
    });
    const isBlank = cells.every((_cell, at) => textAt(at).trim() === '');
    rows.push({ line, raw, width: cells.length, texts, isBlank, lacksResult, problem });
    chars += raw.length;
  };

  const parsing = parseXml(chunks, {
    open(name, attributes) {
      switch (name) {
        case 'c': {
          if (!isRow) return;
          const reference = attributes.r?.value;
          column = reference === undefined ? column + 1 : columnOf(reference);
          type = attributes.t?.value ?? 'n';
          // A cell without a style has the first one.
          format = formatOfStyle[Number(attributes.s?.value ?? 0)] ?? 0;
          value = '';
          isFormula = false;
          isInline = false;
          return;
        }
        case 'v':
          isValue = !isInline && isRow;
          return;
        case 't':
          isValue = isInline && !isPhonetic;
          return;
        case 'is':
          if (type !== 'inlineStr') return;
          isInline = true;
          value = '';
          return;
        case 'rPh':
          isPhonetic = true;
          return;
        case 'f':
          isFormula = true;
          return;
        case 'row': {
          isRow = true;
          const number = attributes.r?.value;
          line = Number(number ?? line + 1);
          if (line > LAST_SHEET_ROW)
            throw new OverBounds(`row ${line} is beyond the last row of a sheet, ${LAST_SHEET_ROW}`, SPLIT);
          if (!(line >= 1)) throw new Error(`it has a row with the number ${shortName(String(number))}`);
          cells = [];
          rowChars = 0;
          column = -1;
          lacksResult = false;
          problem = null;
        }
      }
    },
    text(text) {
      if (isValue) value = addText(value, text);
    },
    close(name) {
      isValue = false;
      if (name === 'c' && isRow) {
        // The result of type `str` may be an empty text.
        if (isFormula && value === '' && type !== 'str') lacksResult = true;
        if (rowChars <= MAX_RECORD_BYTES) place();
      } else if (name === 'rPh') isPhonetic = false;
      else if (name === 'row' && isRow) {
        isRow = false;
        finishRow();
      }
    },
    isFull: () => chars > BATCH_CHARS,
  });

  for (;;) {
    const { done } = await parsing.next();
    if (rows.length > 0) yield rows;
    if (done) return;
    rows = [];
    chars = 0;
  }
}

/** Returns the position, from 0, of the column of `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; column <= LAST_SHEET_COLUMN; at += 1) {
    const letter = (reference.charCodeAt(at) | 0x20) - 96;
    if (!(letter >= 1 && letter <= 26)) break;
    column = column * 26 + letter;
  }
  const shown = shortName(reference);
  if (column > LAST_SHEET_COLUMN)
    throw new OverBounds(`cell ${shown} is beyond the last column of a sheet, XFD`, FEWER_COLUMNS);
  if (column === 0) throw new Error(`it has a cell with the reference ${shown}`);
  return column - 1;
}

const ROWS_COUNTED_AT_ONCE = 20_000;

/** Counts the rows of a sheet that we wrote, without `readSheetRows`. Yields numbers to add up. */
export async function* countSheetRows(archive: ZipArchive, part: string): AsyncGenerator<number> {
  // Texts of cells escape `<`, so this is always a row.
  const mark = '<row ';
  let rest = '';
  let rows = 0;
  for await (const chunk of archive.read(part)) {
    const text = rest + chunk.toString('latin1');
    rows += text.split(mark).length - 1;
    rest = text.endsWith(mark) ? '' : text.slice(1 - mark.length);
    if (rows < ROWS_COUNTED_AT_ONCE) continue;
    yield rows;
    rows = 0;
  }
  yield rows;
}
