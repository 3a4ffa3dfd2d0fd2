/**
 * Whether the counts and sizes that a Parquet file states agree with each other. They are checked
 * before anything is read: arrays are made as long as they say. Pure, but for the pages.
 */
import type { ColumnMetaData, FileMetaData, SchemaElement } from 'hyparquet';
import { shortName } from '../../core/terminal-text.js';
import { OverBounds } from '../binary-table.js';
import { MAX_COLUMNS } from '../text/record-splitter.js';
import { memoryOf, NEGATIVE, type Read, startOf } from './pages.js';
import { namesOf, type SchemaNode } from './schema.js';

/** A row group is read as a whole; common sizes are 128 MiB or a million rows. */
const MOST_GROUP_BYTES = 1024 * 1024 * 1024;
const MOST_GROUP_ROWS = 8_000_000;
const MOST_FILE_BYTES = 64 * 1024 * 1024 * 1024;
/** Equal rows take no room in a file, but as much time as any others. */
const MANY_ROWS = 1_000_000n;
const ROWS_PER_BYTE = 10n;
const DEEPEST = 64;
/** The header begins with it. */
const MAGIC_BYTES = 4;

/** Throws Error if the footer cannot be that of an intact file of `size` bytes. */
export function assertSchema({ schema }: Pick<FileMetaData, 'schema'>): void {
  if (schema.length > MAX_COLUMNS)
    throw new OverBounds(`it has more than ${MAX_COLUMNS} columns`, 'write it with fewer columns');
  // Children left to come, of each element that is open.
  const open: number[] = [];
  for (const element of schema) {
    const { num_children = 0 } = element;
    if (num_children < 0) throw new Error('its schema has a negative count');
    assertElement(element);
    while (open.at(-1) === 0) open.pop();
    const above = open.length - 1;
    if (above >= 0) open[above] = (open[above] ?? 0) - 1;
    if (num_children > 0) open.push(num_children);
    if (open.length > DEEPEST)
      throw new OverBounds(`it nests more than ${DEEPEST} levels`, 'write it with flatter columns');
  }
  if (open.some((left) => left > 0)) throw new Error('its schema ends too soon');
}

function assertElement({ name, type, type_length = 0, num_children = 0 }: SchemaElement): void {
  if (type !== undefined && num_children > 0)
    throw new Error(`column '${shortName(name)}' has both values and members`);
  if (type === 'FIXED_LEN_BYTE_ARRAY' && type_length <= 0)
    throw new Error(`column '${shortName(name)}' has values of no length`);
}

/** The same for counts and sizes; `leaves`: the columns as they are stored. */
export function assertCounts(metadata: FileMetaData, leaves: readonly SchemaNode[], size: number): void {
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
    // A row group without rows may have none.
    if (num_rows > 0n && columns.length !== leaves.length) throw new Error(OTHER_COLUMNS);
    columns.forEach(({ meta_data, file_path }, at) => {
      const leaf = leaves[at];
      if (leaf === undefined) throw new Error(OTHER_COLUMNS);
      if (file_path) throw new Error('its values are in another file');
      if (meta_data === undefined) throw new Error('its columns are encrypted');
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

const OTHER_COLUMNS = 'its columns are not those of its schema';

function isCount(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n;
}

const nameOf = ({ element }: SchemaNode): string => shortName(element.name);

interface ChunkPlace {
  readonly leaf: SchemaNode;
  /** The row group's. */
  readonly rows: bigint;
  /** The file's. */
  readonly size: number;
}

/** Its unpacked bytes. */
function assertChunk(chunk: ColumnMetaData, { leaf, rows, size }: ChunkPlace): bigint {
  const { num_values, total_compressed_size: packed, total_uncompressed_size: unpacked } = chunk;
  const isOwn = chunk.type === leaf.element.type && sameTexts(chunk.path_in_schema, namesOf(leaf));
  if (!isOwn) throw new Error(OTHER_COLUMNS);
  if (!isCount(num_values) || !isCount(packed) || !isCount(unpacked)) throw new Error(NEGATIVE);
  const start = startOf(chunk);
  const isInside = isCount(start) && start >= MAGIC_BYTES && start + packed <= size;
  const name = nameOf(leaf);
  if (rows > 0n && !isInside) throw new Error(`column '${name}' refers to a position beyond its end`);
  const isFitting = leaf.repetition > 0 ? num_values >= rows : num_values === rows;
  if (!isFitting) throw new Error(`column '${name}' has ${num_values} values for ${rows} rows`);
  return unpacked;
}

function sameTexts(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((text, at) => text === others[at]);
}

/** The most that is read of a row group at once. */
const MOST_MEMORY = 512 * 1024 * 1024;

/** The same for the pages of a row group, by their headers. */
export function assertPages(
  { columns }: FileMetaData['row_groups'][number],
  leaves: readonly SchemaNode[],
  read: Read,
): void {
  let memory = 0;
  columns.forEach(({ meta_data }, at) => {
    const leaf = leaves[at];
    if (meta_data !== undefined && leaf !== undefined) memory += memoryOf(meta_data, nameOf(leaf), read);
  });
  if (memory > MOST_MEMORY)
    throw new OverBounds('its pages are too long', 'write it with pages of at most 1 MiB');
}
