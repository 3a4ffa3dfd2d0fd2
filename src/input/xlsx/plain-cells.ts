/**
 * Cells in the form in which programs write nearly all of them, `<c r="A1" s="2"><v>7</v></c>` or
 * with a text in `<is><t>`: from the bytes of a sheet to those of a row, without a string for each.
 * That halves the CPU time of planning a workbook. All others go through the parser.
 */
import { MAX_COLUMNS } from '../text/record-splitter.js';
import type { createCells } from './cell-json.js';
import type { RowBytes } from './row-bytes.js';
import type { SharedStrings } from './shared-strings.js';
import type { Workbook } from './workbook.js';
import { beginsWithInk, copyEscaped, endOfPlainText, hasBytes } from './xml-text.js';

const SPACE = 0x20;
const DOUBLE = 0x22;
const AMPERSAND = 0x26;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const ONE = 0x31;
const LESS = 0x3c;
const EQUALS = 0x3d;
const LETTER_A = 0x41;
const LETTER_Z = 0x5a;
const LETTER_R = 0x72;
const LETTER_S = 0x73;
const LETTER_T = 0x74;

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const CELL = bytesOf('<c');
const EMPTY = bytesOf('/>');
const CLOSED = bytesOf('></c>');
const VALUE = bytesOf('><v>');
const VALUE_END = bytesOf('</v></c>');
const TEXT = bytesOf('><is><t>');
const TEXT_KEEPING = bytesOf('><is><t xml:space="preserve">');
const TEXT_END = bytesOf('</t></is></c>');
const TYPES = [bytesOf('n"'), bytesOf('s"'), bytesOf('b"'), bytesOf('str"'), bytesOf('inlineStr"')];
/** Positions in `TYPES`. */
const [NUMBER, SHARED, BOOLEAN, RESULT, INLINE] = [0, 1, 2, 3, 4];

const NUMBER_START = bytesOf('{"n":');
const TEXT_START = bytesOf('{"s":');
/** Around a value: quotes, number format. */
const MOST_AROUND = 24;
/** A longer number is read otherwise. */
const MOST_NUMBER = 32;
const MOST_INDEX_DIGITS = 9;

/** Returns where the last cell ends that it read into `row`, of those from `from` on. */
export function createPlainCells(
  row: RowBytes,
  { formats, formatOfStyle }: Workbook,
  strings: SharedStrings | null,
  cellOf: ReturnType<typeof createCells>,
): (xml: Buffer, from: number, end: number) => number {
  const isText = formats.codes.map((code) => code === '@');
  const formatEnds = formats.codes.map((_code, format) => bytesOf(`,"f":${format}}`));

  function copy(bytes: Uint8Array, from: number, end: number, to: number): number {
    const { bytes: target } = row;
    let position = to;
    for (let at = from; at < end; at += 1) target[position++] = bytes[at] as number;
    return position;
  }

  const copyAll = (bytes: Uint8Array, to: number) => copy(bytes, 0, bytes.length, to);

  function addNumber(column: number, format: number, xml: Uint8Array, from: number, end: number): void {
    let to = row.beginCell(column, end - from + MOST_AROUND);
    if (format !== 0) to = copyAll(NUMBER_START, to);
    to = copy(xml, from, end, to);
    if (format !== 0) to = copyAll(formatEnds[format] as Uint8Array, to);
    row.endCell(column, to);
    row.hasInk = true;
  }

  /** `isEscaped`: as JSON has it. */
  function addText(
    column: number,
    format: number,
    bytes: Uint8Array,
    from: number,
    end: number,
    isEscaped: boolean,
  ): void {
    if (from === end) return;
    let to = row.beginCell(column, (end - from) * 2 + MOST_AROUND);
    const { bytes: target } = row;
    if (isText[format]) to = copyAll(TEXT_START, to);
    target[to++] = DOUBLE;
    to = isEscaped ? copy(bytes, from, end, to) : copyEscaped(bytes, from, end, target, to);
    target[to++] = DOUBLE;
    if (isText[format]) to = copyAll(formatEnds[format] as Uint8Array, to);
    row.endCell(column, to);
    row.hasInk ||= beginsWithInk(bytes, from);
  }

  /** The value from `from` to `end`; false: not in the usual form. */
  function addValue(
    column: number,
    type: number,
    format: number,
    xml: Buffer,
    from: number,
    end: number,
  ): boolean {
    if (type === NUMBER) {
      if (isPlainNumber(xml, from, end)) addNumber(column, format, xml, from, end);
      else {
        const cell = cellOf('n', xml.toString('latin1', from, end), format);
        if (cell !== null) row.addCell(column, cell.json);
      }
      return true;
    }
    if (type === BOOLEAN) {
      if (end !== from + 1) return false;
      row.addCell(column, xml[from] === ONE ? 'true' : 'false');
      row.hasInk = true;
      return true;
    }
    if (type !== SHARED) {
      addText(column, format, xml, from, end, false);
      return true;
    }
    const index = indexOf(xml, from, end);
    if (strings === null || !strings.has(index) || strings.isCut(index)) return false;
    addText(column, format, strings.bytes, strings.start(index), strings.end(index), true);
    return true;
  }

  /** Returns its end; -1: it has another form, or is not whole. */
  function readCell(xml: Buffer, from: number, end: number): number {
    if (!hasBytes(xml, from, CELL)) return -1;
    let at = from + CELL.length;
    let column = row.column + 1;
    let style = 0;
    let type = NUMBER as number;
    while (xml[at] === SPACE) {
      const name = xml[at + 1];
      if (xml[at + 2] !== EQUALS || xml[at + 3] !== DOUBLE) return -1;
      at += 4;
      if (name === LETTER_R) {
        column = -1;
        for (let code = xml[at] as number; code >= LETTER_A && code <= LETTER_Z; code = xml[at] as number) {
          column = (column + 1) * 26 + code - LETTER_A;
          at += 1;
        }
        while (isDigit(xml[at])) at += 1;
      } else if (name === LETTER_S) {
        for (; isDigit(xml[at]); at += 1) style = style * 10 + (xml[at] as number) - ZERO;
      } else if (name === LETTER_T) {
        type = TYPES.findIndex((bytes) => hasBytes(xml, at, bytes));
        if (type < 0) return -1;
        at += (TYPES[type] as Uint8Array).length - 1;
      } else return -1;
      if (xml[at] !== DOUBLE) return -1;
      at += 1;
    }
    if (column < 0 || column >= MAX_COLUMNS) return -1;
    for (const empty of [EMPTY, CLOSED]) {
      if (!hasBytes(xml, at, empty)) continue;
      at += empty.length;
      if (at > end) return -1;
      row.column = column;
      return at;
    }
    const start = type !== INLINE ? VALUE : hasBytes(xml, at, TEXT) ? TEXT : TEXT_KEEPING;
    if (!hasBytes(xml, at, start)) return -1;
    const value = at + start.length;
    const last = type >= RESULT ? endOfPlainText(xml, value, end) : endOfWord(xml, value);
    const close = type === INLINE ? TEXT_END : VALUE_END;
    if (last < 0 || !hasBytes(xml, last, close) || last + close.length > end) return -1;
    if (!addValue(column, type, formatOfStyle[style] ?? 0, xml, value, last)) return -1;
    row.column = column;
    return last + close.length;
  }

  return (xml, from, end) => {
    let at = from;
    while (!row.isOver) {
      const next = readCell(xml, at, end);
      if (next < 0) break;
      at = next;
    }
    return at;
  };
}

const isDigit = (byte: number | undefined) => (byte as number) >= ZERO && (byte as number) <= 0x39;

/** Where a short text of visible ASCII ends; -1: it is another one. */
function endOfWord(xml: Uint8Array, from: number): number {
  for (let at = from; at <= from + MOST_NUMBER; at += 1) {
    const byte = xml[at] as number;
    if (byte === LESS) return at;
    if (!(byte > SPACE && byte < 0x7f && byte !== AMPERSAND)) return -1;
  }
  return -1;
}

/** Whether JavaScript writes a number so: of 15 digits a double keeps all. Pure. */
function isPlainNumber(xml: Uint8Array, from: number, end: number): boolean {
  const first = xml[from] === MINUS ? from + 1 : from;
  if (end - from > 16 || !isDigit(xml[first])) return false;
  let at = first;
  while (isDigit(xml[at])) at += 1;
  const isZero = xml[first] === ZERO;
  if (isZero && at > first + 1) return false;
  if (at === end) return isZero ? first === from : end - first <= 15;
  if (xml[at] !== POINT) return false;
  at += 1;
  // Smaller ones are written with an exponent.
  if (isZero && hasBytes(xml, at, SIX_ZEROS)) return false;
  while (isDigit(xml[at])) at += 1;
  return at === end && isDigit(xml[end - 1]) && xml[end - 1] !== ZERO;
}

const SIX_ZEROS = bytesOf('000000');

/** -1: it is not a number of a text. */
function indexOf(xml: Uint8Array, from: number, end: number): number {
  if (from === end || end - from > MOST_INDEX_DIGITS) return -1;
  let index = 0;
  for (let at = from; at < end; at += 1) {
    if (!isDigit(xml[at])) return -1;
    index = index * 10 + (xml[at] as number) - ZERO;
  }
  return index;
}
