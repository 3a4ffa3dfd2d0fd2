/** Reads JSON rows; their keys are columns, in the order of their first appearance. */
import { cellOfJson, elementsOf, isJsonText, membersOf } from '../../core/json-text.js';
import { attempt } from '../../core/lifecycle.js';
import type { RowReason } from '../../core/row-reason.js';
import { KEY_COLUMN } from '../../core/table.js';
import { type Content, RowReader, type Splitter, unread } from '../row-readers.js';
import type { SplitRecord } from '../text/record-splitter.js';
import { isLongerThan, MAX_COLUMNS, MAX_FIELD_BYTES } from '../text/record-splitter.js';

/** Later rows add no inner columns, because the choice of columns does not see them. */
const INNER_ROWS = 1000;
/** `a.b.c.website` stands in three objects. */
const INNER_DEPTH = 3;
/** An object with more members is a map whose keys are data. */
const INNER_MEMBERS = 100;
const INNER_COLUMNS = 500;

interface JsonColumn {
  readonly position: number;
  /** Columns of its inner object by key; null before one is read. */
  members: Map<string, JsonColumn> | null;
}

/** Makes an object of a record, or returns the problem of the record. */
type ToObject = (raw: string) => string | RowReason;

/** Reads objects. Members of inner objects are columns too (`company.website`). */
export class JsonReader extends RowReader {
  readonly #names: string[] = [];
  readonly #keys = new Map<string, JsonColumn>();
  #innerColumns = 0;
  #rows = 0;
  #isFull = false;

  constructor(
    splitter: Splitter,
    private readonly place: 'line' | 'element',
    private readonly toObject: ToObject = (raw) => raw,
    private isHeaderDue = false,
  ) {
    super(splitter);
  }

  protected isPassedOver({ raw }: SplitRecord): boolean {
    const isBlank = raw.trim() === '';
    if (isBlank && !this.isHeaderDue) this.blankLines += 1;
    const isHeader = this.isHeaderDue;
    this.isHeaderDue = false;
    return isBlank || isHeader;
  }

  protected read(record: SplitRecord): Content {
    const made = this.toObject(record.raw);
    const raw = typeof made === 'string' ? made : '';
    const problem = typeof made === 'string' ? findJsonProblem(made, this.place) : made;
    if (problem !== null) return unread(problem);
    this.#rows += 1;
    const cells: string[] = [];
    let isLarge = false;
    for (const { key, valueStart, valueEnd } of membersOf(raw) ?? []) {
      const value = raw.slice(valueStart, valueEnd);
      const text = cellOfJson(value);
      isLarge ||= isLongerThan(text, MAX_FIELD_BYTES);
      const column = this.#keys.get(key) ?? this.#addKey(key);
      if (column === null) continue;
      setCell(cells, column, text);
      if (isObject(value)) this.#readInner(value, column, key, 1, cells);
    }
    return isLarge ? unread({ code: 'large_value' }) : { cells, problem, raw };
  }

  #readInner(object: string, column: JsonColumn, path: string, depth: number, cells: string[]): void {
    if (column.members === null && this.#rows > INNER_ROWS) return;
    const members = membersOf(object) ?? [];
    if (members.length > INNER_MEMBERS) return;
    column.members ??= new Map();
    for (const { key, valueStart, valueEnd } of members) {
      const name = `${path}.${key}`;
      const inner = column.members.get(key) ?? this.#addInner(column.members, key, name);
      if (inner === null) continue;
      const value = object.slice(valueStart, valueEnd);
      setCell(cells, inner, cellOfJson(value));
      if (depth < INNER_DEPTH && isObject(value)) this.#readInner(value, inner, name, depth + 1, cells);
    }
  }

  /** Returns null if there are too many columns. */
  #addKey(key: string): JsonColumn | null {
    this.#isFull ||= this.#keys.size === MAX_COLUMNS;
    return this.#isFull ? null : this.#add(this.#keys, key, key);
  }

  #addInner(members: Map<string, JsonColumn>, key: string, name: string): JsonColumn | null {
    if (this.#rows > INNER_ROWS || this.#innerColumns === INNER_COLUMNS) return null;
    this.#innerColumns += 1;
    return this.#add(members, key, name);
  }

  #add(columns: Map<string, JsonColumn>, key: string, name: string): JsonColumn {
    const column = { position: this.#names.length, members: null };
    columns.set(key, column);
    this.#names.push(name);
    return column;
  }

  seen() {
    const notes = [
      ...(this.blankLines > 0 ? [`blank lines ignored: ${this.blankLines}`] : []),
      ...(this.#isFull ? [`more than ${MAX_COLUMNS} different keys: later ones get no column`] : []),
    ];
    return { columns: this.#names, keys: [...this.#keys.keys()], notes };
  }
}

function isObject(json: string): boolean {
  return json.startsWith('{');
}

function setCell(cells: string[], { position }: JsonColumn, text: string): void {
  while (cells.length < position) cells.push('');
  cells[position] = text;
}

/** Returns why a text is not one JSON object, or null. */
export function findJsonProblem(text: string, place: 'line' | 'element'): RowReason | null {
  const value: unknown = attempt(() => JSON.parse(text), undefined);
  if (value === undefined) return { code: 'not_json', place };
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? null : { code: 'not_object', place };
}

const KEYED = /^("[^"\\]*(?:\\.[^"\\]*)*")\s*:\s*/s;

/** Makes an object of `"0": {...}`, or of `"0": 1.5` in a map; the name is its first member. */
export const objectOfMember =
  (isMap: boolean): ToObject =>
  (raw) => {
    const [start = '', key = ''] = KEYED.exec(raw) ?? [];
    const value = raw.slice(start.length);
    if (start === '' || !(isMap || isObject(value))) return { code: 'not_object', place: 'element' };
    const members = isMap ? `"value":${value}}` : value.slice(1).trimStart();
    return `{"${KEY_COLUMN}":${key}${members.startsWith('}') ? '' : ','}${members}`;
  };

/** Makes an object of a text or number, in the column of a list without a header. */
export const objectOfScalar: ToObject = (raw) =>
  /^[[{]/.test(raw) && isJsonText(raw) ? { code: 'not_scalar' } : `{"column_1":${raw}}`;

/** Makes an object of an array, with the names of its columns. */
export const objectOfArray =
  (names: readonly string[]): ToObject =>
  (raw) => {
    if (!isJsonText(raw)) return { code: 'not_json', place: 'element' };
    const values = elementsOf(raw);
    if (values === null) return { code: 'not_array' };
    if (values.length <= names.length) return objectOf(names, values);
    return { code: 'cell_count', cells: values.length, columns: names.length };
  };

/** Makes an object of values in JSON, at most as many as names. */
export function objectOf(names: readonly string[], values: readonly string[]): string {
  return `{${values.map((value, at) => `${JSON.stringify(names[at])}:${value}`).join(',')}}`;
}
