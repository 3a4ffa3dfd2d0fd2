/** The cells of a sheet, row by row: values, number formats, positions. */
import type { RowReason } from '../../core/row-reason.js';
import { shortName } from '../../core/terminal-text.js';
import {
  type CellFormats,
  momentShown,
  serialOfIso,
  significantDigits,
  type TypedCell,
} from '../../core/typed-cell.js';
import { cutText, MAX_COLUMNS, MAX_RECORD_BYTES, OVER_RECORD } from '../../intake/record-splitter.js';
import { OverBounds } from '../binary-table.js';
import type { ZipArchive } from '../zip-archive.js';
import { type SharedStrings, SPLIT } from './shared-strings.js';
import type { Workbook } from './workbook.js';
import { addText, createXmlFeed, MOST_CELL_CHARS, unescapeXstring } from './xml-feed.js';

/** The last row of a sheet (Excel specifications and limits). */
export const LAST_SHEET_ROW = 1_048_576;
/** `XFD`, from the same source. */
export const LAST_SHEET_COLUMN = 16_384;
/** The most empty cells in a row between two filled ones: a sheet can claim any width. */
const WIDE_GAP = 256;
/** The most such empty cells in all rows together. */
const MOST_GAPS = 20_000_000;

const FEWER_COLUMNS = 'delete the cells to the right of the table, and save the workbook again';

export interface SheetRow {
  /** In the sheet, from 1. */
  readonly line: number;
  /** By column, without empty cells at the end. */
  readonly cells: readonly TypedCell[];
  /** A formula has no stored result: the program that wrote it does not calculate. Absent: none. */
  readonly lacksResult?: true;
  /** Why it is not a row: a cell or all of them are too long; `cells` are the first ones, cut. */
  readonly problem?: RowReason;
}

const OVER_CELL: RowReason = { code: 'long_cell', most: MOST_CELL_CHARS };

/** Rows with any cell, in batches. Throws Error for broken XML and for what is out of bounds. */
export async function* readSheetRows(
  chunks: AsyncIterable<Buffer>,
  { formats, formatOfStyle }: Workbook,
  strings: SharedStrings | null,
): AsyncGenerator<readonly SheetRow[]> {
  let rows: SheetRow[] = [];
  let line = 0;
  let cells: TypedCell[] = [];
  let column = -1;
  let gaps = 0;
  let type = '';
  let format = 0;
  let value = '';
  let isRow = false;
  let isValue = false;
  let isPhonetic = false;
  let isFormula = false;
  let lacksResult = false;
  let problem: RowReason | null = null;
  /** Characters of the row so far, at least. */
  let size = 0;

  const place = (whole: TypedCell, isCut: boolean) => {
    const length = typeof whole === 'string' ? whole.length : value.length;
    const isOver = isCut || length > MOST_CELL_CHARS;
    if (isOver) problem ??= OVER_CELL;
    const cell =
      isOver && length > MOST_CELL_CHARS
        ? cutText(typeof whole === 'string' ? whole : value, MOST_CELL_CHARS)
        : whole;
    // Colour alone does not make a cell: headers are often coloured to the sheet's last column.
    if (cell === null) return;
    if (column >= MAX_COLUMNS) {
      throw new OverBounds(`row ${line} has a cell beyond the first ${MAX_COLUMNS} columns`, FEWER_COLUMNS);
    }
    const gap = column - cells.length;
    if (gap > WIDE_GAP) gaps += gap;
    if (gaps > MOST_GAPS) throw new OverBounds('its filled cells are too far apart', FEWER_COLUMNS);
    size += Math.min(length, MOST_CELL_CHARS) + Math.max(0, gap) * 5;
    if (size > MAX_RECORD_BYTES) {
      problem = OVER_RECORD;
      return;
    }
    while (cells.length < column) cells.push(null);
    cells[column] = cell;
  };

  const feed = createXmlFeed({
    open(name, attributes) {
      if (name === 'row') {
        isRow = true;
        line = Number(attributes.r ?? line + 1);
        if (line > LAST_SHEET_ROW)
          throw new OverBounds(`row ${line} is beyond the last row of a sheet, ${LAST_SHEET_ROW}`, SPLIT);
        if (!(line >= 1)) throw new Error(`it has a row ${shortName(String(attributes.r))}`);
        cells = [];
        column = -1;
        lacksResult = false;
        problem = null;
        size = 0;
      } else if (name === 'c' && isRow) {
        column = attributes.r === undefined ? column + 1 : columnOf(attributes.r);
        type = attributes.t ?? 'n';
        format = formatOfStyle[Number(attributes.s ?? -1)] ?? 0;
        value = '';
        isFormula = false;
      } else if (name === 'rPh') isPhonetic = true;
      else if (name === 'f') isFormula = true;
      else isValue = (name === 'v' || name === 't') && !isPhonetic && column >= 0;
    },
    text(text) {
      if (isValue) value = addText(value, text);
    },
    close(name) {
      isValue = false;
      if (name === 'c' && isRow) {
        // The result of type `str` may be an empty text.
        if (isFormula && value === '' && type !== 'str') lacksResult = true;
        if (size <= MAX_RECORD_BYTES)
          place(
            cellOf(type, value, format, formats, strings),
            type === 's' && (strings?.isCut(Number(value)) ?? false),
          );
      } else if (name === 'rPh') isPhonetic = false;
      else if (name === 'row' && isRow) {
        isRow = false;
        if (cells.length > 0 || problem !== null)
          rows.push({
            line,
            cells,
            ...(lacksResult && { lacksResult }),
            ...(problem !== null && { problem }),
          });
      }
    },
  });

  for await (const chunk of chunks) {
    feed.write(chunk);
    if (rows.length > 0) yield rows;
    rows = [];
  }
  feed.end();
  if (rows.length > 0) yield rows;
}

/** Position from 0 of `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at += 1) {
    const letter = (reference.charCodeAt(at) & 0xdf) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  if (column > LAST_SHEET_COLUMN)
    throw new OverBounds(
      `cell ${reference.slice(0, 20)} is beyond the last column of a sheet, XFD`,
      FEWER_COLUMNS,
    );
  if (column === 0) throw new Error(`it has a cell ${reference.slice(0, 20)}`);
  return column - 1;
}

/** ECMA-376, 18.18.11: the types of cells. */
function cellOf(
  type: string,
  value: string,
  format: number,
  formats: CellFormats,
  strings: SharedStrings | null,
): TypedCell {
  switch (type) {
    case 's': {
      if (value === '') return null;
      const text = strings?.at(Number(value)) ?? null;
      if (text === null) throw new Error(`a cell refers to a text ${value.slice(0, 20)} that is missing`);
      return asText(text, format, formats.codes);
    }
    case 'inlineStr':
    case 'str':
      return asText(unescapeXstring(value), format, formats.codes);
    case 'b':
      return value === '' ? null : value === '1' || value.toLowerCase() === 'true';
    case 'e':
      return value === '' ? null : { e: value };
    case 'd':
      return value === '' ? null : dateCell(value, format, formats);
    default:
      return value.trim() === '' ? null : numberCell(value.trim(), format);
  }
}

function asText(text: string, format: number, codes: readonly string[]): TypedCell {
  if (text === '') return null;
  return codes[format] === '@' ? { s: text, f: format } : text;
}

/** A date as ISO text, as its serial number where its number format can show that. */
function dateCell(iso: string, format: number, { codes, is1904 }: CellFormats): TypedCell {
  const serial = momentShown(codes[format] ?? '') === null ? null : serialOfIso(iso, is1904);
  return serial === null ? { t: iso } : { n: serial, f: format };
}

function numberCell(text: string, format: number): TypedCell {
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  // 17 digits identify a double; a number with more digits was not a double in its source.
  const isLong = text.length > 17 && significantDigits(text) > 17;
  const n = isLong && String(number) !== text ? text : number;
  if (format > 0) return { n, f: format };
  return typeof n === 'number' ? n : { n };
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
