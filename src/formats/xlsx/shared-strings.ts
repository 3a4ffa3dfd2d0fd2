/** The numbered texts of a workbook, outside of JavaScript's heap. */
import { cutText } from '../../intake/record-splitter.js';
import { OverBounds } from '../binary-table.js';
import { addText, MOST_CELL_CHARS, readXml, unescapeXstring } from './xml-feed.js';

/** What to do about a workbook over a bound. */
export const SPLIT = 'save the table as CSV, or as several workbooks';
/** A workbook with more distinct text is a database: Excel itself takes minutes to open it. */
const MOST_BYTES = 512 * 1024 * 1024;
const FIRST_BYTES = 1024 * 1024;
/** Of the last short texts that were asked for, so many are kept as such: a power of two. */
const RECENT = 4096;
const SHORT_CHARS = 64;

export class SharedStrings {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #ends = new Uint32Array(4096);
  #count = 0;
  readonly #cut = new Set<number>();
  readonly #recent = new Array<string>(RECENT).fill('');
  readonly #recentIndex = new Int32Array(RECENT).fill(-1);

  /** Whether only the beginning of a text was kept. */
  isCut(index: number): boolean {
    return this.#cut.has(index);
  }

  /** null: no text has this number. */
  at(index: number): string | null {
    if (!(index >= 0 && index < this.#count)) return null;
    const slot = index % RECENT;
    if (this.#recentIndex[slot] === index) return this.#recent[slot] ?? null;
    const text = this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
    if (text.length <= SHORT_CHARS) {
      this.#recentIndex[slot] = index;
      this.#recent[slot] = text;
    }
    return text;
  }

  add(whole: string): void {
    const text = cutText(whole, MOST_CELL_CHARS);
    if (text.length < whole.length) this.#cut.add(this.#count);
    const from = this.#count === 0 ? 0 : (this.#ends[this.#count - 1] ?? 0);
    const most = from + text.length * 3;
    if (most > MOST_BYTES) throw new OverBounds('it has more than 512 MiB of distinct text', SPLIT);
    if (most > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(MOST_BYTES, Math.max(most, this.#bytes.length * 2)));
      this.#bytes.copy(larger, 0, 0, from);
      this.#bytes = larger;
    }
    if (this.#count === this.#ends.length) {
      const longer = new Uint32Array(this.#count * 2);
      longer.set(this.#ends);
      this.#ends = longer;
    }
    this.#ends[this.#count] = from + this.#bytes.write(text, from);
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
      close(name) {
        isText = false;
        if (name === 'rPh') isPhonetic = false;
        else if (name === 'si') strings.add(unescapeXstring(text));
      },
    });
    return strings;
  }
}
