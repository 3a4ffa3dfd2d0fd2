/** Splits a JSON array into its elements, or an object into its members, in constant memory. */
import { isJsonText } from '../../core/json-text.js';
import { phrase } from '../../core/phrase.js';
import { cutText, shortName } from '../../core/terminal-text.js';
import { MAX_RECORD_BYTES, OVER_RECORD, type SplitRecord } from '../text/record-splitter.js';
import { badJson, damagedJson, jqFor } from './json-table.js';

/** The characters that matter outside and inside of strings. */
const OUTSIDE = /["{}[\],\n]/g;
const INSIDE = /["\\\n]/g;

interface Around {
  /** The text before the array; empty for an array alone. */
  readonly head: string;
  /** Keys down to the array, joined by dots. */
  readonly path: string;
  readonly isKeyed: boolean;
}

/** The place of the array, or of the object of columns, in the input. */
export interface Begin {
  readonly chars: number;
  readonly line: number;
}

export class ElementSplitter {
  #line: number;
  #depth = 0;
  #isText = false;
  #element = '';
  #elementLine = 1;
  #isTooLong = false;
  #isEscaped = false;
  #hasEnded = false;
  #charsToDrop: number;
  #tail = '';

  constructor(
    private readonly name: string,
    { chars, line }: Begin = { chars: 0, line: 1 },
    private readonly around: Around = { head: '', path: '', isKeyed: false },
  ) {
    this.#charsToDrop = chars;
    this.#line = line;
  }

  /** Returns the text after the array, or null before its end. */
  tail(): string | null {
    return this.#hasEnded ? this.#tail : null;
  }

  /** Returns complete elements. Throws `input-binary` for a cut array or damaged text around it. */
  push(chunk: string, isLast: boolean): SplitRecord[] {
    const records: SplitRecord[] = [];
    let at = Math.min(chunk.length, this.#charsToDrop);
    this.#charsToDrop -= at;
    let from = at;
    if (this.#isEscaped && at < chunk.length) {
      this.#isEscaped = false;
      at += 1;
    }
    while (at < chunk.length && !this.#hasEnded) {
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
        this.#depth += 1;
        if (this.#depth === 1) from = at;
      } else {
        const isEnd = sign !== ',';
        const isStray = this.#depth === 1 && sign === (this.around.isKeyed ? ']' : '}');
        if (this.#depth < 1 || isStray) throw this.#damage(`a stray ${sign}`);
        if (this.#depth === 1) {
          this.#add(chunk.slice(from, found.index));
          this.#finish(records, isEnd);
          from = at;
        }
        if (isEnd) this.#depth -= 1;
        if (isEnd && this.#depth === 0) this.#hasEnded = true;
      }
    }
    if (!this.#hasEnded) this.#add(chunk.slice(from));
    else this.#addTail(chunk.slice(at));
    if (isLast && !this.#hasEnded) throw this.#damage('the array does not end: it seems to be cut off');
    if (isLast && !isJsonText(`${this.around.head}[]${this.#tail}`))
      throw this.#damage('text follows the array');
    return records;
  }

  position(): { readonly line: number; readonly rest: string } {
    return { line: this.#line, rest: '' };
  }

  #addTail(text: string): void {
    this.#tail += text;
    if (this.#tail.length <= MAX_RECORD_BYTES) return;
    const { path } = this.around;
    const subject = `${this.name}, line ${this.#line}${path === '' ? '' : `, array ${shortName(path)}`}`;
    const lines = jqFor(this.name, path);
    const setting = { setting: 'records' };
    const todo = phrase`name another array with ${setting}, or write the rows as lines: ${lines}`;
    throw badJson('too much text follows the array of rows', subject, todo);
  }

  #add(text: string): void {
    if (this.#element === '' && !this.#isTooLong) {
      const trimmed = text.trimStart();
      if (trimmed === '') return;
      this.#elementLine = this.#line - (trimmed.split('\n').length - 1);
      this.#element = trimmed;
    } else if (!this.#isTooLong) this.#element += text;
    this.#isTooLong ||= this.#element.length > MAX_RECORD_BYTES;
    if (this.#isTooLong) this.#element = cutText(this.#element, MAX_RECORD_BYTES);
  }

  /** Adds the element, but no empty last one: some programs write a comma before the end. */
  #finish(records: SplitRecord[], isEnd: boolean): void {
    const raw = this.#element.trimEnd();
    if (raw !== '' || !isEnd) {
      const problem = this.#isTooLong ? OVER_RECORD : null;
      records.push({ line: this.#elementLine, raw, cells: [], problem });
    }
    this.#element = '';
    this.#isTooLong = false;
  }

  #damage(what: string) {
    return damagedJson('array', `${this.name}, line ${this.#line} (${what})`);
  }
}
