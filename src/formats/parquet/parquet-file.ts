/**
 * Writes a Parquet file, row group by row group. Columns of a Parquet input keep their types and
 * stored values; those of other formats get the narrowest type of all their cells.
 */
import { parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { DAY_MS } from '../../core/clock.js';
import { errorText, FailFileError } from '../../core/errors.js';
import { phrase } from '../../core/phrase.js';
import { uniqueNames } from '../../core/table.js';
import {
  type CellFormats,
  type ColumnType,
  readTyped,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import { isMap } from './lists.js';
import { withoutMeaning } from './parquet-table.js';
import { unpackStored } from './values.js';

export interface ParquetPlan {
  readonly formats: CellFormats;
  /** Elements of a Parquet input, its root first; absent for other inputs. */
  readonly schema?: readonly SchemaElement[] | undefined;
  /** In order; columns of the header beyond them are text. */
  readonly columns: readonly ParquetColumn[];
  /** A row that could not be read has no values, not even of a column that every row must have. */
  readonly hasUnreadable: boolean;
}

type ParquetColumn =
  /** The column of the input at this position, with its type and stored values. */
  | { readonly same: number }
  /** `isUtc`: whether moments are in UTC; those of a spreadsheet have no zone. */
  | { readonly type: ColumnType; readonly isUtc: boolean };

/** A row group, whichever comes first. */
const GROUP_ROWS = 20_000;
const GROUP_CHARACTERS = 32 * 1024 * 1024;

/**
 * Takes records of `TypedCell`s, the first a header, and sends its bytes. Rejects with
 * FailFileError `input-binary` for values of the input that its own schema does not allow, and with
 * what `output` rejects with.
 */
export function createParquetFile(output: (bytes: Buffer) => Promise<void>, plan: ParquetPlan) {
  const bytes = new ByteWriter();
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
      const todo = phrase`write another format, for example with ${{ choose: 'output', example: 'FILE.csv' }}: paid answers are stored`;
      throw new FailFileError({ code: 'input-binary', what, subject: errorText(cause), todo, cause });
    }
    rows = [];
    characters = 0;
    await send();
  }

  async function send(): Promise<void> {
    const written = Buffer.from(bytes.getBytes());
    bytes.index = 0;
    await output(written);
  }

  return {
    async write(record: string): Promise<void> {
      const cells = readTyped(record);
      if (file === null) {
        columns = columnsOf(
          cells.map((cell) => textOfCell(cell, plan.formats)),
          plan,
        );
        const schema = schemaOf(columns.map(({ stored }) => stored));
        // Statistics use only the order of the stored values.
        file = new ParquetWriter({ writer: bytes, schema, statistics: false, createdBy: 'brand-enrich' });
        return;
      }
      rows.push(cells);
      characters += record.length;
      if (rows.length === GROUP_ROWS || characters > GROUP_CHARACTERS) await flush();
    },
    /** Sends the rest; nothing may be written after it. */
    async finish(): Promise<void> {
      await flush();
      if (file !== null) {
        file.schema = schemaOf(columns.map(({ meant }) => meant));
        await file.finish();
      }
      await send();
    },
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

function columnsOf(header: readonly string[], plan: ParquetPlan): readonly WrittenColumn[] {
  const own = topColumns(plan.schema ?? []);
  return uniqueNames(header, [...header.keys()]).map((name, at) => {
    const column = plan.columns[at] ?? { type: 'text', isUtc: false };
    if ('same' in column) return sameColumn(orNone(own[column.same] ?? [], plan).map(writable));
    const element = elementOf(name, column);
    const read = (cell: TypedCell) => valueIn(cell, column.type, plan.formats);
    return { name, stored: [element], meant: [element], read };
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

function orNone(
  [first, ...others]: readonly SchemaElement[],
  { hasUnreadable }: ParquetPlan,
): readonly SchemaElement[] {
  if (first === undefined) return others;
  const isNeeded = hasUnreadable && first.repetition_type === 'REQUIRED';
  return [isNeeded ? { ...first, repetition_type: 'OPTIONAL' } : first, ...others];
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

function elementOf(
  name: string,
  { type, isUtc }: Extract<ParquetColumn, { type: ColumnType }>,
): SchemaElement {
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
      return {
        ...optional,
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: isUtc, unit: 'MILLIS' },
      };
    default:
      return { ...optional, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
  }
}

/** null for a cell of another type, which only an odd answer of the service can have. */
function valueIn(cell: TypedCell, type: ColumnType, formats: CellFormats): unknown {
  if (cell === null) return null;
  if (type === 'boolean') return typeof cell === 'boolean' ? cell : null;
  const text = textOfCell(cell, formats);
  if (type === 'text') return text;
  if (type === 'integer') return /^-?\d+$/.test(text) ? BigInt(text) : null;
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : null;
  const ms = Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text);
  if (Number.isNaN(ms)) return null;
  return type === 'day' ? Math.floor(ms / DAY_MS) : BigInt(ms);
}
