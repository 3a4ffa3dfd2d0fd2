/**
 * One CSV record as text: where its cells begin and end, what they say, and how cells of ours are written. Cells
 * are found, never rebuilt, so what is kept keeps its quoting. Reading files is intake's.
 */
import { stringify } from 'csv-stringify/sync';

const QUOTE = '"';

/**
 * The raw texts of a record's cells, quotes included. Joined with the delimiter they give the record again.
 * A quote opens a quoted cell only as its first character; a doubled quote inside stands for one.
 */
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

/** The text that a raw cell stands for. */
export function cellText(rawCell: string): string {
  if (!rawCell.startsWith(QUOTE)) return rawCell;
  const close = rawCell.lastIndexOf(QUOTE);
  const inner = close > 0 ? rawCell.slice(1, close) + rawCell.slice(close + 1) : rawCell.slice(1);
  return inner.replaceAll('""', QUOTE);
}

/** Cells as one record without line end, quoted where they must be. */
export function writeCells(cells: readonly string[], delimiter: string): string {
  return stringify([[...cells]], { delimiter, eof: false });
}

/** The largest cell and the most line breaks that intake takes for a cell rather than for a stray quote: 64 KiB and 100. */
const MAX_CELL_CHARACTERS = 16_000;
const MAX_LINE_BREAKS = 100;

/**
 * Makes a cell of ours fit to be read back: no NUL, not too long (cut, with an ellipsis), not over too many lines
 * (blanks instead). The whole text is in JSON lines.
 */
export function tameCell(cell: string): string {
  let tame = cell.includes('\0') ? cell.replaceAll('\0', '') : cell;
  if (tame.length > MAX_CELL_CHARACTERS) tame = `${tame.slice(0, MAX_CELL_CHARACTERS)}…`;
  if (tame.length > MAX_LINE_BREAKS && (tame.match(/\r\n?|\n/g)?.length ?? 0) > MAX_LINE_BREAKS) {
    tame = tame.replace(/(?:\r\n?|\n)+/g, ' ');
  }
  return tame;
}
