/**
 * What each distinct identifier is worth, by its number: the best of its rows counts. Numbers come before words, words
 * before blanks; `asc` and `desc` turn the order within numbers and within words. About 13 bytes per identifier.
 *
 * The order says who is bought first when the limit will not cover the file; the output's order is not its business.
 */

import { NeverStartError } from '../../core/errors.js';
import { grown } from '../../core/growable.js';
import { columnLabel, findColumn } from '../../identify/find-column.js';

/** One `--priority COLUMN[:asc|desc]`. The column may also be a position, as in `--column`. */
export interface PriorityRequest {
  readonly name: string;
  /** `desc`: the highest first. */
  readonly direction: 'asc' | 'desc';
}

export interface Priorities {
  /** Position of the column, from 0. */
  readonly column: number;
  /** A row at this line with this cell has this identifier. Throws `NeverStartError` (column-doubtful) on a cell that cannot be put in order. */
  note(index: number, cell: string, line: number): void;
  /** The numbers of `count` identifiers, most valuable first; of equals the one that came first in the file. */
  order(count: number): Uint32Array;
  /** What the best row says, for people; null when no row says anything. */
  valueOf(index: number): string | null;
  /** For people: what is bought first. */
  readonly sentence: string;
}

const NONE = 0;
const WORD = 1;
const NUMBER = 2;
/** Different words at most: what is kept of them stays small. */
const WORDS_AT_MOST = 100_000;

/** Throws `NeverStartError` (column-unknown, column-doubtful) when the header has no such column, or several. */
export function createPriorities(columns: readonly string[], request: PriorityRequest): Priorities {
  const { direction } = request;
  const { column } = findColumn(columns, { name: request.name, kind: null }, '--priority');
  const label = columnLabel(columns, column);
  const sign = direction === 'desc' ? -1 : 1;
  const wordNumbers = new Map<string, number>();
  const words: string[] = [];
  let groups = new Uint8Array(1_024);
  let values = new Float64Array(1_024);

  function fit(index: number): void {
    groups = grown(groups, index + 1);
    values = grown(values, index + 1);
  }

  /** Below 0: the value is better than the one that the identifier has. */
  function compareTo(index: number, group: number, value: number): number {
    const known = groups[index] ?? NONE;
    if (known !== group) return known - group;
    if (group === WORD) return sign * compareWords(words[value] ?? '', words[values[index] ?? 0] ?? '');
    return sign * (value - (values[index] ?? 0));
  }

  function noteWord(word: string, line: number): number {
    const known = wordNumbers.get(word);
    if (known !== undefined) return known;
    if (words.length === WORDS_AT_MOST) {
      throw new NeverStartError({
        code: 'column-doubtful',
        what: `this column holds more than ${WORDS_AT_MOST.toLocaleString('en-US')} different words`,
        subject: `${label}, line ${line}`,
        todo: 'give --priority a column of numbers, or of few words',
      });
    }
    words.push(word);
    wordNumbers.set(word, words.length - 1);
    return words.length - 1;
  }

  return {
    column,
    sentence: `bought first: the ${direction === 'desc' ? 'highest' : 'lowest'} ${label}`,
    note(index, cell, line) {
      fit(index);
      const said = priorityValueOf(cell);
      if (said.type === 'unclear') throw unclear(cell, label, line);
      if (said.type === 'none') return;
      const group = said.type === 'number' ? NUMBER : WORD;
      const value = said.type === 'number' ? said.number : noteWord(said.word, line);
      if (compareTo(index, group, value) >= 0) return;
      groups[index] = group;
      values[index] = value;
    },
    order(count) {
      if (count > 0) fit(count - 1);
      const ranks = new Uint32Array(words.length);
      const sorted = words.map((_, at) => at).sort((a, b) => compareWords(words[a] ?? '', words[b] ?? ''));
      for (const [rank, at] of sorted.entries()) ranks[at] = rank;
      const keys = values.slice(0, count);
      for (let index = 0; index < count; index += 1)
        if (groups[index] === WORD) keys[index] = ranks[values[index] ?? 0] ?? 0;
      const order = Uint32Array.from({ length: count }, (_, index) => index);
      return order.sort(
        (a, b) =>
          (groups[b] ?? NONE) - (groups[a] ?? NONE) || sign * ((keys[a] ?? 0) - (keys[b] ?? 0)) || a - b,
      );
    },
    valueOf(index) {
      const value = values[index] ?? 0;
      if ((groups[index] ?? NONE) === NONE) return null;
      return groups[index] === WORD ? (words[value] ?? null) : String(value);
    },
  };
}

/** By code unit: the same order on every machine. */
function compareWords(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function unclear(cell: string, label: string, line: number): NeverStartError {
  return new NeverStartError({
    code: 'column-doubtful',
    what: 'this value cannot be put in order without a guess',
    subject: `"${cell.trim().slice(0, 40)}" in ${label}, line ${line}`,
    todo: 'write plain numbers such as 1200.50, dates such as 2026-01-31, or words into the column of --priority, or leave --priority out',
  });
}

/**
 * What one cell of the column of `--priority` says. Strict, because a wrong order spends money on the wrong rows:
 *
 *   number   a plain one: `1200`, `-3.5`, `1e6`
 *   word     anything else that does not begin with a digit, and ISO dates, whose text order is their time order
 *   none     blank
 *   unclear  begins with a digit or a currency and a digit, and is neither: `1,200` (1.2 in half of the world), `$900`,
 *            `11-50`, `31.12.2026`. As text they would be in an order that nobody means.
 */
type PriorityValue =
  | { readonly type: 'number'; readonly number: number }
  | { readonly type: 'word'; readonly word: string }
  | { readonly type: 'none' }
  | { readonly type: 'unclear' };

const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
/** ISO 8601: a day, or a day and a time; also a month. */
const ISO_DATE = /^\d{4}-\d\d(-\d\d([T ]\d\d:\d\d.*)?)?$/;
const BEGINS_WITH_NUMBER = /^([^\p{L}\d]*|[A-Za-z]{3}\s?)\d/u;

/** Words are compared without case: they come back in lower case and in normal form. */
export function priorityValueOf(cell: string): PriorityValue {
  const text = cell.trim();
  if (text === '') return { type: 'none' };
  if (PLAIN_NUMBER.test(text)) {
    const number = Number(text);
    return Number.isFinite(number) ? { type: 'number', number } : { type: 'unclear' };
  }
  if (BEGINS_WITH_NUMBER.test(text) && !ISO_DATE.test(text)) return { type: 'unclear' };
  return { type: 'word', word: text.normalize('NFKC').toLowerCase() };
}
