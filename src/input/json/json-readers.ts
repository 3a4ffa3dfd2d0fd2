/** Rows of JSON, with their keys as columns in the order in which they are first seen. */
import { cellOfJson, elementsOf, membersOf } from '../../core/json-text.js';
import type { RowReason } from '../../core/row-reason.js';
import { KEY_COLUMN } from '../../core/table.js';
import { type Content, RowReader, type Splitter, unread } from '../row-readers.js';
import type { SplitRecord } from '../text/record-splitter.js';
import { isLongerThan, MAX_COLUMNS, MAX_FIELD_BYTES } from '../text/record-splitter.js';

/** Rows whose inner objects are looked at for columns: no more than the choice of columns sees. */
const INNER_ROWS = 1000;
/** `a.b.c.website` stands in three objects. */
const INNER_DEPTH = 3;
/** Objects of more members are maps whose keys are data. */
const INNER_MEMBERS = 100;
const INNER_COLUMNS = 500;

interface JsonColumn {
  readonly position: number;
  /** Columns of the object that it holds, by their keys; null: none were seen. */
  members: Map<string, JsonColumn> | null;
}

/** Reads objects. Members of inner objects are columns to choose from (`company.website`). */
export class JsonReader extends RowReader {
  readonly #names: string[] = [];
  readonly #keys = new Map<string, JsonColumn>();
  #innerColumns = 0;
  #rows = 0;
  #isFull = false;

  constructor(
    splitter: Splitter,
    /** The word for one of them in messages. */
    private readonly place: 'line' | 'element',
  ) {
    super(splitter);
  }

  protected isPassedOver({ raw }: SplitRecord): boolean {
    const isBlank = raw.trim() === '';
    if (isBlank) this.blankLines += 1;
    return isBlank;
  }

  protected read({ raw }: SplitRecord): Content {
    const problem = findJsonProblem(raw, this.place);
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
    return isLarge ? unread({ code: 'large_value' }) : { cells, problem };
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

  /** null: there are too many columns already. */
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

  notes(): string[] {
    return [
      ...(this.blankLines > 0 ? [`blank lines ignored: ${this.blankLines}`] : []),
      ...(this.#isFull ? [`more than ${MAX_COLUMNS} different keys: later ones get no column`] : []),
    ];
  }

  override columns(): readonly string[] {
    return this.#names;
  }

  override keys(): readonly string[] {
    return [...this.#keys.keys()];
  }
}

function isObject(json: string): boolean {
  return json.startsWith('{');
}

function setCell(cells: string[], { position }: JsonColumn, text: string): void {
  while (cells.length < position) cells.push('');
  cells[position] = text;
}

const KEYED = /^("[^"\\]*(?:\\.[^"\\]*)*")\s*:\s*/s;

/** The members of an object, `"0": {...}`; the name of each becomes its first member. */
export class JsonKeyedReader extends JsonReader {
  /** `isMap`: the value of each becomes its second member. */
  constructor(
    splitter: Splitter,
    private readonly isMap = false,
  ) {
    super(splitter, 'element');
  }

  protected override read(record: SplitRecord): Content {
    const [start = '', key = ''] = KEYED.exec(record.raw) ?? [];
    const value = record.raw.slice(start.length);
    const isRow = start !== '' && (this.isMap || isObject(value));
    if (!isRow) return unread({ code: 'not_object', place: 'element' });
    const members = this.isMap ? `"value":${value}}` : value.slice(1).trimStart();
    const raw = `{"${KEY_COLUMN}":${key}${members.startsWith('}') ? '' : ','}${members}`;
    const content = super.read({ ...record, raw });
    return content.problem === null ? { ...content, raw } : content;
  }
}

/** The name of the column of a list without a header. */
const BARE = 'column_1';

/** Texts and numbers, the elements of an array; each becomes an object of one key. */
export class JsonListReader extends RowReader {
  protected isPassedOver(): boolean {
    return false;
  }

  protected read({ raw }: SplitRecord): Content {
    const problem = findJsonProblem(`{"${BARE}":${raw}}`, 'element');
    if (problem !== null) return unread(problem);
    if (/^[[{]/.test(raw)) return unread({ code: 'not_scalar' });
    const text = cellOfJson(raw);
    if (isLongerThan(text, MAX_FIELD_BYTES)) return unread({ code: 'large_value' });
    return { raw: `{"${BARE}":${raw}}`, cells: [text], problem };
  }

  notes(): string[] {
    return [];
  }

  override columns(): readonly string[] {
    return [BARE];
  }
}

/** Why a text is not one JSON object; null when it is. */
export function findJsonProblem(text: string, place: 'line' | 'element'): RowReason | null {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? null : { code: 'not_object', place };
  } catch {
    return { code: 'not_json', place };
  }
}

/** Arrays, the elements of an array; each becomes an object with the names of the columns. */
export class JsonArraysReader extends JsonReader {
  #isHeaderDue: boolean;

  /** `names`: of the columns. `hasHeader`: the first array holds them, and is not a row. */
  constructor(
    splitter: Splitter,
    private readonly names: readonly string[],
    hasHeader: boolean,
  ) {
    super(splitter, 'element');
    this.#isHeaderDue = hasHeader;
  }

  protected override isPassedOver(record: SplitRecord): boolean {
    const isHeader = this.#isHeaderDue;
    this.#isHeaderDue = false;
    return isHeader || super.isPassedOver(record);
  }

  protected override read(record: SplitRecord): Content {
    const problem = findJsonProblem(record.raw, 'element');
    if (problem?.code === 'not_json') return unread(problem);
    const values = elementsOf(record.raw);
    if (values === null) return unread({ code: 'not_array' });
    const { names } = this;
    if (values.length > names.length)
      return unread({ code: 'cell_count', cells: values.length, columns: names.length });
    const raw = objectOf(names, values);
    const content = super.read({ ...record, raw });
    return content.problem === null ? { ...content, raw } : content;
  }
}

/** An object as text; `values`: as many as names, or fewer, as JSON. */
export function objectOf(names: readonly string[], values: readonly string[]): string {
  return `{${values.map((value, at) => `${JSON.stringify(names[at])}:${value}`).join(',')}}`;
}
