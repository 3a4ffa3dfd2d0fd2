/** The texts of a workbook: their bounds and escapes, and those that its cells share. */
import { OverBounds } from '../binary-table.js';
import { readXml } from './xml-feed.js';

/** In a cell (Excel specifications and limits). */
export const MOST_CELL_CHARS = 32_767;
/** Each of them may be an escape of 7. */
const MOST_ESCAPED = MOST_CELL_CHARS * 7;

/** What to do about a workbook over a bound. */
export const SPLIT = 'save the table as CSV, or as several workbooks';
/** A workbook with more distinct text is a database: Excel itself takes minutes to open it. */
const MOST_BYTES = 512 * 1024 * 1024;
const FIRST_BYTES = 1024 * 1024;

/** A text of several runs, no longer than is needed to see that it is too long for a cell. Pure. */
export function addText(text: string, more: string): string {
  if (text === '' && more.length <= MOST_ESCAPED) return more;
  return text.length > MOST_ESCAPED ? text : text + more.slice(0, MOST_ESCAPED + 1 - text.length);
}

/** Undoes the escape of characters that XML does not allow: `_x000D_` (ECMA-376, 22.9.2). */
export function unescapeXstring(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Numbered texts, outside of JavaScript's heap: in UTF-8, escaped as JSON. */
export class SharedStrings {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #ends = new Uint32Array(4096);
  #count = 0;

  /** Returns null if no text has this number. One too long for a cell has one character more. */
  text(index: number): string | null {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return null;
    const json = this.#bytes.toString('utf8', this.#start(index), this.#ends[index]);
    return json.includes('\\') ? JSON.parse(`"${json}"`) : json;
  }

  /** Where a text begins. */
  #start(index: number): number {
    return index === 0 ? 0 : (this.#ends[index - 1] as number);
  }

  #add(text: string): void {
    const json = JSON.stringify(text.slice(0, MOST_CELL_CHARS + 1)).slice(1, -1);
    const from = this.#start(this.#count);
    const most = from + json.length * 3;
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
    this.#ends[this.#count] = from + this.#bytes.write(json, from);
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
        else if (name === 'si') strings.#add(unescapeXstring(text));
      },
    });
    return strings;
  }
}
