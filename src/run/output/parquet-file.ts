/**
 * Writes a Parquet file, row group by row group. Columns of a Parquet input keep their types and
 * stored values; those of other formats get the narrowest type of all their cells.
 */
import { parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { errorText, FailFileError } from '../../core/errors.js';
import { readTyped, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { isMap } from '../../intake/parquet-lists.js';
import { withoutMeaning } from '../../intake/parquet-table.js';
import { unpackStored } from '../../intake/parquet-value.js';
import { kindOf, type RowSpool, rawOf } from '../scan/row-spool.js';
import { type ColumnType, columnsFor, uniqueNames } from './columns.js';
import type { createOutput } from './output-file.js';
import type { OutputPlan } from './output-plan.js';
import { createTypedPartOf, formatsOf } from './render-typed.js';

type Output = Awaited<ReturnType<typeof createOutput>>;

/** A row group, whichever comes first. */
const GROUP_ROWS = 20_000;
const GROUP_CHARACTERS = 32 * 1024 * 1024;
const DAY_MS = 86_400_000;

/**
 * Types of the user's columns, from all rows; text for CSV, which has no types. None for Parquet,
 * whose columns keep theirs.
 */
export function typesOfRows(plan: OutputPlan, rows: Pick<RowSpool, 'records'>): ColumnType[] {
  if (plan.input.parquet !== undefined) return [];
  const part = createTypedPartOf(plan);
  const seen = Array.from({ length: part.width }, () => new Set<ColumnType>());
  if (plan.input.format === 'csv') return seen.map(() => 'text');
  for (const batch of rows.records()) {
    for (const record of batch) {
      if (kindOf(record) === 'unreadable') continue;
      for (const [at, cell] of part.read(rawOf(record)).cells.entries()) {
        const type = typeOf(cell, plan);
        if (type !== null) seen[at]?.add(type);
      }
    }
  }
  return seen.map(commonType);
}

function typeOf(cell: TypedCell, plan: OutputPlan): ColumnType | null {
  if (cell === null) return null;
  if (typeof cell === 'boolean') return 'boolean';
  if (typeof cell === 'number') return Number.isSafeInteger(cell) ? 'integer' : 'number';
  if (typeof cell === 'string') return 'text';
  if ('n' in cell || 't' in cell) {
    const text = textOfCell(cell, formatsOf(plan.input));
    if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(Date.parse(text))) {
      return text.includes('T') ? 'moment' : 'day';
    }
    if ('n' in cell && typeof cell.n === 'number' && text === String(cell.n)) return typeOf(cell.n, plan);
  }
  return 'text';
}

function commonType(seen: ReadonlySet<ColumnType>): ColumnType {
  const [first, second, ...more] = [...seen].sort();
  if (first === undefined || more.length > 0) return 'text';
  if (second === undefined) return first;
  if (first === 'integer' && second === 'number') return 'number';
  return first === 'day' && second === 'moment' ? 'moment' : 'text';
}

/**
 * Like `output`, to which it writes, but takes records of `TypedCell`s, the first a header.
 * `types`: of the user's columns, if the input is not Parquet. Throws FailFileError
 * `output-unwritable` for values of the input that its own schema does not allow.
 */
export function createParquetFile(output: Output, plan: OutputPlan, types: readonly ColumnType[]): Output {
  const bytes = new ByteWriter();
  const formats = formatsOf(plan.input);
  let columns: readonly WrittenColumn[] = [];
  let file: ParquetWriter | null = null;
  let rows: TypedCell[][] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    if (file === null) throw new Error('a Parquet file begins with the names of its columns');
    const columnData = columns.map(({ name, read }, at) => ({
      name,
      data: rows.map((cells) => read(cells[at] ?? null)),
    }));
    try {
      if (rows.length > 0) await file.write({ columnData, rowGroupSize: rows.length });
    } catch (cause) {
      const what = 'the values of a damaged Parquet file cannot be written as Parquet again';
      const todo = 'write another format, for example with -o FILE.csv: paid answers are stored';
      throw new FailFileError({ code: 'output-unwritable', what, subject: errorText(cause), todo, cause });
    }
    rows = [];
    characters = 0;
    await send();
  }

  async function send(): Promise<void> {
    const written = Buffer.from(bytes.getBytes());
    bytes.index = 0;
    await output.write(written);
  }

  return {
    async write(record) {
      const text = String(record);
      const cells = readTyped(text);
      if (file === null) {
        columns = columnsOf(
          cells.map((cell) => textOfCell(cell, formats)),
          plan,
          types,
        );
        const schema = schemaOf(columns.map(({ stored }) => stored));
        // Statistics use only the order of the stored values.
        file = new ParquetWriter({ writer: bytes, schema, statistics: false, createdBy: 'brand-enrich' });
        return;
      }
      rows.push(cells);
      characters += text.length;
      if (rows.length === GROUP_ROWS || characters > GROUP_CHARACTERS) await flush();
    },
    async commit(verify) {
      await flush();
      if (file !== null) {
        file.schema = schemaOf(columns.map(({ meant }) => meant));
        await file.finish();
      }
      await send();
      await output.commit(verify);
    },
    discard: () => output.discard(),
  };
}

interface WrittenColumn {
  readonly name: string;
  /** The column and its nested elements: stored, and with their meaning. */
  readonly stored: readonly SchemaElement[];
  readonly meant: readonly SchemaElement[];
  read(cell: TypedCell): unknown;
}

function schemaOf(columns: readonly (readonly SchemaElement[])[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flat()];
}

/** `header`: names of the user's columns, then ours. */
function columnsOf(
  header: readonly string[],
  plan: OutputPlan,
  types: readonly ColumnType[],
): readonly WrittenColumn[] {
  const { width, kept } = createTypedPartOf(plan);
  const names = uniqueNames(header, [...header.keys()]);
  const own = plan.input.parquet && topColumns(plan.input.parquet.schema);
  const ours = columnsFor(plan.fields, plan.prefix).map(({ type }) => type);
  return names.map((name, at) => {
    const elements = at < width ? own?.[kept[at] ?? -1] : undefined;
    if (elements !== undefined) return sameColumn(elements.map(writable));
    const type = at < width ? (types[at] ?? 'text') : (ours[at - width] ?? 'text');
    const element = elementOf(name, type, at >= width);
    return { name, stored: [element], meant: [element], read: (cell) => valueIn(cell, type, plan) };
  });
}

/** The elements of each column of the root, with nested elements. */
function topColumns(schema: readonly SchemaElement[]): SchemaElement[][] {
  const columns: SchemaElement[][] = [];
  let open = 0;
  for (const element of schema.slice(1)) {
    if (open === 0) columns.push([]);
    columns.at(-1)?.push(element);
    open += (element.num_children ?? 0) - (open === 0 ? 0 : 1);
  }
  return columns;
}

/**
 * The element, annotated in a way that hyparquet-writer can write. INT96 is deprecated, and its
 * nanoseconds fit into 64 bits. An INTEGER would get its width as a 32-bit number in place of a
 * byte (hyparquet-writer 0.17), and Arrow, pandas and others refuse such a file; the older
 * annotation says the same (LogicalTypes.md, "Integers").
 */
function writable(element: SchemaElement): SchemaElement {
  const { logical_type: logical, ...rest } = element;
  if (logical?.type === 'INTEGER') {
    const { isSigned, bitWidth } = logical;
    return { ...rest, converted_type: `${isSigned ? 'INT' : 'UINT'}_${bitWidth as 8 | 16 | 32 | 64}` };
  }
  if (element.type !== 'INT96') return element;
  return {
    ...element,
    type: 'INT64',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
  };
}

function sameColumn(meant: readonly SchemaElement[]): WrittenColumn {
  const stored = meant.map((element) => withoutMeaning(element, 'write'));
  const tree = parquetSchema({ schema: schemaOf([stored]) }).children[0];
  return {
    name: meant[0]?.name ?? '',
    stored,
    meant,
    read(cell) {
      const isCarried = typeof cell === 'object' && cell !== null && 'p' in cell;
      if (!isCarried) return cell;
      const value = unpackStored(cell.p as Parameters<typeof unpackStored>[0]);
      return tree === undefined || tree.children.length === 0 ? value : withPairs(value, tree);
    },
  };
}

/** Maps were read as groups with one list of pairs; they are written as these lists. */
function withPairs(value: unknown, { element, children }: SchemaTree): unknown {
  if (value === null || value === undefined || children.length === 0) return value;
  const [only] = children;
  if (Array.isArray(value)) {
    // The elements of a list may be one group deeper.
    const inner = element.converted_type === 'LIST' && only?.children.length === 1 ? only.children[0] : only;
    return inner === undefined ? value : value.map((each) => withPairs(each, inner));
  }
  const group = value as Readonly<Record<string, unknown>>;
  const members = (of: Readonly<Record<string, unknown>>, nodes: readonly SchemaTree[]) =>
    Object.fromEntries(nodes.map((node) => [node.element.name, withPairs(of[node.element.name], node)]));
  if (!isMap(element) || only === undefined) return members(group, children);
  const pairs = (group[only.element.name] ?? []) as readonly Readonly<Record<string, unknown>>[];
  return pairs.map((pair) => members(pair, only.children));
}

function elementOf(name: string, type: ColumnType, isOurs: boolean): SchemaElement {
  const optional = { name, repetition_type: 'OPTIONAL' } as const;
  switch (type) {
    case 'boolean':
      return { ...optional, type: 'BOOLEAN' };
    case 'integer':
      return { ...optional, type: 'INT64' };
    case 'number':
      return { ...optional, type: 'DOUBLE' };
    case 'day':
      return { ...optional, type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } };
    case 'moment':
      // A spreadsheet knows no zones; our moments are in UTC.
      return {
        ...optional,
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: isOurs, unit: 'MILLIS' },
      };
    default:
      return { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
  }
}

/** null for a cell of another type, which only an odd answer of the service can have. */
function valueIn(cell: TypedCell, type: ColumnType, plan: OutputPlan): unknown {
  if (cell === null) return null;
  if (type === 'boolean') return typeof cell === 'boolean' ? cell : null;
  const text = textOfCell(cell, formatsOf(plan.input));
  if (type === 'text') return text;
  if (type === 'integer') return /^-?\d+$/.test(text) ? BigInt(text) : null;
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : null;
  const ms = Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text);
  if (Number.isNaN(ms)) return null;
  return type === 'day' ? Math.floor(ms / DAY_MS) : BigInt(ms);
}
