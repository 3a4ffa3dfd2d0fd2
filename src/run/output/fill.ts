/** `--fill` and `--fill-over`: edits the user's own columns as text, so that other bytes stay. */
import { ConfigError } from '../../core/errors.js';
import { addMember, cellOfJson, membersOf } from '../../core/json-text.js';
import { nearest } from '../../core/nearest.js';
import { type Phrase, phrase } from '../../core/phrase.js';
import { isJson, isTyped, jsonKey, type TableShape } from '../../core/table.js';
import { readTyped, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { columnIsOurs, columnLabel, findColumn } from '../../input/identify/find-column.js';
import { comparable } from '../../settings/column-value.js';
import type { Settings } from '../../settings/settings.js';
import type { Scan } from '../scan/scan.js';
import { columnOf } from './columns.js';
import { cellText, escapeFormula, sanitizeCell, splitRecord, writeCells } from './csv-record.js';
import { LOW_NAME_MATCH } from './name-match.js';
import { type AnswerView, brandOf, type FilledColumn, type OutputPlan } from './output-plan.js';
import { formatsOf } from './render-typed.js';

/** `filled`: the cell was blank. `kept`: it equals the brand's text. Null without a sure value. */
type FillResult = null | {
  readonly type: 'filled' | 'kept' | 'differing';
  readonly theirs: string;
  readonly brand: string;
};

interface FilledRow {
  readonly raw: string;
  /** By column; null for a row with too few or too many cells, whose columns are uncertain. */
  readonly results: readonly FillResult[] | null;
}

type FillSettings = Pick<Settings, 'fill' | 'fillOver'>;

/**
 * Returns the plan with the columns to fill, new ones added to those of the input. Throws
 * ConfigError `column-unknown`, `column-doubtful`, `column-ours` and `usage-invalid`.
 */
export function planFills(plan: OutputPlan, { fill, fillOver }: FillSettings, scan: Scan): OutputPlan {
  const { input, allColumns, replacedColumns, prefix } = plan;
  const seen = new Set(input.columns);
  const given = [
    ...input.columns,
    ...(isJson(input.format) ? allColumns.filter((each) => !seen.has(each)) : []),
  ];
  const fills: FilledColumn[] = [];
  const added: string[] = [];
  const requests = [
    ...fill.map((request) => ({ ...request, key: 'fill' as const })),
    ...fillOver.map((request) => ({ ...request, key: 'fillOver' as const })),
  ];
  for (const { column: name, field, key } of requests) {
    const refuse = (what: string, todo: Phrase) =>
      new ConfigError({
        code: 'usage-invalid',
        what,
        subject: phrase`${{ setting: key }} ${name}=${field}`,
        todo,
      });
    const columns = [...given, ...added];
    const at = isNew(name, columns)
      ? columns.push(name) - 1
      : findColumn(columns, { name, kind: null }, key).column;
    if (replacedColumns.includes(at)) throw columnIsOurs(columns, at, key);
    const isAdded = at === given.length + added.length;
    const path = pathTo(columns[at] ?? name, { columns: given, keys: new Set(allColumns) }, isAdded);
    if (name.startsWith(prefix) || path[0] === jsonKey(prefix))
      throw refuse('every run adds a column of this name', 'choose another name');
    if (scan.chosen.choices.some(({ column }) => column === at))
      throw refuse('this column is looked up', 'choose another column');
    const isTwin = columns.filter((each) => each === columns[at]).length > 1;
    if (isJson(input.format) && isTwin)
      throw refuse('the file has two keys for this column', 'rename one of them');
    if (fills.some((other) => other.at === at))
      throw refuse('the column is filled twice', 'name each column once');
    const element = input.parquet?.schema[at];
    if (element !== undefined && element.converted_type !== 'UTF8' && element.logical_type?.type !== 'STRING')
      throw refuse(
        `column ${columnLabel(columns, at)} of the Parquet file holds ${element.type}, not text`,
        'fill a column of text, or choose a new name for one',
      );
    if (isAdded) {
      if (scan.counts.long > 0)
        throw refuse(
          'rows with too many cells leave no place for a new column',
          phrase`choose a column of the file, or set ${{ set: { ragged: 'invalid' } }}`,
        );
      added.push(name);
    }
    const label = isTwin ? name : columns[at] || name;
    fills.push({ name: label, field, at, path, isOver: key === 'fillOver', isNew: isAdded });
  }
  const names = fills.filter(({ isNew, path }) => isNew && path.length === 1).map(({ name }) => name);
  const rawHeader = headerWith(names, input);
  const shape = { ...input, columns: [...given, ...names], rawHeader };
  return { ...plan, fills, input: shape, allColumns: [...allColumns, ...names] };
}

type Columns = Readonly<{ columns: readonly string[]; keys: ReadonlySet<string> }>;

/** Returns the keys to a column: `a`, `b` of `{"a":{"b":1}}`, or its name alone. */
function pathTo(name: string, { columns, keys }: Columns, isNew = false): string[] {
  const outers = columns.filter((each) => each !== name && name.startsWith(`${each}.`));
  const outer = outers.sort((a, b) => b.length - a.length)[0];
  if (outer === undefined || keys.has(name)) return [name];
  // A new `a.b` becomes a member of `a` only if the file has other members of `a`.
  const hasMembers = columns.some((each) => each.startsWith(`${outer}.`) && !keys.has(each));
  if (isNew && !hasMembers) return [name];
  const rest = name.slice(outer.length + 1);
  return [...pathTo(outer, { columns, keys }), ...(isNew ? rest.split('.') : [rest])];
}

/** True if the file has no column of this name or of a similar one. */
function isNew(name: string, columns: readonly string[]): boolean {
  const plain = comparable(name);
  return !/^(?:position:)?\d+$/.test(plain) && nearest(plain, columns.map(comparable)) === undefined;
}

function headerWith(names: readonly string[], { rawHeader, delimiter, format }: TableShape): string | null {
  if (rawHeader === null || names.length === 0) return rawHeader;
  if (isTyped(format)) return JSON.stringify([...readTyped(rawHeader), ...names]);
  return rawHeader + delimiter + writeCells(names, delimiter);
}

/** Returns the values of a brand for the columns to fill, as JSON. */
export function fillValuesOf(view: AnswerView, { fills, prefix }: OutputPlan): string {
  const brand = brandOf(view);
  const values = fills.map(({ field }) => {
    const column = columnOf(field, prefix);
    const cell = column.typed(view, brand);
    return typeof cell === 'object' ? column.cell(view, brand) || null : cell;
  });
  return JSON.stringify(values);
}

type FillValue = string | number | boolean | null;

/** Returns a function that fills a row; null with no column to fill. `values`: if certain. */
export function createFiller(plan: OutputPlan) {
  const { fills } = plan;
  if (fills.length === 0) return null;
  const editor = editorOf(plan);
  const hasNew = fills.some(({ isNew }) => isNew);
  return (raw: string, values: string | undefined, nameMatch: number | null): FilledRow => {
    const isDoubtful = nameMatch !== null && nameMatch < LOW_NAME_MATCH;
    const brands = values === undefined || isDoubtful ? [] : (JSON.parse(values) as FillValue[]);
    const row = editor(raw);
    if (row === null) return { raw, results: null };
    let isChanged = hasNew;
    const results = fills.map((column, nth): FillResult => {
      const value = brands[nth] ?? null;
      if (value === null || sanitizeCell(String(value)).trim() === '') return null;
      const theirs = row.read(column);
      const written = row.textOf(value);
      const type =
        theirs.trim() === '' ? 'filled' : comparable(theirs) === comparable(written) ? 'kept' : 'differing';
      if (type === 'filled' || (type === 'differing' && column.isOver)) {
        if (!row.set(column, value)) return null;
        isChanged = true;
      }
      return { type, theirs, brand: written };
    });
    return { raw: isChanged ? row.text() : raw, results };
  };
}

/** A row whose cells can be set. `textOf`: the text that a value has in this format. */
interface EditableRow {
  read(column: FilledColumn): string;
  textOf(value: NonNullable<FillValue>): string;
  /** Returns false if the row has no place for the cell: a text where an object should be. */
  set(column: FilledColumn, value: NonNullable<FillValue>): boolean;
  text(): string;
}

/** Returns a function that opens a row for edits, or null for too few or too many cells. */
function editorOf(plan: OutputPlan): (raw: string) => EditableRow | null {
  const { input, escapeFormulas, fills } = plan;
  const width = input.columns.length;
  const ownWidth = width - fills.filter(({ isNew }) => isNew).length;
  if (isJson(input.format)) return editableObject;
  if (isTyped(input.format)) return (raw) => editableCells(raw, plan);
  const { delimiter } = input;
  return (raw) => {
    const cells = splitRecord(raw, delimiter);
    if (cells.length !== ownWidth) return null;
    while (cells.length < width) cells.push('');
    const textOf = (value: NonNullable<FillValue>) =>
      escapeFormula(sanitizeCell(String(value)), escapeFormulas);
    return {
      read: ({ at }) => cellText(cells[at] ?? ''),
      textOf,
      set({ at }, value) {
        cells[at] = writeCells([textOf(value)], delimiter);
        return true;
      },
      text: () => cells.join(delimiter),
    };
  };
}

function editableCells(raw: string, plan: OutputPlan): EditableRow {
  const cells = readTyped(raw);
  const formats = formatsOf(plan.input);
  while (cells.length < plan.input.columns.length) cells.push(null);
  return {
    read: ({ at }) => textOfCell(cells[at] ?? null, formats),
    textOf: (value) => textOfCell(value, formats),
    set({ at }, value) {
      const before = cells[at] ?? null;
      cells[at] = plan.input.parquet === undefined ? styled(value, before) : String(value);
      return true;
    },
    text: () => JSON.stringify(cells),
  };
}

/** Gives a value the number format of the cell that it replaces; text stays text. */
function styled(given: NonNullable<FillValue>, before: TypedCell): TypedCell {
  const isText =
    typeof before === 'string' || (typeof before === 'object' && before !== null && 's' in before);
  const value = isText ? String(given) : given;
  const f = typeof before === 'object' && before !== null && 'f' in before ? before.f : undefined;
  if (f === undefined || typeof value === 'boolean') return value;
  return typeof value === 'number' ? { n: value, f } : { s: value, f };
}

function editableObject(raw: string): EditableRow {
  let text = raw;
  return {
    read: ({ path }) => cellOfJson(valueIn(text, path) ?? 'null'),
    textOf: String,
    set({ path }, value) {
      const isString = valueIn(text, path)?.startsWith('"') === true;
      const changed = withValue(text, path, JSON.stringify(isString ? String(value) : value));
      text = changed ?? text;
      return changed !== null;
    },
    text: () => text,
  };
}

function valueIn(text: string | null, [key, ...path]: readonly string[]): string | null {
  if (key === undefined || text === null) return text;
  const member = membersOf(text)?.findLast((each) => each.key === key);
  return member === undefined ? null : valueIn(text.slice(member.valueStart, member.valueEnd), path);
}

/** Adds missing objects on the path; returns null if another value is in the way. */
function withValue(text: string, [key, ...path]: readonly string[], value: string): string | null {
  if (key === undefined) return value;
  const object = text === 'null' ? '{}' : text;
  const member = membersOf(object)?.findLast((each) => each.key === key);
  const before = member === undefined ? 'null' : object.slice(member.valueStart, member.valueEnd);
  const after = withValue(before, path, value);
  if (after === null) return null;
  if (member === undefined) return addMember(object, `${JSON.stringify(key)}:${after}`);
  return object.slice(0, member.valueStart) + after + object.slice(member.valueEnd);
}

/** Counts a run's results by column, and the rows with too few or too many cells (`misfits`). */
export class FillCounts {
  readonly columns: {
    readonly column: string;
    readonly field: string;
    filled: number;
    kept: number;
    differing: number;
  }[];
  misfits = 0;

  constructor({ fills }: OutputPlan) {
    const none = { filled: 0, kept: 0, differing: 0 };
    this.columns = fills.map(({ name, field }) => ({ column: name, field, ...none }));
  }

  /** Counts a row, and returns its cells that differ. */
  add({ results }: FilledRow) {
    if (results === null) this.misfits += 1;
    return (results ?? []).flatMap((result, nth) => {
      const column = this.columns[nth];
      if (result === null || column === undefined) return [];
      column[result.type] += 1;
      const { type, theirs, brand } = result;
      return type === 'differing' ? [{ column: column.column, theirs, brand }] : [];
    });
  }
}
