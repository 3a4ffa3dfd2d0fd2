/** Reads cells of a sheet by their types (ECMA-376, 18.18.11), and the texts that they share. */
import { cutText } from '../../core/terminal-text.js';
import {
  momentShown,
  serialOfIso,
  significantDigits,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import { OverBounds } from '../binary-table.js';
import type { Workbook } from './workbook.js';
import { readXml } from './xml-feed.js';

/** Characters in a cell (Excel specifications and limits). */
export const MOST_CELL_CHARS = 32_767;
/** Each character may be written as an escape of 7. */
const MOST_ESCAPED = MOST_CELL_CHARS * 7;

export const SPLIT = 'save the table as CSV, or as several workbooks';
/** Bytes of distinct text; Excel itself takes minutes to open a workbook with more. */
const MOST_BYTES = 512 * 1024 * 1024;
const FIRST_BYTES = 1024 * 1024;

/** Joins runs of a text, up to the length that shows it to be too long for a cell. Pure. */
export function addText(text: string, more: string): string {
  if (text === '' && more.length <= MOST_ESCAPED) return more;
  return text.length > MOST_ESCAPED ? text : text + more.slice(0, MOST_ESCAPED + 1 - text.length);
}

/** Undoes the escape of characters that XML does not allow: `_x000D_` (ECMA-376, 22.9.2). */
function unescapeXstring(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replace(/_x([0-9a-fA-F]{4})_/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Numbered texts, kept outside of JavaScript's heap as JSON in UTF-8. */
export class SharedStrings {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #ends = new Uint32Array(4096);
  #count = 0;

  /** Returns a text, cut after one character too many for a cell; null for an unknown number. */
  text(index: number): string | null {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return null;
    const json = this.#bytes.toString('utf8', this.#start(index), this.#ends[index]);
    return json.includes('\\') ? JSON.parse(`"${json}"`) : json;
  }

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

  /** Reads the part with the texts. Throws Error for broken XML and too much text. */
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

interface Cell {
  readonly cell: TypedCell;
  /** Characters of the text before it was cut to fit into a cell. */
  readonly chars: number;
}

/** Returns a function that makes a cell of its type, text and number format; null if empty. */
export function createCells({ formats }: Workbook, strings: SharedStrings | null) {
  const { codes, is1904 } = formats;

  function ofText(whole: string, format: number): Cell | null {
    if (whole === '') return null;
    const text = cutText(whole, MOST_CELL_CHARS);
    return { cell: codes[format] === '@' ? { s: text, f: format } : text, chars: whole.length };
  }

  function ofShared(value: string, format: number): Cell | null {
    const text = strings?.text(Number(value)) ?? null;
    if (text === null) throw new Error(`a cell refers to text ${value.slice(0, 20)}, which is missing`);
    return ofText(text, format);
  }

  function ofNumber(number: number | string, format: number): Cell {
    const own = format === 0 ? {} : { f: format };
    return {
      cell: format === 0 && typeof number === 'number' ? number : { n: number, ...own },
      chars: String(number).length,
    };
  }

  function ofDigits(value: string, format: number): Cell | null {
    const digits = value.trim();
    if (digits === '') return null;
    const number = Number(digits);
    if (!Number.isFinite(number) || digits.length > MOST_CELL_CHARS) return ofText(digits, 0);
    // 17 digits identify a double; a number with more digits was not a double in its source.
    const isDouble = digits.length <= 17 || significantDigits(digits) <= 17 || String(number) === digits;
    return ofNumber(isDouble ? number : digits, format);
  }

  /** Makes a serial number of an ISO date or time if the number format can show it. */
  function ofIso(iso: string, format: number): Cell {
    const time = timeOfDay(iso);
    const shown = momentShown(codes[format] ?? '');
    const isShown = time === null ? shown !== null : shown?.date === false;
    const serial = isShown ? (time ?? serialOfIso(iso, is1904)) : null;
    if (serial !== null) return ofNumber(serial, format);
    return { cell: { t: time === null ? iso : textOfCell({ n: time, f: 1 }, TIMES) }, chars: iso.length };
  }

  return (type: string, value: string, format: number): Cell | null => {
    if (value === '') return null;
    if (value.length > MOST_CELL_CHARS && /^[de]$/.test(type)) return ofText(value, 0);
    switch (type) {
      case 's':
        return ofShared(value, format);
      case 'inlineStr':
      case 'str':
        return ofText(unescapeXstring(value), format);
      case 'b':
        return { cell: /^(?:1|true)$/i.test(value), chars: 1 };
      case 'e':
        return { cell: { e: value }, chars: value.length };
      case 'd':
        return ofIso(value, format);
      default:
        return ofDigits(value, format);
    }
  };
}

const TIMES = { codes: ['General', 'hh:mm:ss'], is1904: false };

/** Returns `10:30` or `T10:30:15.25` as a fraction of a day; null for another text. Pure. */
function timeOfDay(iso: string): number | null {
  const [, hours, minutes, seconds = 0] = /^T?(\d\d):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?$/.exec(iso) ?? [];
  if (hours === undefined || Number(hours) > 23) return null;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / 86_400;
}
