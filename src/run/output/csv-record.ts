/** One CSV record as text. User cells are cut out, never rebuilt, so they keep their quoting. */
import { load } from '../../core/load.js';
import type { Settings } from '../../settings/settings.js';

const { stringify } = load('csv-stringify/sync') as typeof import('csv-stringify/sync');

const QUOTE = '"';

/** Splits a record into cells with their quotes. Only a leading quote makes a quoted cell. */
export function splitRecord(raw: string, delimiter: string): string[] {
  const cells: string[] = [];
  let start = 0;
  for (;;) {
    const end = endOfCell(raw, start, delimiter);
    cells.push(raw.slice(start, end));
    if (end >= raw.length) return cells;
    start = end + delimiter.length;
  }
}

function endOfCell(raw: string, start: number, delimiter: string): number {
  let from = start;
  if (raw.startsWith(QUOTE, start)) {
    let close = raw.indexOf(QUOTE, start + 1);
    while (close >= 0 && raw.startsWith(QUOTE, close + 1)) close = raw.indexOf(QUOTE, close + 2);
    if (close < 0) return raw.length;
    from = close + 1;
  }
  const end = raw.indexOf(delimiter, from);
  return end < 0 ? raw.length : end;
}

/** Returns the text of a cell as it stands in the record: without quotes around it or doubled. */
export function cellText(rawCell: string): string {
  if (!rawCell.startsWith(QUOTE)) return rawCell;
  const close = rawCell.lastIndexOf(QUOTE);
  const inner = close > 0 ? rawCell.slice(1, close) + rawCell.slice(close + 1) : rawCell.slice(1);
  return inner.replaceAll('""', QUOTE);
}

const MAY_NEED_QUOTES = /["\r\n]/;

/** Returns cells as one record; calls csv-stringify, which is slow, only for likely quotes. */
export function writeCells(cells: readonly string[], delimiter: string): string {
  // The end of a cell may begin a delimiter of several characters.
  const sign = delimiter.charAt(0);
  const mayNeed = (cell: string) => cell.includes(sign) || MAY_NEED_QUOTES.test(cell);
  const write = (cell: string) => (mayNeed(cell) ? stringify([[cell]], { delimiter, eof: false }) : cell);
  return cells.map(write).join(delimiter);
}

/** Readers take a cell beyond 64 KiB or 100 line breaks for a stray quote. */
const MAX_CELL_CHARACTERS = 16_000;
const MAX_LINE_BREAKS = 100;

/** Removes NUL from our cell, shortens long text, and turns too many line breaks into blanks. */
export function sanitizeCell(cell: string): string {
  let text = cell.includes('\0') ? cell.replaceAll('\0', '') : cell;
  if (text.length > MAX_CELL_CHARACTERS) text = `${text.slice(0, MAX_CELL_CHARACTERS)}…`;
  if (text.length > MAX_LINE_BREAKS && (text.match(/\r\n?|\n/g)?.length ?? 0) > MAX_LINE_BREAKS) {
    text = text.replace(/(?:\r\n?|\n)+/g, ' ');
  }
  return text;
}

/** The start of a formula (OWASP), also East Asian, after blanks and invisible characters. */
const STARTS_FORMULA =
  /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}\p{Z}]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/u;
/** A dash alone stands for a missing value. */
const IS_NUMBER_OR_DASH = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|-)$/;

/** Escapes formulas in a record. Other cells keep their bytes, escaped ones their quotes. */
export function escapeRecord(raw: string, delimiter: string): string {
  return splitRecord(raw, delimiter)
    .map((cell) => (STARTS_FORMULA.test(cellText(cell)) ? cell.replace(/^"?/, "$&'") : cell))
    .join(delimiter);
}

/** Escapes our cell. `ours` skips numbers, a dash, and text taken from the user (`repeatsUser`). */
export function escapeFormula(
  cell: string,
  escaping: Settings['escapeFormulas'],
  repeatsUser = false,
): string {
  if (escaping === 'none' || !STARTS_FORMULA.test(cell)) return cell;
  if (escaping === 'ours' && (repeatsUser || IS_NUMBER_OR_DASH.test(cell))) return cell;
  return `'${cell}`;
}
