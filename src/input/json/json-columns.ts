/** Reads JSON rows without keys: arrays (`[[1]]`), and values by column (`{"a": [1, 3]}`). */
import { commonest, countEach } from '../../core/counter.js';
import { cellOfJson, elementsOf, isJsonText, membersOf } from '../../core/json-text.js';
import { attempt } from '../../core/lifecycle.js';
import { padded } from '../../core/table.js';
import { isHeaderLike } from '../identify/header-words.js';
import { findDataInHeader, findSymbolInHeader } from '../text/header-check.js';
import type { SplitRecord } from '../text/record-splitter.js';
import { type Begin, ElementSplitter } from './element-splitter.js';
import { objectOf } from './json-readers.js';
import { COLUMNS_KEY, damagedJson, type JsonTable, type TableText } from './json-table.js';

const ROWS_SEEN = 100;

/** Finds distinct names of columns around the rows or in the first row, or else numbers them. */
export function nameArrays(
  { name, text, isWhole }: TableText,
  { head, depth }: Pick<JsonTable, 'head' | 'depth'>,
  mayHaveHeader: boolean,
) {
  const elements = new ElementSplitter(name, { chars: head.length, line: 1 });
  const seen = attempt(() => elements.push(text, false), []).slice(0, ROWS_SEEN);
  const rows = seen.map(({ raw }) => elementsOf(raw) ?? []);
  const cells = rows.map((row) => row.map(cellOfJson));
  const [first = [], ...others] = cells;
  const widths = cells.map(({ length }) => length);
  const [width = 0] = commonest(countEach(widths)) ?? [];
  const around = findNames(isWhole ? text : `${head}[]${'}'.repeat(depth)}`, width);
  const withBlank = (names: readonly string[]) => unique(padded(names, Math.max(0, ...widths)));
  if (around.names !== null) return { names: withBlank(around.names), from: 'around' as const };
  const areTexts = rows[0]?.every((value) => value.startsWith('"')) ?? false;
  const isData = findDataInHeader(first, others) ?? findSymbolInHeader(first, others);
  // The names may follow in the part that was cut off, or those around may be of another table.
  const isOpen = !isWhole || around.isMisfit;
  const isNamed = isOpen ? first.some(isHeaderLike) : isData === null;
  const isHeader = mayHaveHeader && areTexts && isData === null && isNamed;
  const from = isHeader ? ('first' as const) : ('none' as const);
  return { names: withBlank(isHeader ? first : []), from };
}

/** Finds `width` names in the objects around the rows. `isMisfit`: true for more or fewer names. */
function findNames(json: string, width: number): { names: string[] | null; isMisfit: boolean } {
  const result: { names: string[] | null; isMisfit: boolean } = { names: null, isMisfit: false };
  const look = (value: unknown, key: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) for (const [name, inner] of Object.entries(value)) look(inner, name);
    else if (value.length > 0 && COLUMNS_KEY.test(key)) {
      const names = value.map(nameOf);
      if (names.some((each) => each === '')) return;
      if (names.length === width) result.names = names;
      else result.isMisfit = true;
    }
  };
  const around: unknown = attempt(() => JSON.parse(json), null);
  look(around, '');
  return result;
}

/** Returns `a` of `"a"` and of `{"name": "a", "type": "text"}`. */
function nameOf(column: unknown): string {
  if (typeof column !== 'object' || column === null) return typeof column === 'string' ? column : '';
  const { name, title, label, field } = column as Record<string, unknown>;
  return String(name ?? title ?? label ?? field ?? '');
}

/** Replaces blank and repeated names by their position, because keys must differ. */
function unique(names: readonly string[]): string[] {
  const given = new Set(names);
  const seen = new Set<string>();
  return names.map((name, at) => {
    if (name.trim() !== '' && seen.size < seen.add(name).size) return name;
    let own = `column_${at + 1}`;
    while (given.has(own)) own += '_';
    given.add(own);
    return own;
  });
}

/** Turns the columns of an object into rows; keeps the whole text in memory. */
export class ColumnsSplitter {
  #text = '';
  #tail: string | null = null;

  constructor(
    private readonly name: string,
    private readonly begin: Begin,
    private readonly head: string,
  ) {}

  push(chunk: string, isLast: boolean): SplitRecord[] {
    this.#text += chunk;
    if (!isLast) return [];
    const { chars, line } = this.begin;
    const object = this.#text.slice(chars);
    if (!isJsonText(this.head + object)) throw damagedJson('text', this.name);
    const columns = (membersOf(object) ?? []).map(({ key, valueStart, valueEnd }) => ({
      key,
      values: valuesOf(object.slice(valueStart, valueEnd)),
      end: valueEnd,
    }));
    this.#tail = object.slice(object.indexOf('}', columns.at(-1)?.end) + 1);
    const rows = new Map<string, { keys: string[]; cells: string[] }>();
    for (const { key, values } of columns) {
      for (const [number, value] of values) {
        const row = rows.get(number) ?? { keys: [], cells: [] };
        rows.set(number, row);
        row.keys.push(key);
        row.cells.push(value);
      }
    }
    return [...rows.values()].map(({ keys, cells }) => {
      return { line, raw: objectOf(keys, cells), cells: [], problem: null };
    });
  }

  /** Nothing is read before the end of the text. */
  position(): { readonly line: number; readonly rest: string } {
    return { line: 1, rest: this.#text };
  }

  tail(): string | null {
    return this.#tail;
  }
}

/** Returns the values of a column by the number of the row. */
function valuesOf(column: string): ReadonlyMap<string, string> {
  const elements = elementsOf(column);
  if (elements !== null) return new Map(elements.map((value, at) => [String(at), value]));
  const members = membersOf(column) ?? [];
  return new Map(members.map(({ key, valueStart, valueEnd }) => [key, column.slice(valueStart, valueEnd)]));
}
