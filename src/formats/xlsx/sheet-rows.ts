/** The cells of a sheet, row by row: values, number formats, positions. */
import type { RowReason } from '../../core/row-reason.js';
import { shortName } from '../../core/terminal-text.js';
import { momentShown, serialOfIso, significantDigits, textOfCell } from '../../core/typed-cell.js';
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
  /** By column, without empty cells at the end: each as the JSON of its `TypedCell`. */
  readonly json: readonly string[];
  readonly texts: readonly string[];
  /** A formula has no stored result: the program that wrote it does not calculate. */
  readonly lacksResult: boolean;
  /** Why it is not a row: a cell or all of them are too long; its cells are the first ones, cut. */
  readonly problem: RowReason | null;
}

const OVER_CELL: RowReason = { code: 'long_cell', most: MOST_CELL_CHARS };

/** Rows with any cell, in batches. Throws Error for broken XML and for what is out of bounds. */
export async function* readSheetRows(
  chunks: AsyncIterable<Buffer>,
  book: Workbook,
  strings: SharedStrings | null,
): AsyncGenerator<readonly SheetRow[]> {
  const { formatOfStyle } = book;
  const cellOf = createCells(book, strings);
  let rows: SheetRow[] = [];
  let line = 0;
  let json: string[] = [];
  let texts: string[] = [];
  let column = -1;
  let gaps = 0;
  let type = '';
  let format = 0;
  let value = '';
  let isRow = false;
  let isValue = false;
  /** A text in the cell itself, which replaces its value. */
  let isInline = false;
  let isPhonetic = false;
  let isFormula = false;
  let lacksResult = false;
  let problem: RowReason | null = null;
  /** Characters of the row so far, at least. */
  let size = 0;

  const place = () => {
    const cell = cellOf(type, value, format);
    // Colour alone does not make a cell: headers are often coloured to the sheet's last column.
    if (cell === null) return;
    const { length } = cell.text;
    if (cell.isCut) problem ??= OVER_CELL;
    if (column >= MAX_COLUMNS) {
      throw new OverBounds(`row ${line} has a cell beyond the first ${MAX_COLUMNS} columns`, FEWER_COLUMNS);
    }
    const gap = column - texts.length;
    if (gap > WIDE_GAP) gaps += gap;
    if (gaps > MOST_GAPS) throw new OverBounds('its filled cells are too far apart', FEWER_COLUMNS);
    size += length + Math.max(0, gap) * 5;
    if (size > MAX_RECORD_BYTES) {
      problem = OVER_RECORD;
      return;
    }
    while (texts.length < column) {
      json.push('null');
      texts.push('');
    }
    json[column] = cell.json;
    texts[column] = cell.text;
  };

  const feed = createXmlFeed({
    open(name, attributes) {
      switch (name) {
        case 'c': {
          if (!isRow) return;
          const reference = attributes.find('r');
          column = reference < 0 ? column + 1 : columnOf(attributes.xml, reference);
          type = attributes.get('t') ?? 'n';
          // The first style is that of cells without one.
          format = formatOfStyle[Number(attributes.get('s') ?? 0)] ?? 0;
          value = '';
          isFormula = false;
          isInline = false;
          return;
        }
        case 'v':
          isValue = !isInline && column >= 0;
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
          json = [];
          texts = [];
          column = -1;
          lacksResult = false;
          problem = null;
          size = 0;
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
        if (size <= MAX_RECORD_BYTES) place();
      } else if (name === 'rPh') isPhonetic = false;
      else if (name === 'row' && isRow) {
        isRow = false;
        if (texts.length > 0 || problem !== null) rows.push({ line, json, texts, lacksResult, problem });
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

/** Position from 0 of the column of `AB12` at `from`. */
function columnOf(xml: string, from: number): number {
  let column = 0;
  for (let at = from; ; at += 1) {
    const letter = (xml.charCodeAt(at) & 0xdf) - 64;
    if (!(letter >= 1 && letter <= 26 && column <= LAST_SHEET_COLUMN)) break;
    column = column * 26 + letter;
  }
  const shown = () => xml.slice(from, from + 20).replace(/["'].*/s, '');
  if (column > LAST_SHEET_COLUMN)
    throw new OverBounds(`cell ${shown()} is beyond the last column of a sheet, XFD`, FEWER_COLUMNS);
  if (column === 0) throw new Error(`it has a cell ${shown()}`);
  return column - 1;
}

interface Cell {
  readonly json: string;
  readonly text: string;
  /** Only its beginning is kept. */
  readonly isCut: boolean;
}

/** Days and moments whose texts are kept: a column has few, often. */
const MOST_MOMENTS = 10_000;

/** Makes cells of values, by their types (ECMA-376, 18.18.11); null: an empty one. */
function createCells({ formats }: Workbook, strings: SharedStrings | null) {
  const { codes, is1904 } = formats;
  const isText = codes.map((code) => code === '@');
  /** The texts of numbers, by number format; null where it shows no moment. */
  const moments = codes.map((code) => (momentShown(code) === null ? null : new Map<string, string>()));

  function ofText(whole: string, format: number, isCut: boolean): Cell | null {
    if (whole === '') return null;
    const text = cutText(whole, MOST_CELL_CHARS);
    const json = quoted(text);
    return {
      json: isText[format] ? `{"s":${json},"f":${format}}` : json,
      text,
      isCut: isCut || text.length < whole.length,
    };
  }

  /** `json`: of the number. */
  function ofNumber(json: string, text: string, format: number): Cell {
    if (format === 0) return { json, text, isCut: false };
    return { json: `{"n":${json},"f":${format}}`, text: momentOf(text, format) ?? text, isCut: false };
  }

  function momentOf(number: string, format: number): string | null {
    const known = moments[format] ?? null;
    if (known === null) return null;
    const moment = known.get(number) ?? textOfCell({ n: Number(number), f: format }, formats);
    if (known.size < MOST_MOMENTS) known.set(number, moment);
    return moment;
  }

  function ofDigits(value: string, format: number): Cell | null {
    if (isPlainNumber(value)) return ofNumber(value, value, format);
    const digits = value.trim();
    if (digits === '') return null;
    const number = Number(digits);
    if (!Number.isFinite(number) || digits.length > MOST_CELL_CHARS) return ofText(digits, 0, false);
    const text = String(number);
    // 17 digits identify a double; a number with more digits was not a double in its source.
    if (digits.length <= 17 || significantDigits(digits) <= 17 || text === digits)
      return ofNumber(text, text, format);
    const json = quoted(digits);
    return format === 0
      ? { json: `{"n":${json}}`, text: digits, isCut: false }
      : ofNumber(json, digits, format);
  }

  /** A date or time as ISO text, as its serial number where its number format can show that. */
  function ofIso(iso: string, format: number): Cell {
    const time = timeOfDay(iso);
    const shown = momentShown(codes[format] ?? '');
    const isShown = time === null ? shown !== null : shown?.date === false;
    const serial = isShown ? (time ?? serialOfIso(iso, is1904)) : null;
    if (serial !== null) return ofNumber(String(serial), String(serial), format);
    const text = time === null ? iso : textOfCell({ n: time, f: 1 }, TIMES);
    return { json: `{"t":${quoted(text)}}`, text, isCut: false };
  }

  return (type: string, value: string, format: number): Cell | null => {
    if (value.length > MOST_CELL_CHARS && /^[de]$/.test(type)) return ofText(value, 0, false);
    switch (type) {
      case 'n':
        return ofDigits(value, format);
      case 's': {
        if (value === '') return null;
        const text = strings?.at(Number(value)) ?? null;
        if (text === null) throw new Error(`a cell refers to a text ${value.slice(0, 20)} that is missing`);
        return ofText(text, format, strings?.isCut(Number(value)) ?? false);
      }
      case 'inlineStr':
      case 'str':
        return ofText(unescapeXstring(value), format, false);
      case 'b': {
        const isTrue = value === '1' || value.toLowerCase() === 'true';
        return value === '' ? null : { json: String(isTrue), text: isTrue ? 'TRUE' : 'FALSE', isCut: false };
      }
      case 'e':
        return value === '' ? null : { json: `{"e":${quoted(value)}}`, text: value, isCut: false };
      case 'd':
        return value === '' ? null : ofIso(value, format);
      default:
        return ofDigits(value, format);
    }
  };
}

const TIMES = { codes: ['General', 'hh:mm:ss'], is1904: false };

/** `10:30`, `T10:30:15.25`: as part of a day; null: another text. Pure. */
function timeOfDay(iso: string): number | null {
  const [, hours, minutes, seconds = 0] = /^T?(\d\d):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$/.exec(iso) ?? [];
  if (hours === undefined || Number(hours) > 23) return null;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
}

/** Whether JavaScript writes the number so: of 15 digits a double keeps all. Pure. */
function isPlainNumber(text: string): boolean {
  return text.length <= 16 && PLAIN_NUMBER.test(text);
}
const PLAIN_NUMBER = /^(?:0|-?[1-9]\d{0,14}|-?(?:0|[1-9]\d*)\.(?!0{6})\d*[1-9])$/;

/** As JSON. */
function quoted(text: string): string {
  return NEEDS_ESCAPES.test(text) ? JSON.stringify(text) : `"${text}"`;
}
const NEEDS_ESCAPES = /["\\\p{Cc}\p{Surrogate}]/u;

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
