/** Reads the table of a Parquet file, one row group after the other. */
import type { ColumnMetaData, FileMetaData } from 'hyparquet';
import { RunError } from '../../core/errors.js';
import { countOf } from '../../core/figures.js';
import { BINARY_SHAPE, type Row } from '../../core/table.js';
import { cutText, firstOf, shortName } from '../../core/terminal-text.js';
import { NO_FORMATS, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { type BinaryFile, type BinaryTable, LONG_HEADER, rowsOf } from '../binary-table.js';
import {
  isLongerThan,
  KEPT_CHARS,
  MAX_FIELD_BYTES,
  MAX_RECORD_BYTES,
  OVER_RECORD,
} from '../text/record-splitter.js';
import {
  GEO_KEY,
  isFlat,
  leavesOf,
  type RowGroup,
  readFooter,
  type SchemaNode,
  TEXT_ELEMENT,
} from './footer.js';
import { rowsAsJson } from './nested.js';
import { ColumnReader } from './pages.js';
import { parquetCell } from './values.js';

/** The key of Arrow's own schema, beside that of Parquet. */
const ARROW_KEY = 'ARROW:schema';

/** Opens a table. Throws `input-empty`, and Error for a damaged file. */
export async function openParquetTable(input: BinaryFile): Promise<BinaryTable> {
  const { metadata, nodes, groups } = await readFooter(input);
  const columns = nodes.map(({ element }) => element.name);
  const rawHeader = JSON.stringify(columns);
  const geo = metadata.key_value_metadata?.find(({ key }) => key === GEO_KEY)?.value;
  if (columns.length === 0 || groups.length === 0) {
    const todo = 'check that this is the right file';
    throw new RunError({ code: 'input-empty', subject: input.name, todo });
  }
  if (isLongerThan(rawHeader, MAX_RECORD_BYTES)) throw new Error(LONG_HEADER);
  const schema = nodes.map((node) => {
    return isFlat(node) ? node.element : { ...TEXT_ELEMENT, name: node.element.name };
  });

  return {
    shape: {
      format: 'parquet',
      ...BINARY_SHAPE,
      columns,
      rawHeader,
      parquet: { schema, ...(geo !== undefined && { geo }) },
    },
    detected: `Parquet, ${countOf(metadata.row_groups.length, 'row group')}`,
    warnings: warningsOf(metadata, nodes),
    openRows() {
      let number = 0;
      async function* batches() {
        for (const group of groups)
          yield rowsOf(rowsOfGroup(group, nodes, input), (values) => rowOf(++number, values, nodes));
      }
      return { batches: batches(), width: () => columns.length, notes: () => [] };
    },
  };
}

function* rowsOfGroup({ rows, chunks }: RowGroup, nodes: readonly SchemaNode[], input: BinaryFile) {
  const held = { bytes: 0 };
  const readers = leavesOf(nodes).map((leaf, at) => {
    return new ColumnReader(chunks[at] as ColumnMetaData, leaf, input, held);
  });
  const left = readers.values();
  const columns = nodes.map((node) => {
    if (!isFlat(node)) return rowsAsJson(node, left);
    const reader = left.next().value as ColumnReader;
    return () => reader.next();
  });
  for (let row = 0; row < rows; row += 1) yield columns.map((read) => read());
  if (readers.some((reader) => reader.repetition() >= 0))
    throw new Error('it has more rows than its footer states');
}

/** Returns sentences about what Parquet output does not keep. */
function warningsOf({ key_value_metadata }: FileMetaData, nodes: readonly SchemaNode[]): string[] {
  const nested = nodes.filter((node) => !isFlat(node)).map(({ element }) => `'${shortName(element.name)}'`);
  return [
    nested.length > 0 && `Parquet output writes lists and groups as JSON text: ${firstOf(nested, 1)}`,
    nodes.some(({ element }) => element.type === 'INT96') &&
      'Parquet output writes times of the deprecated type INT96 as TIMESTAMP, in microseconds for a ' +
        'column with times before 1677 or after 2262',
    key_value_metadata?.some(({ key }) => key === ARROW_KEY) &&
      'Parquet output keeps all values, but not the types that only Arrow knows: zoned times are ' +
        'written in UTC, dictionaries and durations as their values',
  ].filter((each) => typeof each === 'string');
}

function rowOf(number: number, values: readonly unknown[], nodes: readonly SchemaNode[]): Row {
  let left = MAX_RECORD_BYTES;
  // The least number of characters of each value as JSON.
  const over = values.findIndex((value) => {
    left -= typeof value === 'string' || value instanceof Uint8Array ? value.length + 3 : 2;
    return left < 0;
  });
  const cells = (over < 0 ? nodes : nodes.slice(0, over)).map((node, at): TypedCell => {
    const value = values[at];
    if (isFlat(node)) return parquetCell(node.element, value);
    return typeof value === 'string' ? { j: value } : null;
  });
  const long = values[over];
  if (over >= 0) cells.push(typeof long === 'string' ? cutText(long, MAX_FIELD_BYTES) : null);
  const raw = JSON.stringify(cells);
  const place = { number, line: number };
  if (over >= 0 || isLongerThan(raw, MAX_RECORD_BYTES))
    return { ...place, raw: cutText(raw, KEPT_CHARS), cells: [], problem: OVER_RECORD };
  return { ...place, raw, cells: cells.map((cell) => textOfCell(cell, NO_FORMATS)), problem: null };
}

/** Counts the rows of a file that we wrote, by its last column. Yields numbers to add up. */
export async function* countParquetRows(input: BinaryFile): AsyncGenerator<number> {
  const { groups, nodes } = await readFooter(input);
  const last = leavesOf(nodes).slice(-1);
  for (const { rows, chunks } of groups) {
    let counted = 0;
    for (const _ of rowsOfGroup({ rows, chunks: chunks.slice(-1) }, last, input)) counted += 1;
    yield counted;
  }
}
