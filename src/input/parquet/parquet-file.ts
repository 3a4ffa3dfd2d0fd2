/**
 * Writes a Parquet file, row group by row group. Columns of a Parquet input keep their types and
 * stored values; those of other formats get the narrowest type of all their cells.
 */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { writeColumn } from 'hyparquet-writer/src/column.js';
import { DAY_MS } from '../../core/clock.js';
import { uniqueNames } from '../../core/table.js';
import {
  type CellFormats,
  type ColumnType,
  readTyped,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import {
  columnsOf as columnsOfSchema,
  elementsOf,
  GEO_KEY,
  isFlat,
  leavesOf,
  type SchemaNode,
  withRoot,
} from './schema.js';
import { unpackStored } from './values.js';

export interface ParquetPlan {
  readonly formats: CellFormats;
  /** Elements of a Parquet input, its root first; absent for other inputs. */
  readonly schema?: readonly SchemaElement[] | undefined;
  /** GeoParquet's metadata of the input. */
  readonly geo?: string | undefined;
  /** In order; columns of the header beyond them are text. */
  readonly columns: readonly ParquetColumn[];
  /** A row that could not be read has no values, not even of a column that every row must have. */
  readonly hasUnreadable: boolean;
}

type ParquetColumn =
  /**
   * The column of the input at this position, with its type and stored values. INT96 becomes a
   * TIMESTAMP of this unit, NANOS if all its times fit into 64 bits.
   */
  | { readonly same: number; readonly int96: Int96Unit }
  /** `isUtc`: whether moments are in UTC; those of a spreadsheet have no zone. */
  | { readonly type: ColumnType; readonly isUtc: boolean };

/** A row group, whichever comes first. */
const GROUP_ROWS = 20_000;
const GROUP_CHARACTERS = 32 * 1024 * 1024;

type Int96Unit = 'NANOS' | 'MICROS';

/** Takes records of `TypedCell`s, the first a header, and sends its bytes. */
export function createParquetFile(output: (bytes: Buffer) => Promise<void>, plan: ParquetPlan) {
  const bytes = new ByteWriter();
  let columns: readonly WrittenColumn[] = [];
  let file: ParquetWriter | null = null;
  let rows = 0;
  let characters = 0;

  async function flush(): Promise<void> {
    if (file === null) throw new Error('a Parquet file begins with the names of its columns');
    if (rows > 0) writeGroup(file, columns, rows);
    rows = 0;
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
        const schema = withRoot(columns.map(({ node }) => elementsOf(node)));
        const kvMetadata = plan.geo === undefined ? [] : [{ key: GEO_KEY, value: plan.geo }];
        const createdBy = 'brand-enrich';
        file = new ParquetWriter({
          writer: bytes,
          schema,
          createdBy,
          ...(kvMetadata.length > 0 && { kvMetadata }),
        });
        return;
      }
      for (const [at, column] of columns.entries()) column.add(cells[at] ?? null);
      rows += 1;
      characters += record.length;
      if (rows === GROUP_ROWS || characters > GROUP_CHARACTERS) await flush();
    },
    /** Sends the rest; nothing may be written after it. */
    async finish(): Promise<void> {
      await flush();
      if (file !== null) await file.finish();
      await send();
    },
  };
}

/** Values of a column as it is stored, and their levels. */
interface LeafValues {
  readonly leaf: SchemaNode;
  values: unknown[];
  repetitions: number[];
  definitions: number[];
}

interface WrittenColumn {
  readonly node: SchemaNode;
  readonly leaves: readonly LeafValues[];
  add(cell: TypedCell): void;
}

/** `ParquetWriter.write` assembles lists anew, and knows fewer kinds of them than there are. */
function writeGroup(file: ParquetWriter, columns: readonly WrittenColumn[], rows: number): void {
  const { writer } = file;
  const compressors = file.compressors as Encoder['compressors'];
  const start = writer.offset;
  const chunks = columns
    .flatMap(({ leaves }) => leaves)
    .map((values) => {
      const { leaf } = values;
      const { type, type_length = 0 } = leaf.element;
      if (type === undefined) throw new Error('a column has no type');
      const isFloat = type === 'FLOAT' || type === 'DOUBLE';
      const column = {
        columnName: leaf.element.name,
        // As they are stored; its statistics know only the order of stored values.
        element: { name: leaf.element.name, type, type_length },
        schemaPath: [ROOT, ...leaf.path],
        codec: 'SNAPPY' as const,
        compressors,
        stats: false,
        pageSize: PAGE_BYTES,
        columnIndex: false,
        offsetIndex: false,
        // In a dictionary -0 and 0 are the same.
        ...(isFloat && { encoding: 'PLAIN' as const }),
      };
      const { chunk } = writeColumn({
        writer,
        column,
        pageData: {
          values: values.values,
          definitionLevels: leaf.definition === 0 ? [] : values.definitions,
          repetitionLevels: leaf.repetition === 0 ? [] : values.repetitions,
          maxDefinitionLevel: leaf.definition,
        },
      });
      Object.assign(values, { values: [], definitions: [], repetitions: [] });
      return chunk;
    });
  let size = 0n;
  for (const { meta_data } of chunks) size += meta_data?.total_uncompressed_size ?? 0n;
  file.num_rows += BigInt(rows);
  file.row_groups.push({
    columns: chunks,
    total_byte_size: size,
    num_rows: BigInt(rows),
    total_compressed_size: BigInt(writer.offset - start),
  });
}

type Encoder = Parameters<typeof writeColumn>[0]['column'];

const ROOT: SchemaElement = { name: 'root' };
const PAGE_BYTES = 1024 * 1024;

function columnsOf(header: readonly string[], plan: ParquetPlan): readonly WrittenColumn[] {
  const own = columnsOfSchema(plan.schema ?? []);
  return uniqueNames(header, [...header.keys()]).map((name, at) => {
    const column = plan.columns[at] ?? { type: 'text', isUtc: false };
    if (!('same' in column)) {
      const node = nodeOf([elementOf(name, column)]);
      return writtenColumn(node, (cell) => valueIn(cell, column.type, plan.formats));
    }
    const before = own[column.same];
    if (before === undefined) throw new Error(`the input has no column ${column.same}`);
    return sameColumn(before, name, column.int96, plan);
  });
}

function nodeOf(elements: readonly SchemaElement[]): SchemaNode {
  const [node] = columnsOfSchema(withRoot([elements]));
  if (node === undefined) throw new Error('a column has no element');
  return node;
}

function writtenColumn(node: SchemaNode, toStored: (cell: TypedCell) => unknown): WrittenColumn {
  const leaves = leavesOf([node]).map((leaf) => ({ leaf, values: [], repetitions: [], definitions: [] }));
  return { node, leaves, add: (cell) => addEntry(leaves[0], 0, null, toStored(cell)) };
}

/** `definition`: null for a column without lists and groups. */
function addEntry(
  to: LeafValues | undefined,
  repetition: number,
  definition: number | null,
  value: unknown,
): void {
  to?.values.push(value);
  to?.repetitions.push(repetition);
  to?.definitions.push(definition ?? (value === null ? 0 : to.leaf.definition));
}

function sameColumn(before: SchemaNode, name: string, unit: Int96Unit, plan: ParquetPlan): WrittenColumn {
  const [first, ...others] = elementsOf(before).map((element) => writable(element, unit));
  const isNeeded = plan.hasUnreadable && first?.repetition_type === 'REQUIRED';
  const top = { ...first, name, ...(isNeeded && { repetition_type: 'OPTIONAL' as const }) };
  const column = writtenColumn(nodeOf([top, ...others]), (cell) => cell);
  const { node, leaves } = column;
  const isMicros = leavesOf([before]).map(({ element }) => element.type === 'INT96' && unit === 'MICROS');
  const inUnit = (value: unknown, at: number) =>
    isMicros[at] && typeof value === 'bigint' ? microsOf(value) : value;
  return {
    ...column,
    add(cell) {
      const isCarried = typeof cell === 'object' && cell !== null && 'p' in cell;
      const stored = isCarried ? unpackStored(cell.p as Parameters<typeof unpackStored>[0]) : cell;
      if (isFlat(node)) return addEntry(leaves[0], 0, null, inUnit(stored, 0));
      for (const [at, leaf] of leaves.entries()) {
        const entries = stored === null ? [0, 0, null] : ((stored as unknown[][])[at] ?? []);
        for (let from = 0; from < entries.length; from += 3) {
          const definition = Number(entries[from + 1]) + Number(isNeeded && stored !== null);
          addEntry(leaf, Number(entries[from]), definition, inUnit(entries[from + 2], at));
        }
      }
    },
  };
}

/** Cut towards the past, as the other units are. */
function microsOf(nanos: bigint): bigint {
  return (nanos - (((nanos % 1_000n) + 1_000n) % 1_000n)) / 1_000n;
}

/**
 * The element, annotated in a way that hyparquet-writer can write. INT96 is deprecated. An INTEGER
 * would get its width as a 32-bit number in place of a byte (hyparquet-writer 0.17), and Arrow,
 * pandas and others refuse such a file; the older annotation says the same (LogicalTypes.md,
 * "Integers").
 */
function writable(element: SchemaElement, unit: Int96Unit): SchemaElement {
  const { logical_type: logical, ...rest } = element;
  if (logical?.type === 'INTEGER') {
    const { isSigned, bitWidth } = logical;
    return { ...rest, converted_type: `${isSigned ? 'INT' : 'UINT'}_${bitWidth as 8 | 16 | 32 | 64}` };
  }
  if (rest.type !== 'INT96') return element;
  return { ...rest, type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit } };
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
  if (type === 'integer') return /^-?\d{1,18}$/.test(text) ? BigInt(text) : null;
  if (type === 'number') return Number.isFinite(Number(text)) ? Number(text) : null;
  const ms = Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text);
  if (Number.isNaN(ms)) return null;
  return type === 'day' ? Math.floor(ms / DAY_MS) : BigInt(ms);
}
