/** The table of a Parquet file, one row group after the other. */
import {
  type AsyncBuffer,
  type Compressors,
  type FileMetaData,
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type SchemaElement,
} from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { FailFileError } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { BINARY_SHAPE, type Row } from '../core/table.js';
import { NO_FORMATS, textOfCell } from '../core/typed-cell.js';
import { ARROW_KEY, lostArrowTypes } from './arrow-schema.js';
import { type ByteSource, readingStopped } from './byte-source.js';
import type { InputParts, PassOptions } from './input.js';
import { isList, isMap, leavesOf, withLists } from './parquet-lists.js';
import { parquetCell, textOrBytes } from './parquet-value.js';
import { isLongerThan, MAX_RECORD_BYTES, OVER_RECORD } from './record-splitter.js';
import { damaged, OverBounds } from './zip-archive.js';

/** Rows in one batch, and decoded at once. */
const BATCH_ROWS = 4096;
const ROWS_AT_ONCE = BATCH_ROWS * 5;
/** A row group is read as a whole; common sizes are 128 MiB or a million rows. */
const MOST_GROUP_BYTES = 1024 * 1024 * 1024;
const MOST_GROUP_ROWS = 8_000_000;
/** The common size of a page is 1 MiB. */
const MOST_PAGE_BYTES = 256 * 1024 * 1024;
const MOST_COLUMNS = 4096;

interface ParquetOptions {
  readonly limit: number | null;
  readonly stop: AbortSignal | undefined;
}

/** Throws `input-binary`, `input-empty`. */
export async function openParquetTable(
  source: ByteSource,
  { limit, stop }: ParquetOptions,
): Promise<InputParts> {
  const { name } = source;
  const file = bufferOf(source);
  const { metadata, stored, elements } = await readFooter(name, file);
  const columns = elements.map((element) => element.name);
  if (columns.length === 0 || metadata.num_rows === 0n) {
    throw new FailFileError({
      code: 'input-empty',
      subject: name,
      todo: 'check that this is the right file',
    });
  }

  async function* readRows({ limit: most, onBytes }: PassOptions): AsyncGenerator<readonly Row[]> {
    if (onBytes !== null) for await (const chunk of source.read()) onBytes(chunk);
    let groupStart = 0;
    for (const group of metadata.row_groups) {
      const groupEnd = groupStart + Number(group.num_rows);
      const last = Math.min(groupEnd, most ?? groupEnd);
      for (let from = groupStart; from < last; from += ROWS_AT_ONCE) {
        if (stop?.aborted) throw readingStopped(name);
        const to = Math.min(last, from + ROWS_AT_ONCE);
        yield* inBatches(await readSlice(name, { file, metadata: stored, columns }, from, to), from);
      }
      groupStart = groupEnd;
    }
  }

  function* inBatches(values: readonly unknown[][], before: number): Generator<readonly Row[]> {
    for (let at = 0; at < values.length; at += BATCH_ROWS) {
      const batch = values.slice(at, at + BATCH_ROWS);
      yield batch.map((cells, i) => rowOf(before + at + i + 1, cells, elements));
    }
  }

  return {
    source,
    shape: {
      format: 'parquet',
      ...BINARY_SHAPE,
      columns,
      rawHeader: JSON.stringify(columns),
      parquet: { schema: metadata.schema },
    },
    detected: `Parquet, ${countOf(metadata.row_groups.length, 'row group')}`,
    warnings: lostTypes(metadata, elements),
    guess: null,
    limit,
    openPass: (pass) => ({ batches: readRows(pass), columns: () => null, notes: () => [] }),
  };
}

const COLUMNS_NAMED = 5;

/** What Parquet output does not keep, as sentences. */
function lostTypes({ key_value_metadata }: FileMetaData, elements: readonly SchemaElement[]): string[] {
  const arrow = key_value_metadata?.find(({ key }) => key === ARROW_KEY)?.value;
  const lost = arrow === undefined ? [] : lostArrowTypes(arrow);
  const more = lost.length > COLUMNS_NAMED ? ` and ${lost.length - COLUMNS_NAMED} more` : '';
  return [
    elements.some(({ type }) => type === 'INT96') &&
      'times of type INT96 are written as TIMESTAMP(NANOS), because INT96 is deprecated',
    lost.length > 0 &&
      `Parquet output keeps all values, but not these types of Arrow: ${lost.slice(0, COLUMNS_NAMED).join(', ')}${more}`,
  ].filter((each) => each !== false);
}

/** Refuses the ranges of a damaged footer; the reader does not await all of its reads. */
function bufferOf(source: ByteSource): AsyncBuffer {
  const { size } = source;
  const read = async (start: number, end: number) => {
    const bytes = await source.readAt(start, end - start);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  };
  return {
    byteLength: size,
    slice(start, end = size) {
      const isInside = Number.isSafeInteger(start) && start >= 0 && start <= end && end <= size;
      const reading = isInside
        ? read(start, end)
        : Promise.reject(new Error('it refers to a position beyond its end'));
      reading.catch(() => undefined);
      return reading;
    },
  };
}

async function readFooter(name: string, file: AsyncBuffer) {
  try {
    const metadata = withLists(await parquetMetadataAsync(file, { geoparquet: false }));
    if (metadata.schema.length > MOST_COLUMNS)
      throw new OverBounds(`it has more than ${MOST_COLUMNS} columns`, 'write it with fewer columns');
    assertChunks(metadata);
    for (const { total_byte_size, num_rows } of metadata.row_groups) {
      if (total_byte_size <= MOST_GROUP_BYTES && num_rows <= MOST_GROUP_ROWS) continue;
      throw new OverBounds(
        'it has a row group of more than 1 GiB or 8,000,000 rows',
        'write it with smaller row groups',
      );
    }
    const schema = metadata.schema.map((element) => withoutMeaning(element, 'read'));
    const elements = parquetSchema(metadata).children.map(({ element }) => element);
    return { metadata, stored: { ...metadata, schema }, elements };
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
}

/** The given rows of one row group. */
async function readSlice(
  name: string,
  { file, metadata, columns }: StoredTable,
  rowStart: number,
  rowEnd: number,
): Promise<unknown[][]> {
  const limited: Compressors = {};
  for (const [codec, unpack] of Object.entries(compressors) as [keyof Compressors, Unpack][]) {
    limited[codec] = (bytes, length) => {
      if (length > MOST_PAGE_BYTES) throw new Error('it has a page of more than 256 MiB');
      return unpack(bytes, length);
    };
  }
  let rows: unknown[][] = [];
  const parsers = { stringFromBytes: textOrBytes, timestampFromNanoseconds: (nanos: bigint) => nanos };
  try {
    await parquetRead({
      file,
      metadata,
      columns: [...columns],
      rowStart,
      rowEnd,
      compressors: limited,
      utf8: false,
      geoparquet: false,
      parsers: parsers as object,
      onComplete: (all: unknown[][]) => {
        rows = all;
      },
    });
    if (rows.length !== rowEnd - rowStart) throw new Error('it has fewer rows than its footer states');
    return rows;
  } catch (error) {
    throw damaged(name, error);
  }
}

type Unpack = (bytes: Uint8Array, length: number) => Uint8Array;

function rowOf(number: number, values: readonly unknown[], elements: readonly SchemaElement[]): Row {
  const cells = elements.map((element, at) => parquetCell(element, values[at]));
  const raw = JSON.stringify(cells);
  const isTooLong = isLongerThan(raw, MAX_RECORD_BYTES);
  const place = { number, line: number };
  if (isTooLong)
    return { ...place, raw: raw.slice(0, MAX_RECORD_BYTES / 4), cells: [], problem: OVER_RECORD };
  return { ...place, raw, cells: cells.map((cell) => textOfCell(cell, NO_FORMATS)), problem: null };
}
