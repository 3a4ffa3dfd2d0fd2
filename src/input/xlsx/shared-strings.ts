/** The numbered texts of a workbook, outside of JavaScript's heap. */

import { cutText } from '../../core/terminal-text.js';
import { OverBounds } from '../binary-table.js';
import { readXml } from './xml-feed.js';
import {
  addText,
  copyEscaped,
  endOfPlainText,
  hasBytes,
  MOST_CELL_CHARS,
  unescapeXstring,
} from './xml-text.js';

/** What to do about a workbook over a bound. */
export const SPLIT = 'save the table as CSV, or as several workbooks';
/** A workbook with more distinct text is a database: Excel itself takes minutes to open it. */
const MOST_BYTES = 512 * 1024 * 1024;
const FIRST_BYTES = 1024 * 1024;

/** In UTF-8, escaped as JSON: cells are made of them without a string. */
export class SharedStrings {
  /** The texts one after the other, without quotes. */
  bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #ends = new Uint32Array(4096);
  #count = 0;
  readonly #cut = new Set<number>();

  has(index: number): boolean {
    return index >= 0 && index < this.#count;
  }

  /** Whether only the beginning of a text was kept. */
  isCut(index: number): boolean {
    return this.#cut.size > 0 && this.#cut.has(index);
  }

  /** Where a text begins in `bytes`. */
  start(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] as number);
  }

  end(index: number): number {
    return this.#ends[index] as number;
  }

  /** null: no text has this number. */
  json(index: number): string | null {
    if (!Number.isInteger(index) || !this.has(index)) return null;
    return `"${this.bytes.toString('utf8', this.start(index), this.end(index))}"`;
  }

  add(whole: string): void {
    const text = cutText(whole, MOST_CELL_CHARS);
    if (text.length < whole.length) this.#cut.add(this.#count);
    const json = JSON.stringify(text).slice(1, -1);
    const from = this.#room(json.length * 3);
    this.#end(from + this.bytes.write(json, from));
  }

  /** Of a plain text, as UTF-8. */
  addPlain(from: Buffer, start: number, end: number): void {
    const at = this.#room((end - start) * 2);
    this.#end(copyEscaped(from, start, end, this.bytes, at));
  }

  /** Where the next text begins, which has at most so many bytes. */
  #room(bytes: number): number {
    const from = this.start(this.#count);
    const most = from + bytes;
    if (most > MOST_BYTES) throw new OverBounds('it has more than 512 MiB of distinct text', SPLIT);
    if (most > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(MOST_BYTES, Math.max(most, this.bytes.length * 2)));
      this.bytes.copy(larger, 0, 0, from);
      this.bytes = larger;
    }
    return from;
  }

  #end(at: number): void {
    if (this.#count === this.#ends.length) {
      const longer = new Uint32Array(this.#count * 2);
      longer.set(this.#ends);
      this.#ends = longer;
    }
    this.#ends[this.#count] = at;
    this.#count += 1;
  }

  /** Throws Error for broken XML and too much text. */
  static async read(chunks: AsyncIterable<Buffer>): Promise<SharedStrings> {
    const strings = new SharedStrings();
    let text = '';
    let isText = false;
    let isPhonetic = false;
    await readXml(chunks, {
      open(name) {
        if (name === 'si') text = '';
        else if (name === 'rPh') isPhonetic = true;
        else isText = name === 't' && !isPhonetic;
      },
      text(more) {
        if (isText) text = addText(text, more);
      },
      wantsText: () => isText,
      close(name) {
        isText = false;
        if (name === 'rPh') isPhonetic = false;
        else if (name === 'si') strings.add(unescapeXstring(text));
      },
      take(parent, xml, from, end) {
        let at = from;
        if (parent !== 'sst') return at;
        for (;;) {
          const open = hasBytes(xml, at, OPEN) ? OPEN : OPEN_KEEPING;
          const start = at + open.length;
          const last = hasBytes(xml, at, open) ? endOfPlainText(xml, start, end) : -1;
          if (last < 0 || !hasBytes(xml, last, CLOSE) || last + CLOSE.length > end) return at;
          strings.addPlain(xml, start, last);
          at = last + CLOSE.length;
        }
      },
    });
    return strings;
  }
}

const OPEN = Buffer.from('<si><t>');
const OPEN_KEEPING = Buffer.from('<si><t xml:space="preserve">');
const CLOSE = Buffer.from('</t></si>');
