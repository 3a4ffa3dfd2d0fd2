/** The table of a Parquet file, one row group after the other. */
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync } from 'hyparquet';
import { FailFileError } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import type { Phrase } from '../../core/phrase.js';
import { BINARY_SHAPE, type Row } from '../../core/table.js';
import { cutText, shortName } from '../../core/terminal-text.js';
import { NO_FORMATS, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { type BinaryFile, type BinaryTable, inBatches, LONG_HEADER, readAt } from '../binary-table.js';
import {
  isLongerThan,
  KEPT_CHARS,
  MAX_FIELD_BYTES,
  MAX_RECORD_BYTES,
  OVER_RECORD,
} from '../text/record-splitter.js';
import { assertCounts, assertPages, assertSchema } from './footer.js';
import { cellOf } from './nested.js';
import { ColumnReader, type Read } from './pages.js';
import {
  columnsOf,
  elementsOf,
  GEO_KEY,
  isFlat,
  leavesOf,
  namesOf,
  type SchemaNode,
  tidied,
  withRoot,
} from './schema.js';

/** Metadata of programs built on Arrow: their own schema, beside that of Parquet. */
const ARROW_KEY = 'ARROW:schema';

/** Throws `input-empty`, and Error for a damaged file. */
export async function openParquetTable(input: BinaryFile): Promise<BinaryTable> {
  const { name } = input;
  const { metadata, nodes, leaves, warnings } = await readFooter(input);
  const columns = nodes.map(({ element }) => element.name);
  const rawHeader = JSON.stringify(columns);
  const geo = metadata.key_value_metadata?.find(({ key }) => key === GEO_KEY)?.value;
  if (columns.length === 0 || metadata.num_rows === 0n) {
    throw new FailFileError({
      code: 'input-empty',
      subject: name,
      todo: 'check that this is the right file',
    });
  }
  if (isLongerThan(rawHeader, MAX_RECORD_BYTES)) throw new Error(LONG_HEADER);
  const read: Read = (from, bytes) => readAt(input, from, bytes);

  return {
    shape: {
      format: 'parquet',
      ...BINARY_SHAPE,
      columns,
      rawHeader,
      parquet: { schema: withRoot(nodes.map(elementsOf)), ...(geo !== undefined && { geo }) },
    },
    detected: `Parquet, ${countOf(metadata.row_groups.length, 'row group')}`,
    warnings,
    openRows(limit) {
      let number = 0;
      const times = timesOf(nodes);
      async function* groups() {
        for (const group of metadata.row_groups) {
          if (group.num_rows === 0n) continue;
          assertPages(group, leaves, read);
          yield rowsOfGroup(group, nodes, read);
        }
      }
      const take = (values: readonly unknown[]) => {
        number += 1;
        const row = rowOf(number, values, nodes);
        times.see(values);
        return row;
      };
      return {
        batches: inBatches(groups(), take, limit),
        width: () => columns.length,
        notes: times.notes,
      };
    },
  };
}

/** Values of each row; of a column with lists or groups the entries of each of its leaves. */
function* rowsOfGroup(
  { columns, num_rows }: FileMetaData['row_groups'][number],
  nodes: readonly SchemaNode[],
  read: Read,
): Generator<unknown[]> {
  let chunk = 0;
  const readers: ColumnReader[] = [];
  const cellReaders = nodes.map((node) => {
    const own = leavesOf([node]).flatMap((leaf) => {
      const { meta_data } = columns[chunk++] ?? {};
      return meta_data === undefined ? [] : [new ColumnReader(meta_data, leaf, read)];
    });
    readers.push(...own);
    const [first] = own;
    if (first !== undefined && isFlat(node)) return () => first.value();
    return () => own.map((reader) => reader.row(MAX_RECORD_BYTES));
  });
  for (let row = 0n; row < num_rows; row += 1n) yield cellReaders.map((readCell) => readCell());
  for (const reader of readers) reader.end();
}

/** Which times of type INT96 lose digits, because others of their column need microseconds. */
function timesOf(nodes: readonly SchemaNode[]) {
  const columns = nodes.flatMap((node, at) =>
    leavesOf([node]).some(({ element }) => element.type === 'INT96')
      ? [{ at, name: node.element.name, isLong: false, isFine: false }]
      : [],
  );
  return {
    see(values: readonly unknown[]): void {
      for (const column of columns) {
        const all = [values[column.at]].flat(2).filter((value) => typeof value === 'bigint');
        column.isLong ||= all.some((value) => BigInt.asIntN(64, value) !== value);
        column.isFine ||= all.some((value) => value % 1_000n !== 0n);
      }
    },
    notes: () =>
      columns
        .filter(({ isLong, isFine }) => isLong && isFine)
        .map(
          ({ name }) =>
            `Parquet output keeps microseconds of column '${shortName(name)}', because some of its ` +
            'times are before 1677 or after 2262: smaller fractions are cut',
        ),
  };
}

/** What Parquet output does not keep, and what was renamed, as sentences. */
function warningsOf(
  { key_value_metadata }: FileMetaData,
  leaves: readonly SchemaNode[],
  stored: readonly SchemaNode[],
): Phrase[] {
  const withValues = stored.filter(({ element }) => element.type !== undefined);
  return [
    leaves.some(({ element }) => element.type === 'INT96') &&
      'times of type INT96 are written as TIMESTAMP, because INT96 is deprecated',
    stored.length > leaves.length && 'columns and groups without any members are left out',
    withValues.some((leaf, at) => `${namesOf(leaf)}` !== `${namesOf(leaves[at] ?? leaf)}`) &&
      'some columns have the same name: a number is added to the others',
    key_value_metadata?.some(({ key }) => key === ARROW_KEY) &&
      'Parquet output keeps all values, but not the types that only Arrow knows: zoned times are ' +
        'written in UTC, dictionaries and durations as their values',
  ].filter((each) => typeof each === 'string');
}

function bufferOf(input: BinaryFile): AsyncBuffer {
  const { size } = input;
  return {
    byteLength: size,
    slice(start, end = size) {
      const bytes = readAt(input, start, end - start);
      return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    },
  };
}

async function readFooter(input: BinaryFile) {
  const metadata = await parquetMetadataAsync(bufferOf(input), { geoparquet: false });
  assertSchema(metadata);
  const stored = columnsOf(metadata.schema);
  const nodes = columnsOf(withRoot(tidied(stored)));
  const leaves = leavesOf(nodes);
  assertCounts(
    metadata,
    leavesOf(stored).filter(({ element }) => element.type !== undefined),
    input.size,
  );
  return { metadata, nodes, leaves, warnings: warningsOf(metadata, leaves, leavesOf(stored)) };
}

function rowOf(number: number, values: readonly unknown[], nodes: readonly SchemaNode[]): Row {
  const place = { number, line: number };
  let left = MAX_RECORD_BYTES;
  const over = values.findIndex((value) => {
    left -= sizeOf(value, left);
    return left < 0;
  });
  const taken = over < 0 ? nodes : nodes.slice(0, over);
  const cells = taken.map((node, at) => cellOf(node, values[at]));
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

/**
 * Counts the rows of a file that we wrote: the values of its last column. Numbers to be added.
 * Throws Error for a damaged file.
 */
export async function* countParquetRows(input: BinaryFile): AsyncGenerator<number> {
  const { metadata, leaves } = await readFooter(input);
  const leaf = leaves.at(-1);
  for (const { columns, num_rows } of metadata.row_groups) {
    const { meta_data } = columns.at(-1) ?? {};
    if (leaf === undefined || meta_data === undefined) throw new Error('it has no columns');
    const reader = new ColumnReader(meta_data, leaf, (from, bytes) => readAt(input, from, bytes));
    for (let row = 0n; row < num_rows; row += 1n) reader.value();
    reader.end();
    yield Number(num_rows);
  }
}
