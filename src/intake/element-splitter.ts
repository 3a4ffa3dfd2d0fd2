/** Splits the text of one JSON array into its elements, unchanged, in constant memory. */
import { FailFileError } from '../core/errors.js';
import { cutText, MAX_RECORD_BYTES, OVER_RECORD, type SplitRecord } from './record-splitter.js';

/** The characters that matter outside and inside of strings. */
const OUTSIDE = /["{}[\],\n]/g;
const INSIDE = /["\\\n]/g;

export class ElementSplitter {
  #line = 1;
  #depth = 0;
  #isText = false;
  /** The beginning of the current element, and its line. */
  #element = '';
  #elementLine = 1;
  #isTooLong = false;
  /** Whether the next character is escaped. */
  #isEscaped = false;
  #hasEnded = false;

  constructor(
    private readonly name: string,
    private linesToDrop: number,
  ) {}

  /** Throws `input-binary` if the array does not end, or text follows it. */
  push(chunk: string, isLast: boolean): SplitRecord[] {
    const records: SplitRecord[] = [];
    let at = this.#dropLines(chunk);
    let from = at;
    if (this.#isEscaped && at < chunk.length) {
      this.#isEscaped = false;
      at += 1;
    }
    while (at < chunk.length) {
      const pattern = this.#isText ? INSIDE : OUTSIDE;
      pattern.lastIndex = at;
      const found = pattern.exec(chunk);
      if (found === null) break;
      const [sign] = found;
      at = found.index + 1;
      if (sign === '\n') this.#line += 1;
      else if (sign === '"') this.#isText = !this.#isText;
      else if (sign === '\\') {
        this.#isEscaped = at === chunk.length;
        at += 1;
      } else if (sign === '{' || sign === '[') {
        if (this.#hasEnded) throw this.#damage('text follows the array');
        this.#depth += 1;
        if (this.#depth === 1) from = at;
      } else {
        const isEnd = sign !== ',';
        if (this.#depth < 1 || (this.#depth === 1 && sign === '}')) throw this.#damage(`a stray ${sign}`);
        if (this.#depth === 1) {
          this.#add(chunk.slice(from, found.index));
          this.#finish(records, isEnd);
          from = at;
        }
        if (isEnd) this.#depth -= 1;
        if (isEnd && this.#depth === 0) this.#hasEnded = true;
      }
    }
    this.#add(chunk.slice(from));
    if (this.#hasEnded && this.#element.trim() !== '') throw this.#damage('text follows the array');
    if (isLast && !this.#hasEnded) throw this.#damage('the array does not end');
    return records;
  }

  position(): { readonly line: number; readonly rest: string } {
    return { line: this.#line, rest: '' };
  }

  #dropLines(chunk: string): number {
    let at = 0;
    for (; this.linesToDrop > 0; this.linesToDrop -= 1) {
      const end = chunk.indexOf('\n', at);
      if (end < 0) return chunk.length;
      at = end + 1;
      this.#line += 1;
    }
    return at;
  }

  #add(text: string): void {
    if (this.#element === '' && !this.#isTooLong) {
      const trimmed = text.trimStart();
      if (trimmed === '') return;
      this.#elementLine = this.#line - (trimmed.split('\n').length - 1);
      this.#element = trimmed;
    } else if (!this.#isTooLong) this.#element += text;
    this.#isTooLong ||= this.#element.length > MAX_RECORD_BYTES;
    if (this.#isTooLong) this.#element = cutText(this.#element);
  }

  /** Some programs write a comma after the last element. */
  #finish(records: SplitRecord[], isEnd: boolean): void {
    const raw = this.#element.trimEnd();
    if (raw !== '' || !isEnd) {
      const problem = this.#isTooLong ? OVER_RECORD : null;
      records.push({ line: this.#elementLine, raw, cells: [], problem });
    }
    this.#element = '';
    this.#isTooLong = false;
  }

  #damage(what: string): FailFileError {
    return new FailFileError({
      code: 'input-binary',
      what: 'the JSON array is damaged',
      subject: `${this.name}, line ${this.#line} (${what})`,
      todo: 'write it again, or write one object per line',
    });
  }
}
