import { type FileMetaData, parquetMetadata } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { columnsOf, groupsIn, leavesOf } from '../../../src/input/parquet/footer.js';
import { parquetOf } from '../../support/hostile-files.js';

const FILE = parquetOf({ website: ['a.com', 'b.com', 'c.com'], size: [1, 2, 3] });
const honest = () => parquetMetadata(new Uint8Array(FILE)) as FileMetaData;

type Group = FileMetaData['row_groups'][number];
type Chunk = NonNullable<Group['columns'][number]['meta_data']>;

const leaves = leavesOf(columnsOf(honest().schema));

function changed(file: object, group: Partial<Group> = {}, chunk: Partial<Chunk> = {}): FileMetaData {
  const metadata = honest();
  const [first] = metadata.row_groups;
  if (first === undefined) throw new Error('no group');
  const columns = first.columns.map((column, at) =>
    at === 0 && column.meta_data ? { ...column, meta_data: { ...column.meta_data, ...chunk } } : column,
  );
  return { ...metadata, row_groups: [{ ...first, ...group, columns }], ...file };
}

describe('the footer', () => {
  it('of an honest file agrees with itself', () => {
    const groups = groupsIn(honest(), leaves, FILE.length);
    expect(groups.map(({ rows, chunks }) => [rows, chunks.length])).toEqual([[3, 2]]);
  });

  it.each<[string, FileMetaData, string]>([
    ['more rows than its groups', changed({ num_rows: 8_000_000n }), 'but the file says 8000000'],
    ['negative rows', changed({ num_rows: -1n }), 'but the file says -1'],
    ['negative rows of a group', changed({}, { num_rows: -3n }), 'negative'],
    ['negative bytes of a group', changed({}, { total_byte_size: -1n }), 'negative'],
    ['negative values', changed({}, {}, { num_values: -3n }), 'negative'],
    ['negative sizes', changed({}, {}, { total_compressed_size: -1n }), 'negative'],
    ['negative unpacked sizes', changed({}, {}, { total_uncompressed_size: -1n }), 'negative'],
    ['bad offsets', changed({}, {}, { data_page_offset: -9n, dictionary_page_offset: -9n }), 'outside of it'],
    ['a column beyond its end', changed({}, {}, { total_compressed_size: 1_000_000n }), 'outside of it'],
    ['too many rows', changed({ num_rows: 9_000_000n }, { num_rows: 9_000_000n }), '8,000,000 rows'],
    ['more than 64 GiB', changed({}, {}, { total_uncompressed_size: 2n ** 37n }), '64 GiB'],
  ])('is refused with %s', (_what, metadata, words) => {
    expect(() => groupsIn(metadata, leaves, FILE.length)).toThrow(words);
  });

  const element = (name: string, num_children?: number) => ({
    name,
    ...(num_children !== undefined && { num_children }),
  });
  it.each<[string, readonly object[], string]>([
    ['children that are missing', [element('root', 3), element('a')], 'ends too soon'],
    ['depth', [...Array.from({ length: 100 }, () => element('a', 1)), element('b')], 'nests more than 64'],
    ['width', [element('root', 5_000), ...Array.from({ length: 5_000 }, () => element('a'))], '4096 columns'],
  ])('is refused with %s', (_what, schema, words) => {
    expect(() => columnsOf(schema as FileMetaData['schema'])).toThrow(words);
  });
});
