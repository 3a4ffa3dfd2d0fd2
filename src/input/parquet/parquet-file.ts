/** Writes a Parquet file by row groups; columns of a Parquet input keep types and values. */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { DAY_MS } from '../../core/clock.js';
import { uniqueNames } from '../../core/table.js';
import {
  type CellFormats,
  type ColumnType,
  readTyped,
  type TypedCell,
  textOfCell,
} from '../../core/typed-cell.js';
import { GEO_KEY, TEXT_ELEMENT } from './footer.js';
import { unpackStored } from './values.js';

export interface ParquetPlan {
  readonly formats: CellFormats;
  /** The columns of a Parquet input; absent for other inputs. */
  readonly schema?: readonly SchemaElement[] | undefined;
  readonly geo?: string | undefined;
  /** In order; further columns of the header are text. */
  readonly columns: readonly ParquetColumn[];
  /** True if unreadable rows lack values even in required columns. */
  readonly hasUnreadable: boolean;
}

type ParquetColumn =
  /** A column of the input. INT96 becomes a TIMESTAMP, in NANOS if all times fit into 64 bits. */
  | { readonly same: number; readonly int96: 'NANOS' | 'MICROS' }
  /** `isUtc`: true for moments in UTC; those of a spreadsheet have no zone. */
  | { readonly type: ColumnType; readonly isUtc: boolean };

const GROUP_ROWS = 20_000;
const GROUP_CHARACTERS = 32 * 1024 * 1024;
const PAGE_BYTES = 1024 * 1024;

/** Writes records of `TypedCell`s, the first a header, as bytes to `output`. */
export function createParquetFile(output: (bytes: Buffer) => Promise<void>, plan: ParquetPlan) {
  const bytes = new ByteWriter();
  let columns: readonly WrittenColumn[] = [];
  let file: ParquetWriter | null = null;
  let rows = 0;
  let characters = 0;

  async function flush(isLast = false): Promise<void> {
    if (file === null) throw new Error('a Parquet file begins with the names of its columns');
    const columnData = columns.map(({ element: { name, type }, values }) => {
      // In a dictionary -0 and 0 are the same.
      const isFloat = type === 'FLOAT' || type === 'DOUBLE';
      return { name, data: values, offsetIndex: false, ...(isFloat && { encoding: 'PLAIN' as const }) };
    });
    await file.write({ columnData, rowGroupSize: GROUP_ROWS, pageSize: PAGE_BYTES });
    for (const { values } of columns) values.length = 0;
    rows = 0;
    characters = 0;
    if (isLast) {
      file.schema = withRoot(columns.map(({ element }) => element));
      await file.finish();
    }
    const written = Buffer.from(bytes.getBytes());
    bytes.index = 0;
    await output(written);
  }

  return {
    async write(record: string): Promise<void> {
      const cells = readTyped(record);
      if (file === null) {
        const header = cells.map((cell) => textOfCell(cell, plan.formats));
        columns = columnsOf(header, plan);
        // With these annotations the writer would convert values, which are in stored form already.
        const stored = columns.map(({ element }) => {
          const { converted_type, logical_type, ...bare } = element;
          return bare;
        });
        file = new ParquetWriter({
          writer: bytes,
          schema: withRoot(stored),
          statistics: false,
          createdBy: 'brand-enrich',
          ...(plan.geo !== undefined && { kvMetadata: [{ key: GEO_KEY, value: plan.geo }] }),
        });
        return;
      }
      for (const [at, { values, toStored }] of columns.entries()) values.push(toStored(cells[at] ?? null));
      rows += 1;
      characters += record.length;
      if (rows === GROUP_ROWS || characters > GROUP_CHARACTERS) await flush();
    },
    /** Sends the rest. Nothing may be written afterwards. */
    finish: () => flush(true),
  };
}

function withRoot(elements: readonly SchemaElement[]): SchemaElement[] {
  return [{ name: 'root', num_children: elements.length }, ...elements];
}

interface WrittenColumn {
  readonly element: SchemaElement;
  readonly values: unknown[];
  readonly toStored: (cell: TypedCell) => unknown;
}

function columnsOf(header: readonly string[], plan: ParquetPlan): readonly WrittenColumn[] {
  return uniqueNames(header, [...header.keys()]).map((name, at) => {
    const column = plan.columns[at] ?? { type: 'text', isUtc: false };
    const optional = { name, repetition_type: 'OPTIONAL' as const };
    if (!('same' in column)) {
      const element = { ...elementsOf(column.isUtc)[column.type], ...optional };
      return { element, values: [], toStored: (cell) => valueIn(cell, column.type, plan.formats) };
    }
    const before = plan.schema?.[column.same];
    if (before === undefined) throw new Error(`the input has no column ${column.same}`);
    const element = { ...writable(before, column.int96), ...(plan.hasUnreadable ? optional : { name }) };
    const isMicros = before.type === 'INT96' && column.int96 === 'MICROS';
    return { element, values: [], toStored: (cell) => storedIn(cell, isMicros) };
  });
}

/** Returns the stored value of a cell of a Parquet input; JSON for lists and groups. */
function storedIn(cell: TypedCell, isMicros: boolean): unknown {
  if (typeof cell !== 'object' || cell === null) return cell;
  if ('j' in cell) return cell.j;
  const stored = 'p' in cell ? unpackStored(cell.p as Parameters<typeof unpackStored>[0]) : null;
  if (!isMicros || typeof stored !== 'bigint') return stored;
  // Round towards the past, like the other units.
  return (stored - (((stored % 1_000n) + 1_000n) % 1_000n)) / 1_000n;
}

/**
 * Returns an element that hyparquet-writer 0.17 writes correctly. It writes the width of an INTEGER
 * in 32 bits instead of a byte, which Arrow and pandas refuse; the older annotation works.
 */
function writable(element: SchemaElement, unit: 'NANOS' | 'MICROS'): SchemaElement {
  const { logical_type: logical, ...rest } = element;
  if (logical?.type === 'INTEGER') {
    const { isSigned, bitWidth } = logical;
    return { ...rest, converted_type: `${isSigned ? 'INT' : 'UINT'}_${bitWidth as 8 | 16 | 32 | 64}` };
  }
  if (rest.type !== 'INT96') return element;
  return { ...rest, type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: false, unit } };
}

const elementsOf = (isAdjustedToUTC: boolean) =>
  ({
    boolean: { type: 'BOOLEAN' },
    integer: { type: 'INT64' },
    number: { type: 'DOUBLE' },
    day: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
    moment: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC, unit: 'MILLIS' } },
    text: TEXT_ELEMENT,
  }) satisfies Record<ColumnType, Partial<SchemaElement>>;

/** Returns the value to store; null for another type, which only an odd answer can bring. */
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
