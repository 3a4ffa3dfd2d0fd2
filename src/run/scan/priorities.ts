/**
 * The priority of each identifier, taken from its best row, in about 13 bytes. Numbers come before
 * words, and words before blanks; `asc` and `desc` order the values within these groups.
 */
import { ConfigError } from '../../core/errors.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { columnLabel } from '../../input/identify/find-column.js';
import type { Settings } from '../../settings/settings.js';
import { grown } from './spool-file.js';

const NONE = 0;
const WORD = 1;
const NUMBER = 2;
/** `desc`: the highest value comes first. */
export type PriorityRequest = NonNullable<Settings['priority']>;

/** The most different words of a column, which bounds their memory. */
const WORDS_AT_MOST = 100_000;

export class Priorities {
  readonly sentence: string;
  readonly #label: string;
  /** -1: the highest comes first. */
  readonly #sign: 1 | -1;
  readonly #wordNumbers = new Map<string, number>();
  readonly #words: string[] = [];
  #groups = new Uint8Array(1_024);
  #values = new Float64Array(1_024);

  constructor(columns: readonly string[], column: number, direction: PriorityRequest['direction']) {
    this.#label = columnLabel(columns, column);
    this.#sign = direction === 'desc' ? -1 : 1;
    this.sentence = `bought first: the ${direction === 'desc' ? 'highest' : 'lowest'} ${this.#label}`;
  }

  /** Notes the cell of a row. Throws ConfigError `column-doubtful` if it cannot be ordered. */
  note(index: number, cell: string, line: number): void {
    this.#fit(index);
    const ranked = priorityValueOf(cell);
    if (ranked === null) return;
    if (ranked === 'unclear')
      throw doubtful(
        'this value cannot be ordered without guessing',
        `"${cell.trim().slice(0, 40)}" in ${this.#label}, line ${line}`,
        phrase`write plain numbers such as 1200.50, dates such as 2026-01-31, or words in the column of ${{
          setting: 'priority',
        }}, or ${{ unset: 'priority' }}`,
      );
    const [group, value] =
      typeof ranked === 'number' ? [NUMBER, ranked] : [WORD, this.#numberOf(ranked.word, line)];
    if (this.#compareTo(index, group, value) >= 0) return;
    this.#groups[index] = group;
    this.#values[index] = value;
  }

  /** Returns the numbers of `count` identifiers, most valuable first, ties in file order. */
  order(count: number): Uint32Array {
    if (count > 0) this.#fit(count - 1);
    const words = this.#words;
    const ranks = new Uint32Array(words.length);
    const sorted = words.map((_, at) => at).sort((a, b) => compareWords(words[a] ?? '', words[b] ?? ''));
    for (const [rank, at] of sorted.entries()) ranks[at] = rank;
    const groups = this.#groups;
    const keys = this.#values.slice(0, count);
    for (let index = 0; index < count; index += 1)
      if (groups[index] === WORD) keys[index] = ranks[keys[index] ?? 0] ?? 0;
    return Uint32Array.from({ length: count }, (_, index) => index).sort(
      (a, b) =>
        (groups[b] ?? NONE) - (groups[a] ?? NONE) || this.#sign * ((keys[a] ?? 0) - (keys[b] ?? 0)) || a - b,
    );
  }

  /** Returns the value of the best row, for display; null if all its cells are blank. */
  valueOf(index: number): string | null {
    const value = this.#values[index] ?? 0;
    if ((this.#groups[index] ?? NONE) === NONE) return null;
    return this.#groups[index] === WORD ? (this.#words[value] ?? null) : String(value);
  }

  #fit(index: number): void {
    this.#groups = grown(this.#groups, index + 1);
    this.#values = grown(this.#values, index + 1);
  }

  /** Returns a negative number if the value is better than the identifier's best so far. */
  #compareTo(index: number, group: number, value: number): number {
    const known = this.#groups[index] ?? NONE;
    if (known !== group) return known - group;
    const best = this.#values[index] ?? 0;
    if (group === NUMBER) return this.#sign * (value - best);
    return this.#sign * compareWords(this.#words[value] ?? '', this.#words[best] ?? '');
  }

  #numberOf(word: string, line: number): number {
    const known = this.#wordNumbers.get(word);
    if (known !== undefined) return known;
    const number = this.#words.length;
    if (number === WORDS_AT_MOST)
      throw doubtful(
        `this column holds more than ${WORDS_AT_MOST.toLocaleString('en-US')} different words`,
        `${this.#label}, line ${line}`,
        phrase`use a column of numbers, or of few different words, for ${{ setting: 'priority' }}`,
      );
    this.#words.push(word);
    this.#wordNumbers.set(word, number);
    return number;
  }
}

/** By code unit: the same order on every machine. */
function compareWords(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function doubtful(what: string, subject: string, todo: Phrase): ConfigError {
  return new ConfigError({ code: 'column-doubtful', what, subject, todo });
}

const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
/** ISO 8601: a month, a day, or a day and a time. */
const ISO_DATE = /^\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?$/;
const BEGINS_WITH_NUMBER = /^([^\p{L}\d]*|[A-Za-z]{3}\s?)\d/u;

/**
 * Returns the value of a `--priority` cell, null if blank. `word`: an ISO date, whose text sorts by
 * time, or a text without a leading digit, in lower case. 'unclear': any other, such as `$900`,
 * `1,200` or `31.12.2026`, because a wrong order would spend on the wrong rows.
 */
export function priorityValueOf(cell: string): number | { readonly word: string } | 'unclear' | null {
  const text = cell.trim();
  if (text === '') return null;
  if (PLAIN_NUMBER.test(text)) return Number.isFinite(Number(text)) ? Number(text) : 'unclear';
  if (BEGINS_WITH_NUMBER.test(text) && !ISO_DATE.test(text)) return 'unclear';
  return { word: text.normalize('NFKC').toLowerCase() };
}
