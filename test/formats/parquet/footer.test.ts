/** What a Parquet file says of itself, in every way that it may contradict itself. */
import { type FileMetaData, parquetMetadata, parquetSchema } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { assertCounts, assertSchema, planGroup, sliceRows } from '../../../src/formats/parquet/footer.js';
import { leavesOf } from '../../../src/formats/parquet/lists.js';
import { parquetOf } from '../../support/hostile-files.js';

const FILE = parquetOf({ website: ['a.com', 'b.com', 'c.com'], size: [1, 2, 3] });
const honest = () => parquetMetadata(new Uint8Array(FILE)) as FileMetaData;

type Group = FileMetaData['row_groups'][number];
type Chunk = NonNullable<Group['columns'][number]['meta_data']>;
const read = (from: number, bytes: number) => FILE.subarray(from, from + bytes);

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
    const metadata = honest();
    assertSchema(metadata);
    assertCounts(metadata, FILE.length);
    for (const group of metadata.row_groups)
      expect(planGroup(group, leavesOf(parquetSchema(metadata)), read)).toEqual({
        rows: 20_480,
        columns: Math.floor(4_000_000 / 3),
      });
  });

  it.each<[string, FileMetaData, string]>([
    ['more rows than its groups', changed({ num_rows: 8_000_000n }), 'but the file says 8000000'],
    ['negative rows', changed({ num_rows: -1n }), 'negative'],
    ['negative rows of a group', changed({}, { num_rows: -3n }), 'negative'],
    ['negative bytes of a group', changed({}, { total_byte_size: -1n }), 'negative'],
    ['negative values', changed({}, {}, { num_values: -3n }), 'negative'],
    ['negative sizes', changed({}, {}, { total_compressed_size: -1n }), 'negative'],
    ['negative unpacked sizes', changed({}, {}, { total_uncompressed_size: -1n }), 'negative'],
    [
      'a negative position',
      changed({}, {}, { data_page_offset: -9n, dictionary_page_offset: -9n }),
      'beyond its end',
    ],
    ['a column beyond its end', changed({}, {}, { total_compressed_size: 1_000_000n }), 'beyond its end'],
    ['more values than rows', changed({}, {}, { num_values: 4n }), '4 values for 3 rows'],
    [
      'too many rows of a group',
      changed({ num_rows: 9_000_000n }, { num_rows: 9_000_000n }),
      '8,000,000 rows',
    ],
    ['more than 64 GiB', changed({}, {}, { total_uncompressed_size: 2n ** 37n }), '64 GiB'],
  ])('is refused with %s', (_what, metadata, words) => {
    expect(() => assertCounts(metadata, FILE.length)).toThrow(words);
  });

  it('is refused where pages have other counts', () => {
    const { row_groups, ...rest } = changed({ num_rows: 8n }, { num_rows: 8n }, { num_values: 8n });
    const [group] = row_groups;
    if (group === undefined) throw new Error('no group');
    const leaves = leavesOf(parquetSchema(rest));
    expect(() => planGroup(group, leaves, read)).toThrow('pages of 3 values instead of 8');
  });

  const element = (name: string, num_children?: number) => ({
    name,
    ...(num_children !== undefined && { num_children }),
  });
  it.each<[string, readonly object[], string]>([
    ['a negative count of children', [element('root', 1), element('a', -1)], 'negative'],
    ['children that are missing', [element('root', 3), element('a')], 'ends too soon'],
    [
      'deep nesting',
      [...Array.from({ length: 100 }, () => element('a', 1)), element('b')],
      'nests more than 64',
    ],
    [
      'many columns',
      [element('root', 5_000), ...Array.from({ length: 5_000 }, () => element('a'))],
      '4096 columns',
    ],
  ])('is refused with %s', (_what, schema, words) => {
    expect(() => assertSchema({ schema: schema as FileMetaData['schema'] })).toThrow(words);
  });
});

describe('rows that are decoded at once', () => {
  it.each<[string, { rows: number; bytes: number; columns: number; longest: number }, number]>([
    ['usual pages', { rows: 1_000_000, bytes: 100_000_000, columns: 29, longest: 20_000 }, 20_480],
    ['one page', { rows: 1_000_000, bytes: 100_000_000, columns: 2, longest: 1_000_000 }, 671_088],
    [
      'one page of many columns',
      { rows: 1_000_000, bytes: 1_000_000, columns: 29, longest: 1_000_000 },
      137_931,
    ],
    ['long texts', { rows: 100_000, bytes: 1_000_000_000, columns: 2, longest: 100 }, 6_710],
    ['longest texts', { rows: 1_000, bytes: 1_000_000_000, columns: 2, longest: 1 }, 2_048],
  ])('%s', (_what, { rows, bytes, columns, longest }, atOnce) => {
    const group = { num_rows: BigInt(rows), total_byte_size: BigInt(bytes) };
    expect(sliceRows(group, columns, longest)).toBe(atOnce);
  });

  it('pages that would be decoded hundreds of times are refused', () => {
    const group = { num_rows: 8_000_000n, total_byte_size: 1_000n };
    expect(() => sliceRows(group, 100, 8_000_000)).toThrow('too long');
  });
});
