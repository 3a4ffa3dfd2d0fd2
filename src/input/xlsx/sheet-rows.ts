/** The cells of a sheet, row by row: values, number formats, positions. */
import type { RowReason } from '../../core/row-reason.js';
import { shortName } from '../../core/terminal-text.js';
import { OverBounds } from '../binary-table.js';
import type { ZipArchive } from '../zip-archive.js';
import { createCells } from './cell-json.js';
import { createPlainCells } from './plain-cells.js';
import { FEWER_COLUMNS, RowBytes } from './row-bytes.js';
import { type SharedStrings, SPLIT } from './shared-strings.js';
import type { Workbook } from './workbook.js';
import { parseXml } from './xml-feed.js';
import { addText, MOST_CELL_CHARS } from './xml-text.js';

/** The last row of a sheet (Excel specifications and limits). */
export const LAST_SHEET_ROW = 1_048_576;
/** `XFD`, from the same source. */
export const LAST_SHEET_COLUMN = 16_384;
/** Characters of the rows that are made at once: many large ones may be made of few texts. */
const BATCH_CHARS = 512 * 1024;

export interface SheetRow {
  /** In the sheet, from 1. */
  readonly line: number;
  /** The cells as a JSON array of `TypedCell`, without empty ones at the end. */
  readonly raw: string;
  /** Columns up to the last filled one. */
  readonly width: number;
  /** By column, of those that are wanted; the others are blank. */
  readonly texts: readonly string[];
  /** No cell shows anything. */
  readonly isBlank: boolean;
  /** A formula has no stored result: the program that wrote it does not calculate. */
  readonly lacksResult: boolean;
  /** Why it is not a row: a cell or all of them are too long; its cells are the first ones, cut. */
  readonly problem: RowReason | null;
}

/** Of cells that show something, for sure: numbers, truth values, most texts. */
const INK = /^[^"{]|^"[!#-[\]-~]/;

const OVER_CELL: RowReason = { code: 'long_cell', most: MOST_CELL_CHARS };

/**
 * Rows with any cell, in batches. `wanted`: columns whose texts are needed; null: all. Throws Error
 * for broken XML and for what is out of bounds.
 */
export async function* readSheetRows(
  chunks: AsyncIterable<Buffer>,
  book: Workbook,
  strings: SharedStrings | null,
  wanted: readonly number[] | null,
): AsyncGenerator<readonly SheetRow[]> {
  const { formatOfStyle } = book;
  const cellOf = createCells(book, strings);
  const row = new RowBytes(book.formats);
  const takePlain = createPlainCells(row, book, strings, cellOf);
  let rows: SheetRow[] = [];
  let chars = 0;
  let line = 0;
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
    const cell = cellOf(type, value, format);
    // Colour alone does not make a cell: headers are often coloured to the sheet's last column.
    if (cell === null) return;
    row.addCell(row.column, cell.json);
    row.hasInk ||= INK.test(cell.json);
    if (cell.isCut) row.problem ??= OVER_CELL;
  };

  const finishRow = () => {
    const { width, lacksResult, problem } = row;
    if (width === 0 && problem === null) return;
    const raw = row.raw();
    const texts = row.texts(wanted);
    const isBlank = !row.hasInk && row.texts(null).every((text) => text.trim() === '');
    rows.push({ line, raw, width, texts, isBlank, lacksResult, problem });
    chars += raw.length;
  };

  const parsing = parseXml(chunks, {
    open(name, attributes) {
      switch (name) {
        case 'c': {
          if (!isRow) return;
          const reference = attributes.find('r');
          row.column = reference < 0 ? row.column + 1 : columnOf(attributes.xml, reference);
          type = attributes.get('t') ?? 'n';
          // The first style is that of cells without one.
          format = formatOfStyle[Number(attributes.get('s') ?? 0)] ?? 0;
          value = '';
          isFormula = false;
          isInline = false;
          return;
        }
        case 'v':
          isValue = !isInline && row.column >= 0;
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
          const number = attributes.get('r');
          line = Number(number ?? line + 1);
          if (line > LAST_SHEET_ROW)
            throw new OverBounds(`row ${line} is beyond the last row of a sheet, ${LAST_SHEET_ROW}`, SPLIT);
          if (!(line >= 1)) throw new Error(`it has a row ${shortName(String(number))}`);
          row.begin(line);
        }
      }
    },
    text(text) {
      if (isValue) value = addText(value, text);
    },
    wantsText: () => isValue,
    close(name) {
      isValue = false;
      if (name === 'c' && isRow) {
        // The result of type `str` may be an empty text.
        if (isFormula && value === '' && type !== 'str') row.lacksResult = true;
        if (!row.isOver) place();
      } else if (name === 'rPh') isPhonetic = false;
      else if (name === 'row' && isRow) {
        isRow = false;
        finishRow();
      }
    },
    take: (parent, xml, from, end) => (parent === 'row' && isRow ? takePlain(xml, from, end) : from),
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

/** Position from 0 of the column of `AB12` at `from`. */
function columnOf(xml: Buffer, from: number): number {
  let column = 0;
  for (let at = from; ; at += 1) {
    const letter = ((xml[at] as number) & 0xdf) - 64;
    if (!(letter >= 1 && letter <= 26 && column <= LAST_SHEET_COLUMN)) break;
    column = column * 26 + letter;
  }
  const shown = () => xml.toString('utf8', from, from + 20).replace(/["'].*/s, '');
  if (column > LAST_SHEET_COLUMN)
    throw new OverBounds(`cell ${shown()} is beyond the last column of a sheet, XFD`, FEWER_COLUMNS);
  if (column === 0) throw new Error(`it has a cell ${shown()}`);
  return column - 1;
}

const ROWS_COUNTED_AT_ONCE = 20_000;

/**
 * Counts the rows of a sheet that we wrote, independent of `readSheetRows`. Numbers to be added.
 * Throws Error for a damaged file.
 */
export async function* countSheetRows(archive: ZipArchive, part: string): AsyncGenerator<number> {
  // The texts of cells escape `<`, so this is always a row.
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
