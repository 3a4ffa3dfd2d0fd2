/** Reads the footer of a Parquet file, and checks that its counts can be true. */
import { type ColumnMetaData, type FileMetaData, parquetMetadataAsync, type SchemaElement } from 'hyparquet';
import { shortName } from '../../core/terminal-text.js';
import { type BinaryFile, OverBounds, readAt } from '../binary-table.js';
import { MAX_COLUMNS } from '../text/record-splitter.js';

/** The key of GeoParquet's metadata (https://geoparquet.org/releases/v1.1.0). */
export const GEO_KEY = 'geo';

export interface SchemaNode {
  readonly element: SchemaElement;
  readonly children: readonly SchemaNode[];
  /** Names from the column down to this node. */
  readonly path: readonly string[];
  /** Levels of a value inside all lists and groups around it. */
  readonly repetition: number;
  readonly definition: number;
}

const DEEPEST = 64;

/** Returns the columns, without empty groups. Throws Error for a damaged schema. */
export function columnsOf(schema: readonly SchemaElement[]): SchemaNode[] {
  if (schema.length > MAX_COLUMNS)
    throw new OverBounds(`it has more than ${MAX_COLUMNS} columns`, 'write it with fewer columns');
  let at = 1;
  type Above = Omit<SchemaNode, 'element' | 'children'>;
  function members({ num_children = 0 }: Partial<SchemaElement>, above: Above): SchemaNode[] {
    if (above.path.length > DEEPEST)
      throw new OverBounds(`it nests more than ${DEEPEST} levels`, 'write it with flatter columns');
    const nodes = Array.from({ length: num_children }, () => {
      const element = schema[at++];
      if (element === undefined) throw new Error('its schema ends too soon');
      const { name, repetition_type: how } = element;
      const levels = {
        path: [...above.path, name],
        repetition: above.repetition + Number(how === 'REPEATED'),
        definition: above.definition + Number(how === 'REPEATED' || how === 'OPTIONAL'),
      };
      return { element, children: members(element, levels), ...levels };
    }).filter(({ element, children }) => element.type !== undefined || children.length > 0);
    const names = nodes.map(({ element }) => element.name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined) throw new Error(`it has two columns named '${shortName(twice)}'`);
    return nodes;
  }
  return members(schema[0] ?? {}, { path: [], repetition: 0, definition: 0 });
}

/** Returns the stored columns, in order. */
export function leavesOf(nodes: readonly SchemaNode[]): SchemaNode[] {
  return nodes.flatMap((node) => (node.children.length === 0 ? [node] : leavesOf(node.children)));
}

export function isFlat({ children, repetition }: SchemaNode): boolean {
  return children.length === 0 && repetition === 0;
}

/** A column of text, as which lists and groups are written. */
export const TEXT_ELEMENT = {
  type: 'BYTE_ARRAY',
  repetition_type: 'OPTIONAL',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const;

/** A row group is read as a whole; common sizes are 128 MiB or a million rows. */
const MOST_GROUP_BYTES = 1024 * 1024 * 1024;
const MOST_GROUP_ROWS = 8_000_000;
const SMALLER_GROUPS = 'write it with smaller row groups';
const MOST_FILE_BYTES = 64 * 1024 * 1024 * 1024;
/** Equal rows take no room in a file, but as much time as other rows. */
const MANY_ROWS = 1_000_000n;
const ROWS_PER_BYTE = 10n;
/** The length of `PAR1`, with which a file begins. */
const MAGIC_BYTES = 4;

/** A row group; its chunks are in the order of the stored columns. */
export type RowGroup = ReturnType<typeof groupsIn>[number];

/** Reads the footer. Throws Error if no intact file can have it. */
export async function readFooter(input: BinaryFile) {
  const { size } = input;
  const slice = (from: number, to = size) => new Uint8Array(readAt(input, from, to - from)).buffer;
  const metadata = await parquetMetadataAsync({ byteLength: size, slice }, { geoparquet: false });
  const nodes = columnsOf(metadata.schema);
  return { metadata, nodes, groups: groupsIn(metadata, leavesOf(nodes), size) };
}

/** Returns the groups with rows. Throws Error for counts that would make endless arrays. Pure. */
export function groupsIn(
  { row_groups, num_rows }: FileMetaData,
  leaves: readonly SchemaNode[],
  size: number,
) {
  let all = 0n;
  let bytes = 0n;
  const filled = row_groups.filter((group) => group.num_rows !== 0n);
  const groups = filled.map(({ num_rows: rows, total_byte_size, columns }) => {
    if (!(rows > 0n && total_byte_size >= 0n)) throw new Error(NEGATIVE);
    if (total_byte_size > MOST_GROUP_BYTES || rows > MOST_GROUP_ROWS)
      throw new OverBounds('it has a row group of more than 1 GiB or 8,000,000 rows', SMALLER_GROUPS);
    if (columns.length !== leaves.length) throw new Error(OTHER_COLUMNS);
    all += rows;
    const chunks = columns.map(({ meta_data: chunk, file_path }, at) => {
      if (chunk === undefined || file_path) throw new Error('its columns are encrypted, or in another file');
      assertChunk(chunk, leaves[at], size);
      bytes += chunk.total_uncompressed_size;
      return chunk;
    });
    return { rows: Number(rows), chunks };
  });
  if (all !== num_rows) throw new Error(`its row groups have ${all} rows, but the file says ${num_rows}`);
  if (all > MANY_ROWS && all > BigInt(size) * ROWS_PER_BYTE)
    throw new OverBounds('it has far more rows than bytes', 'save it as CSV (UTF-8)');
  if (bytes > MOST_FILE_BYTES)
    throw new OverBounds('it unpacks to more than 64 GiB', 'split it into several smaller files');
  return groups;
}

const NEGATIVE = 'it states a negative count';
const OTHER_COLUMNS = 'its columns are not those of its schema';

function assertChunk(chunk: ColumnMetaData, leaf: SchemaNode | undefined, size: number): void {
  const { num_values, total_compressed_size: packed, total_uncompressed_size: unpacked } = chunk;
  const isOwn = chunk.type === leaf?.element.type && `${chunk.path_in_schema}` === `${leaf?.path}`;
  if (!isOwn) throw new Error(OTHER_COLUMNS);
  if (!(num_values >= 0n && packed >= 0n && unpacked >= 0n)) throw new Error(NEGATIVE);
  const start = startOf(chunk);
  if (start < MAGIC_BYTES || start + Number(packed) > size)
    throw new Error('it has a column that begins or ends outside of it');
}

export function startOf({ dictionary_page_offset: first, data_page_offset }: ColumnMetaData): number {
  // Some writers state 0 for an absent dictionary.
  return Number(first !== undefined && first > 0n && first < data_page_offset ? first : data_page_offset);
}
