/** The table of a Parquet file, one row group after the other. */
import {
  type AsyncBuffer,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { FailFileError } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import { BINARY_SHAPE, type Row } from '../../core/table.js';
import { NO_FORMATS, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import {
  cutText,
  isLongerThan,
  KEPT_CHARS,
  MAX_FIELD_BYTES,
  MAX_RECORD_BYTES,
  OVER_RECORD,
} from '../../intake/record-splitter.js';
import {
  type BinaryFile,
  type BinaryTable,
  damaged,
  inBatches,
  LONG_HEADER,
  readAt,
} from '../binary-table.js';
import { assertCounts, assertSchema, planGroup } from './footer.js';
import { isList, isMap, leavesOf, withLists } from './lists.js';
import { parquetCell, textOrBytes } from './values.js';

/** Metadata of programs built on Arrow: their own schema, beside that of Parquet. */
const ARROW_KEY = 'ARROW:schema';

/** Throws `input-binary`, `input-empty`. */
export async function openParquetTable(input: BinaryFile): Promise<BinaryTable> {
  const { name } = input;
  const file = bufferOf(input);
  const { metadata, stored, elements, leaves } = await readFooter(input, file);
  const columns = elements.map((element) => element.name);
  const rawHeader = JSON.stringify(columns);
  if (columns.length === 0 || metadata.num_rows === 0n) {
    throw new FailFileError({
      code: 'input-empty',
      subject: name,
      todo: 'check that this is the right file',
    });
  }
  if (isLongerThan(rawHeader, MAX_RECORD_BYTES)) throw damaged(name, new Error(LONG_HEADER));

  async function* readRows(most: number | null): AsyncGenerator<unknown[][]> {
    let groupStart = 0;
    for (const group of metadata.row_groups) {
      const groupEnd = groupStart + Number(group.num_rows);
      const last = Math.min(groupEnd, most ?? groupEnd);
      if (groupStart >= last) break;
      const plan = within(name, () => planGroup(group, leaves, (from, bytes) => readAt(input, from, bytes)));
      for (let from = groupStart; from < last; from += plan.rows) {
        const to = Math.min(last, from + plan.rows);
        // With all groups, each slice would look at each of them.
        const metadata = { ...stored, row_groups: [group] };
        const options = { file, metadata, columns, atOnce: plan.columns };
        yield readSlice(name, options, from - groupStart, to - groupStart);
      }
      groupStart = groupEnd;
    }
  }

  return {
    shape: {
      format: 'parquet',
      ...BINARY_SHAPE,
      columns,
      rawHeader,
      parquet: { schema: metadata.schema },
    },
    detected: `Parquet, ${countOf(metadata.row_groups.length, 'row group')}`,
    warnings: lostTypes(metadata, elements),
    openRows(limit) {
      let number = 0;
      const take = (values: readonly unknown[]) => {
        number += 1;
        return rowOf(number, values, elements);
      };
      return {
        batches: inBatches(readRows(limit), take, limit),
        width: () => columns.length,
        notes: () => [],
      };
    },
  };
}

function within<T>(name: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw damaged(name, error);
  }
}

/** What Parquet output does not keep, as sentences. */
function lostTypes({ key_value_metadata }: FileMetaData, elements: readonly SchemaElement[]): string[] {
  return [
    elements.some(({ type }) => type === 'INT96') &&
      'times of type INT96 are written as TIMESTAMP(NANOS), because INT96 is deprecated',
    key_value_metadata?.some(({ key }) => key === ARROW_KEY) &&
      'Parquet output keeps all values, but not the types that only Arrow knows: zoned times are written in UTC, dictionaries and durations as their values',
  ].filter((each) => typeof each === 'string');
}

/** Refuses the ranges of a damaged footer; the reader does not await all of its reads. */
function bufferOf(input: BinaryFile): AsyncBuffer {
  const { size } = input;
  const read = (start: number, end: number) => {
    const bytes = readAt(input, start, end - start);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  };
  return {
    byteLength: size,
    slice(start, end = size) {
      const isInside = Number.isSafeInteger(start) && start >= 0 && start <= end && end <= size;
      if (isInside) return read(start, end);
      const refused = Promise.reject(new Error('it refers to a position beyond its end'));
      refused.catch(() => undefined);
      return refused;
    },
  };
}

async function readFooter({ name, size }: BinaryFile, file: AsyncBuffer) {
  try {
    const read = await parquetMetadataAsync(file, { geoparquet: false });
    assertSchema(read);
    const metadata = withLists(read);
    assertSchema(metadata);
    assertChunks(metadata);
    assertCounts(metadata, size);
    const schema = metadata.schema.map((element) => withoutMeaning(element, 'read'));
    const tree = parquetSchema(metadata);
    const elements = tree.children.map(({ element }) => element);
    return { metadata, stored: { ...metadata, schema }, elements, leaves: leavesOf(tree) };
  } catch (error) {
    throw damaged(name, error);
  }
}

/**
 * Throws if a row group has other chunks than one for each column. Of chunks with one name the
 * reader would take the first alone, and a fault in one that it does not take would end the
 * process.
 */
function assertChunks(metadata: FileMetaData): void {
  const tree = parquetSchema(metadata);
  const names = tree.children.map(({ element }) => element.name);
  if (new Set(names).size < names.length) throw new Error('two of its columns have the same name');
  const expected = JSON.stringify(leavesOf(tree).map(({ path }) => path));
  for (const { columns } of metadata.row_groups) {
    const found = JSON.stringify(columns.map(({ meta_data }) => meta_data?.path_in_schema));
    if (found !== expected) throw new Error('its columns are not those of its schema');
  }
}

/**
 * The element without the annotations of its values, so that stored values are read and written
 * unchanged. Annotations of text, lists and maps remain; but maps are read as lists of pairs,
 * because objects would lose the order and type of their keys.
 */
export function withoutMeaning(element: SchemaElement, purpose: 'read' | 'write'): SchemaElement {
  const { converted_type, logical_type, ...rest } = element;
  if (element.type !== undefined) {
    return converted_type === 'UTF8' || logical_type?.type === 'STRING' ? element : rest;
  }
  if (isList(element)) return { ...rest, converted_type: 'LIST' };
  return isMap(element) && purpose === 'write' ? { ...rest, converted_type: 'MAP' } : rest;
}

interface StoredTable {
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: readonly string[];
  /** Columns to read at once. */
  readonly atOnce: number;
}

/** The given rows of one row group. */
async function readSlice(
  name: string,
  { file, metadata, columns, atOnce }: StoredTable,
  rowStart: number,
  rowEnd: number,
): Promise<unknown[][]> {
  const rows: unknown[][] = Array.from({ length: rowEnd - rowStart }, () => []);
  const parsers = { stringFromBytes: textOrBytes, timestampFromNanoseconds: (nanos: bigint) => nanos };
  const readColumns = async (some: string[]) => {
    const onComplete = (parts: unknown[][]) => {
      if (parts.length !== rows.length) throw new Error('it has fewer rows than its footer states');
      for (const [at, part] of parts.entries()) rows[at]?.push(...part);
    };
    const asStored = { compressors, utf8: false, geoparquet: false, parsers: parsers as object };
    await parquetRead({ file, metadata, columns: some, rowStart, rowEnd, onComplete, ...asStored });
  };
  try {
    for (let at = 0; at < columns.length; at += atOnce) await readColumns(columns.slice(at, at + atOnce));
    return rows;
  } catch (error) {
    throw damaged(name, error);
  }
}

function rowOf(number: number, values: readonly unknown[], elements: readonly SchemaElement[]): Row {
  const place = { number, line: number };
  let left = MAX_RECORD_BYTES;
  const over = values.findIndex((value) => {
    left -= sizeOf(value, left);
    return left < 0;
  });
  const taken = over < 0 ? elements : elements.slice(0, over);
  const cells = taken.map((element, at) => parquetCell(element, values[at]));
  if (over >= 0) cells.push(beginningOf(values[over]));
  const raw = JSON.stringify(cells);
  if (over < 0 && !isLongerThan(raw, MAX_RECORD_BYTES))
    return { ...place, raw, cells: cells.map((cell) => textOfCell(cell, NO_FORMATS)), problem: null };
  return { ...place, raw: cutText(raw, KEPT_CHARS), cells: [], problem: OVER_RECORD };
}

function beginningOf(value: unknown): TypedCell {
  return typeof value === 'string' ? cutText(value, MAX_FIELD_BYTES) : null;
}

/** Characters that a value has at least as JSON, counted until they are more than `most`. Pure. */
export function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length + 3;
  if (value instanceof Uint8Array) return value.length + 3;
  if (typeof value !== 'object' || value === null) return 2;
  let size = 2;
  for (const each of Object.values(value)) {
    size += sizeOf(each, most - size);
    if (size > most) break;
  }
  return size;
}

const ROWS_COUNTED_AT_ONCE = 20_000;

/**
 * Counts the rows of a file that we wrote: the values of its last column. Numbers to be added.
 * Throws Error for a damaged file.
 */
export async function* countParquetRows(input: BinaryFile): AsyncGenerator<number> {
  const file = bufferOf(input);
  const metadata = await parquetMetadataAsync(file);
  const last = parquetSchema(metadata).children.at(-1)?.element.name ?? '';
  for (let rowStart = 0; rowStart < metadata.num_rows; rowStart += ROWS_COUNTED_AT_ONCE) {
    const rowEnd = rowStart + ROWS_COUNTED_AT_ONCE;
    let rows = 0;
    const onComplete = (values: readonly unknown[]) => {
      rows = values.length;
    };
    await parquetRead({ file, metadata, columns: [last], rowStart, rowEnd, onComplete });
    yield rows;
  }
}
