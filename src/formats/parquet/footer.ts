/**
 * Whether the counts and sizes that a Parquet file states agree with each other. They are checked
 * before anything is read: arrays are made as long as they say. Pure, but for the pages.
 */
import { type ColumnMetaData, type FileMetaData, parquetSchema, type SchemaTree } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { shortName } from '../../core/terminal-text.js';
import { MAX_COLUMNS } from '../../intake/record-splitter.js';
import { OverBounds } from '../binary-table.js';
import { leavesOf } from './lists.js';

/** A row group is read as a whole; common sizes are 128 MiB or a million rows. */
const MOST_GROUP_BYTES = 1024 * 1024 * 1024;
const MOST_GROUP_ROWS = 8_000_000;
const MOST_FILE_BYTES = 64 * 1024 * 1024 * 1024;
/** Equal rows take no room in a file, but as much time as any others. */
const MANY_ROWS = 1_000_000n;
const ROWS_PER_BYTE = 10n;
/** The common size of a page is 1 MiB. */
const MOST_PAGE_BYTES = 256 * 1024 * 1024;
const DEEPEST = 64;
/** The header begins with it. */
const MAGIC_BYTES = 4;

/** Throws Error if the footer cannot be that of an intact file of `size` bytes. */
export function assertSchema({ schema }: Pick<FileMetaData, 'schema'>): void {
  if (schema.length > MAX_COLUMNS)
    throw new OverBounds(`it has more than ${MAX_COLUMNS} columns`, 'write it with fewer columns');
  // Children left to come, of each element that is open.
  const open: number[] = [];
  for (const { num_children = 0 } of schema) {
    if (num_children < 0) throw new Error('its schema has a negative count');
    while (open.at(-1) === 0) open.pop();
    const above = open.length - 1;
    if (above >= 0) open[above] = (open[above] ?? 0) - 1;
    if (num_children > 0) open.push(num_children);
    if (open.length > DEEPEST)
      throw new OverBounds(`it nests more than ${DEEPEST} levels`, 'write it with flatter columns');
  }
  if (open.some((left) => left > 0)) throw new Error('its schema ends too soon');
}

/** The same for counts and sizes; after `assertSchema`. */
export function assertCounts(metadata: FileMetaData, size: number): void {
  const leaves = leavesOf(parquetSchema(metadata));
  let rows = 0n;
  let bytes = 0n;
  for (const { num_rows, total_byte_size, columns } of metadata.row_groups) {
    if (!isCount(num_rows) || !isCount(total_byte_size)) throw new Error(NEGATIVE);
    rows += num_rows;
    if (total_byte_size > MOST_GROUP_BYTES || num_rows > MOST_GROUP_ROWS)
      throw new OverBounds(
        'it has a row group of more than 1 GiB or 8,000,000 rows',
        'write it with smaller row groups',
      );
    columns.forEach(({ meta_data }, at) => {
      const leaf = leaves[at];
      if (meta_data === undefined || leaf === undefined) return;
      bytes += assertChunk(meta_data, { leaf, rows: num_rows, size });
    });
  }
  if (!isCount(metadata.num_rows)) throw new Error(NEGATIVE);
  if (rows !== metadata.num_rows)
    throw new Error(`its row groups have ${rows} rows, but the file says ${metadata.num_rows}`);
  if (rows > MANY_ROWS && rows > BigInt(size) * ROWS_PER_BYTE)
    throw new OverBounds('it has far more rows than bytes', 'save it as CSV (UTF-8)');
  if (bytes > MOST_FILE_BYTES)
    throw new OverBounds('it unpacks to more than 64 GiB', 'split it into several smaller files');
}

const NEGATIVE = 'it states a negative count';

function isCount(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n;
}

interface ChunkPlace {
  readonly leaf: SchemaTree;
  /** The row group's. */
  readonly rows: bigint;
  /** The file's. */
  readonly size: number;
}

/** Its unpacked bytes. */
function assertChunk(chunk: ColumnMetaData, { leaf, rows, size }: ChunkPlace): bigint {
  const { num_values, total_compressed_size: packed, total_uncompressed_size: unpacked } = chunk;
  if (!isCount(num_values) || !isCount(packed) || !isCount(unpacked)) throw new Error(NEGATIVE);
  const start = chunk.dictionary_page_offset || chunk.data_page_offset;
  const name = shortName(leaf.path.at(-1) ?? '');
  const isInside = isCount(start) && start >= MAGIC_BYTES && start + packed <= size;
  if (rows > 0n && !isInside) throw new Error(`column '${name}' refers to a position beyond its end`);
  const isFitting = isRepeated(leaf) ? num_values >= rows : num_values === rows;
  if (!isFitting) throw new Error(`column '${name}' has ${num_values} values for ${rows} rows`);
  return unpacked;
}

/** Whether a row may have several values of this column: it is, or is in, a list. */
function isRepeated({ element, path }: SchemaTree): boolean {
  return element.repetition_type === 'REPEATED' || path.length > 1;
}

type RowGroup = FileMetaData['row_groups'][number];

/** Bytes of the file, fewer at its end. */
type Read = (from: number, bytes: number) => Uint8Array;

/**
 * The most values of a page that is decoded at once, by the header of each page of a row group.
 * Throws Error if they have other counts than the footer.
 */
function longestPage({ columns, num_rows }: RowGroup, leaves: readonly SchemaTree[], read: Read): number {
  let longest = 0;
  columns.forEach(({ meta_data: chunk }, at) => {
    const leaf = leaves[at];
    if (chunk === undefined || leaf === undefined) return;
    const counted = countPages(chunk, read);
    const name = shortName(leaf.path.at(-1) ?? '');
    if (BigInt(counted.values) !== chunk.num_values)
      throw new Error(
        `column '${name}' has pages of ${counted.values} values instead of ${chunk.num_values}`,
      );
    // Columns with structure are decoded as a whole.
    longest = Math.max(longest, leaf.path.length > 1 ? Number(num_rows) : counted.longest);
  });
  return longest;
}

const HEADER_BYTES = 4 * 1024;
/** Its statistics hold values. */
const MOST_HEADER_BYTES = 16 * 1024 * 1024;

function countPages(chunk: ColumnMetaData, read: Read) {
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  const end = start + Number(chunk.total_compressed_size);
  const wanted = Number(chunk.num_values);
  let values = 0;
  let longest = 0;
  let at = start;
  while (values < wanted && at < end) {
    const { header, length } = readHeader(at, end, read);
    const { compressed_page_size: packed, uncompressed_page_size: unpacked } = header;
    if (!(packed >= 0) || !(unpacked >= 0)) throw new Error(NEGATIVE);
    if (unpacked > MOST_PAGE_BYTES)
      throw new OverBounds('it has a page of more than 256 MiB', 'write it with smaller pages');
    at += length + packed;
    if (at > end) throw new Error('it has a page that is longer than its column');
    const distinct = header.dictionary_page_header?.num_values ?? 0;
    const count = header.data_page_header?.num_values ?? header.data_page_header_v2?.num_values ?? 0;
    const rows = header.data_page_header_v2?.num_rows ?? 0;
    if (!(distinct >= 0) || !(count >= 0) || !(rows >= 0)) throw new Error(NEGATIVE);
    // A value of a dictionary has at least one byte.
    if (distinct > unpacked) throw new Error('it has a dictionary of more values than bytes');
    values += count;
    longest = Math.max(longest, count);
  }
  return { values, longest };
}

function readHeader(at: number, end: number, read: Read) {
  for (let bytes = HEADER_BYTES; ; bytes *= 16) {
    const { buffer, byteOffset, byteLength } = read(at, Math.min(bytes, end - at));
    const reader = { view: new DataView(buffer as ArrayBuffer, byteOffset, byteLength), offset: 0 };
    try {
      return { header: parquetHeader(reader), length: reader.offset };
    } catch (error) {
      // A RangeError: it is longer.
      if (!(error instanceof RangeError) || bytes >= Math.min(end - at, MOST_HEADER_BYTES)) throw error;
    }
  }
}

/** Checks the pages of a row group. Rows, and columns of these, to decode at once. */
export function planGroup(group: RowGroup, leaves: readonly SchemaTree[], read: Read) {
  const longest = longestPage(group, leaves, read);
  // A page is decoded whole, however few of its rows are wanted.
  const columns = Math.max(1, Math.floor(SLICE_VALUES / Math.max(1, longest)));
  return { rows: sliceRows(group, leaves.length, longest), columns };
}

/** Texts and lists of all rows that are decoded together take about this much. */
const SLICE_BYTES = 64 * 1024 * 1024;
const SLICE_VALUES = 4_000_000;
const USUAL_ROWS = 20_480;
const LEAST_ROWS = 2_048;
/** So often a page may be decoded for the rows of each slice. */
const MOST_SLICES = 64;
const MOST_WORK = 2_000_000_000;

/**
 * Rows to decode at once: pages are decoded anew for each slice of rows, so that a long page needs
 * long slices, as far as memory allows. Throws `OverBounds` if that takes hours. Pure.
 */
export function sliceRows(
  { num_rows, total_byte_size }: Pick<RowGroup, 'num_rows' | 'total_byte_size'>,
  leafCount: number,
  longest: number,
): number {
  const rows = Number(num_rows);
  const byBytes = (SLICE_BYTES * rows) / Math.max(1, Number(total_byte_size));
  const wanted = Math.min(Math.max(USUAL_ROWS, longest), SLICE_VALUES / leafCount, byBytes);
  const atOnce = Math.max(LEAST_ROWS, Math.floor(wanted));
  const slices = Math.ceil(longest / atOnce);
  if (slices > MOST_SLICES && slices * rows * leafCount > MOST_WORK)
    throw new OverBounds('its pages are too long', 'write it with pages of at most 1 MiB');
  return atOnce;
}
