/** One row of a sheet as it is put together: the bytes of a JSON array of `TypedCell`, in UTF-8. */
import type { RowReason } from '../../core/row-reason.js';
import { cutText } from '../../core/terminal-text.js';
import { type CellFormats, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { OverBounds } from '../binary-table.js';
import { KEPT_CHARS, MAX_COLUMNS, MAX_RECORD_BYTES, OVER_RECORD } from '../text/record-splitter.js';

/** The most empty cells in a row between two filled ones: a sheet can claim any width. */
const WIDE_GAP = 256;
/** The most such empty cells in all rows together. */
const MOST_GAPS = 20_000_000;

export const FEWER_COLUMNS = 'delete the cells to the right of the table, and save the workbook again';

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;
const QUOTE = 0x22;
const NULL = Buffer.from('null,');

export class RowBytes {
  bytes = Buffer.allocUnsafeSlow(64 * 1024);
  /** In the sheet, from 1. */
  line = 0;
  /** Position of the cell that was read last, from 0. */
  column = -1;
  /** Columns up to the last filled one. */
  width = 0;
  /** A cell shows something, for sure. */
  hasInk = false;
  /** A formula has no stored result: the program that wrote it does not calculate. */
  lacksResult = false;
  problem: RowReason | null = null;
  #length = 0;
  /** A cell stands before one of an earlier column, or in its place. */
  #isMixed = false;
  #gaps = 0;
  /** Of each cell, by column. */
  readonly #starts = new Uint32Array(MAX_COLUMNS);
  readonly #ends = new Uint32Array(MAX_COLUMNS);

  constructor(private readonly formats: CellFormats) {}

  begin(line: number): void {
    this.line = line;
    this.column = -1;
    this.width = 0;
    this.hasInk = false;
    this.lacksResult = false;
    this.problem = null;
    this.#isMixed = false;
    this.bytes[0] = OPEN;
    this.#length = 1;
  }

  /** Where a cell of at most `bytes` bytes is to be written; `endCell` must follow. */
  beginCell(column: number, bytes: number): number {
    if (column >= MAX_COLUMNS) {
      const where = `row ${this.line} has a cell beyond the first ${MAX_COLUMNS} columns`;
      throw new OverBounds(where, FEWER_COLUMNS);
    }
    const gap = column - this.width;
    this.#reserve(this.#length + bytes + 2 + (gap > 0 ? gap * NULL.length : 0));
    let to = this.#length;
    if (to > 1) this.bytes[to++] = COMMA;
    if (gap > 0) to = this.#fill(gap, to);
    else if (gap < 0) this.#isMixed = true;
    this.#starts[column] = to;
    return to;
  }

  endCell(column: number, to: number): void {
    if (to > MAX_RECORD_BYTES) {
      this.problem = OVER_RECORD;
      return;
    }
    this.#ends[column] = to;
    this.#length = to;
    if (column >= this.width) this.width = column + 1;
  }

  /** `json`: of the cell. */
  addCell(column: number, json: string): void {
    const to = this.beginCell(column, json.length * 3);
    this.endCell(column, to + this.bytes.write(json, to));
  }

  get isOver(): boolean {
    return this.problem === OVER_RECORD;
  }

  /** Of a row that cannot be read the beginning. */
  raw(): string {
    if (this.#isMixed) {
      const cells = Array.from({ length: this.width }, (_, column) => this.#json(column));
      return this.#cut(`[${cells.join(',')}]`);
    }
    this.#reserve(this.#length + 1);
    this.bytes[this.#length] = CLOSE;
    return this.#cut(this.bytes.toString('utf8', 0, this.#length + 1));
  }

  #text(column: number): string {
    const [from, to] = [this.#starts[column] as number, this.#ends[column] as number];
    if (this.bytes[from] === QUOTE) {
      const text = this.bytes.toString('utf8', from + 1, to - 1);
      if (!text.includes('\\')) return text;
    }
    return textOfCell(JSON.parse(this.#json(column)) as TypedCell, this.formats);
  }

  /** By column; `wanted`: only those, the others are blank; null: all. */
  texts(wanted: readonly number[] | null): string[] {
    const texts: string[] = [];
    if (wanted === null) for (let at = 0; at < this.width; at += 1) texts.push(this.#text(at));
    for (const at of wanted ?? []) {
      while (texts.length <= at && texts.length < this.width) texts.push('');
      if (at < this.width) texts[at] = this.#text(at);
    }
    return texts;
  }

  #json(column: number): string {
    return this.bytes.toString('utf8', this.#starts[column], this.#ends[column]);
  }

  #cut(raw: string): string {
    return this.problem === null ? raw : cutText(raw, KEPT_CHARS);
  }

  #fill(gap: number, from: number): number {
    if (gap > WIDE_GAP) this.#gaps += gap;
    if (this.#gaps > MOST_GAPS) throw new OverBounds('its filled cells are too far apart', FEWER_COLUMNS);
    let to = from;
    for (let column = this.width; column < this.width + gap; column += 1) {
      this.#starts[column] = to;
      this.bytes.set(NULL, to);
      to += NULL.length;
      this.#ends[column] = to - 1;
    }
    return to;
  }

  #reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(length, this.bytes.length * 2));
    this.bytes.copy(larger, 0, 0, this.#length);
    this.bytes = larger;
  }
}
