/**
 * Decoded text becomes rows: records of a CSV table with their cells by column, and lines of JSON
 * with their top-level keys as columns, in the order in which they are first seen.
 * `record-splitter.ts` cuts the records, `row-fit.ts` judges which fit the table.
 */
import { cellOfJson, membersOf } from '../core/json-text.js';
import type { RowReason } from '../core/row-reason.js';
import { KEY_COLUMN, type Row } from '../core/table.js';
import type { ElementSplitter } from './element-splitter.js';
import {
  cutText,
  isLongerThan,
  MAX_COLUMNS,
  MAX_FIELD_BYTES,
  MAX_RECORD_BYTES,
  OVER_RECORD,
  RecordSplitter,
  type SplitRecord,
  type SplitterOptions,
} from './record-splitter.js';
import type { TableFit } from './row-fit.js';

/** The part of a row that its cells decide. */
type Content = Omit<Row, 'number' | 'line' | 'raw'> & Partial<Pick<Row, 'raw'>>;

/** Cuts text into records, in pieces of any size. */
type Splitter = Pick<RecordSplitter, 'push' | 'position'> & Partial<Pick<ElementSplitter, 'tail'>>;

export abstract class RowReader {
  protected blankLines = 0;
  #number = 0;
  readonly #splitter: Splitter;

  constructor(splitter: Splitter) {
    this.#splitter = splitter;
  }

  /** The rows that are complete with this text. `isLast`: no more text comes. */
  push(text: string, isLast: boolean): Row[] {
    const rows: Row[] = [];
    for (const record of this.#splitter.push(text, isLast)) {
      if (this.isPassedOver(record)) continue;
      this.#number += 1;
      const { line, raw } = record;
      const isTooLong = isLongerThan(raw, MAX_RECORD_BYTES);
      const problem: RowReason | null =
        record.problem ?? (raw.includes('\0') ? { code: 'nul' } : isTooLong ? OVER_RECORD : null);
      const content = problem === null ? this.read(record) : unread(problem);
      rows.push({ number: this.#number, line, raw: isTooLong ? cutText(raw) : raw, ...content });
    }
    return rows;
  }

  /** Line and text that wait for more: where a fault in the bytes that follow will be. */
  position(): { readonly line: number; readonly rest: string } {
    return this.#splitter.position();
  }

  /** The text behind a JSON array; null: there is none, or it was not reached. */
  tail(): string | null {
    return this.#splitter.tail?.() ?? null;
  }

  /** Oddities that are not problems of single rows, as sentences; after the last push. */
  abstract notes(): string[];

  /** Columns seen until now; null where they are known from the start. */
  columns(): readonly string[] | null {
    return null;
  }

  /** Those of them that an output has. */
  keys(): readonly string[] | null {
    return this.columns();
  }

  /** Whether the record is not a row: a header, most blank lines. */
  protected abstract isPassedOver(record: SplitRecord): boolean;

  protected abstract read(record: SplitRecord): Content;
}

function unread(problem: RowReason): Content {
  return { cells: [], problem };
}

export interface CsvLayout extends Omit<SplitterOptions, 'columnCount' | 'delimiter'> {
  readonly delimiter: string;
  readonly fit: TableFit;
  /** Whether the first record is the header: it is not a row. */
  readonly hasHeader: boolean;
}

export class CsvReader extends RowReader {
  #isHeaderDue: boolean;

  constructor(private readonly layout: CsvLayout) {
    super(new RecordSplitter({ ...layout, columnCount: layout.fit.columnCount }));
    this.#isHeaderDue = layout.hasHeader;
  }

  protected isPassedOver(record: SplitRecord): boolean {
    const isBlank = isBlankLine(record, this.layout.delimiter);
    if (isBlank) this.blankLines += 1;
    if (isBlank && (this.layout.fit.columnCount > 1 || this.#isHeaderDue)) return true;
    const isHeader = this.#isHeaderDue;
    this.#isHeaderDue = false;
    return isHeader;
  }

  protected read({ raw, cells }: SplitRecord): Content {
    const { fit } = this.layout;
    // Only a record that is itself that long can hold too long a cell.
    const isLong = isLongerThan(raw, MAX_FIELD_BYTES);
    if (isLong && cells.some((cell) => isLongerThan(cell, MAX_FIELD_BYTES))) {
      return unread({ code: 'large_cell' });
    }
    const problem = fit.findMisfit(cells);
    const surplus = cells.length - fit.columnCount;
    if (problem !== null) return { ...unread(problem), isMisfit: true };
    if (surplus === 0) return { cells, problem };
    if (surplus > 0) return { cells: cells.slice(0, fit.columnCount), problem, surplus };
    return { cells: [...cells, ...new Array<string>(-surplus).fill('')], problem, shortBy: -surplus };
  }

  notes(): string[] {
    const lines = this.blankLines === 1 ? '1 blank line' : `${this.blankLines} blank lines`;
    if (this.blankLines === 0) return [];
    return this.layout.fit.columnCount > 1
      ? [`${lines} ignored`]
      : [`${lines}: kept as rows, because the table has one column`];
  }
}

/** A line with nothing but blanks: not a record in a table of several columns. */
export function isBlankLine({ raw }: SplitRecord, delimiter: string): boolean {
  return raw.length <= 64 && raw.trim() === '' && !raw.includes(delimiter);
}

/** Rows whose inner objects are looked at for columns: no more than the choice of columns sees. */
const INNER_ROWS = 1000;
/** `a.b.c.website` stands in three objects. */
const INNER_DEPTH = 3;
/** Objects of more members are maps whose keys are data. */
const INNER_MEMBERS = 100;
const INNER_COLUMNS = 500;

interface JsonColumn {
  /** Position among the columns. */
  readonly position: number;
  /** Columns of the object that it holds, by their keys; null: none were seen. */
  members: Map<string, JsonColumn> | null;
}

/**
 * Objects by their keys, one on each line or the elements of an array. Members of inner objects are
 * columns too (`company.website`), to choose from; an output has them in their object.
 */
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
  constructor(splitter: Splitter) {
    super(splitter, 'element');
  }

  protected override read(record: SplitRecord): Content {
    const [start = '', key = ''] = KEYED.exec(record.raw) ?? [];
    const object = record.raw.slice(start.length);
    if (start === '' || !isObject(object)) return unread({ code: 'not_object', place: 'element' });
    const members = object.slice(1).trimStart();
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
