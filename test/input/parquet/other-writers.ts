/** Small files as Hive, Spark, Impala and old libraries write them, each with its cells. */
import type { SchemaElement } from 'hyparquet';
import {
  type Column,
  dictionaryPage,
  group,
  int32s,
  int96,
  leaf,
  page1,
  page2,
  parquetFile,
  SITE,
  texts,
} from '../../support/parquet-pages.js';

const OPTIONAL = { repetition_type: 'OPTIONAL' } as const;
const REPEATED = { repetition_type: 'REPEATED' } as const;
const LIST = { converted_type: 'LIST' } as const;
const MAP = { converted_type: 'MAP' } as const;

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

const NAMES = ['a.com', 'b.com', 'c.com'];
const sites = (rows = 3): Column => ({ pages: [page1(rows, texts(...NAMES.slice(0, rows)))] });
const DAY_2024 = 19_737;
const LAST_DAY = 2_932_896;
const LAST_NANOS = 86_399_999_999_000n;

type Levels = NonNullable<Parameters<typeof page1>[2]>;
const column = (count: number, values: Uint8Array, levels?: Levels): Column => {
  return { pages: [page1(count, values, levels)] };
};
const numbers = (...values: readonly number[]) => column(values.length, int32s(...values));
const times = (...values: readonly Buffer[]) => column(values.length, Buffer.concat(values));
/** A row of two, an empty one, and a third. */
const lists = (values: Uint8Array, most: number, levels: readonly number[]) =>
  column(4, values, { repetitions: [1, [0, 1, 0, 0]], definitions: [most, levels] });

/** The names of three sites, then these columns. */
const fileOf = (schema: readonly SchemaElement[], ...columns: readonly Column[]) =>
  parquetFile([SITE, ...schema], [{ rows: 3, columns: [sites(), ...columns] }]);

/** Two lists of lists, an empty one: `[[1,2],[3]]`, `[]`, `[[]]`. */
const LISTS = { repetitions: [2, [0, 2, 1, 0, 0]], definitions: [2, [2, 2, 2, 0, 1]] } as const;
const OPTIONAL_LISTS = { ...LISTS, definitions: [3, [3, 3, 3, 1, 2]] } as const;

/** Shorter than the dictionary and its values are together. */
const SHORT = { total_compressed_size: 30n };
/** Three positions in a dictionary of 7 and -8. */
const indexed = (bytes: readonly number[], encoding: string): Column => {
  return { pages: [dictionaryPage(2, int32s(7, -8)), page1(3, Buffer.from(bytes), {}, encoding)] };
};
const snappy = (page: Column['pages'][number]): Column => ({ pages: [page], chunk: { codec: 'SNAPPY' } });

/** Name, bytes, and the cells of the columns after the first. */
type OtherWriter = readonly [name: string, bytes: Buffer, cells: readonly (readonly string[])[]];
export const OTHER_WRITERS: readonly OtherWriter[] = [
  [
    'times of Hive and Spark up to the year 9999',
    fileOf(
      [leaf('t', { type: 'INT96' })],
      times(int96(LAST_DAY, LAST_NANOS), int96(DAY_2024, 1_000n), int96(-719_162, 0n)),
    ),
    [['9999-12-31T23:59:59.999999'], ['2024-01-15T00:00:00.000001'], ['0001-01-01T00:00:00']],
  ],
  [
    'times of Impala with nanoseconds',
    fileOf([leaf('t', { type: 'INT96' })], times(int96(DAY_2024, 123_456_789n), int96(0, 0n), int96(-1, 1n))),
    [['2024-01-15T00:00:00.123456789'], ['1970-01-01T00:00:00'], ['1969-12-31T00:00:00.000000001']],
  ],
  [
    'times in a list',
    fileOf(
      [leaf('t', { type: 'INT96', ...REPEATED })],
      lists(Buffer.concat([int96(LAST_DAY, 0n), int96(0, 0n), int96(1, 0n)]), 1, [1, 1, 0, 1]),
    ),
    [['["9999-12-31T00:00:00","1970-01-01T00:00:00"]'], ['[]'], ['["1970-01-02T00:00:00"]']],
  ],
  [
    'lists of lists with two levels each',
    fileOf(
      [
        ...[group('l', 1, { ...OPTIONAL, ...LIST }), group('array', 1, { ...REPEATED, ...LIST })],
        leaf('array', REPEATED),
      ],
      column(5, int32s(1, 2, 3), OPTIONAL_LISTS),
    ),
    [['[[1,2],[3]]'], ['[]'], ['[[]]']],
  ],
  [
    'a group of repeated numbers that repeats',
    fileOf([group('g', 1, REPEATED), leaf('n', REPEATED)], column(5, int32s(1, 2, 3), LISTS)),
    [['[{"n":[1,2]},{"n":[3]}]'], ['[]'], ['[{"n":[]}]']],
  ],
  [
    'a list of groups with one member, as Avro names it',
    fileOf(
      [group('l', 1, { ...OPTIONAL, ...LIST }), group('l_tuple', 1, REPEATED), leaf('n')],
      lists(int32s(1, 2), 2, [2, 2, 1, 0]),
    ),
    [['[{"n":1},{"n":2}]'], ['[]'], ['']],
  ],
  [
    'a list of groups of two levels',
    fileOf(
      [
        ...[group('l', 1, { ...OPTIONAL, ...LIST }), group('array', 2, REPEATED)],
        ...[leaf('a'), leaf('b', OPTIONAL)],
      ],
      lists(int32s(1, 2), 2, [2, 2, 1, 0]),
      lists(int32s(3), 3, [2, 3, 1, 0]),
    ),
    [['[{"a":1,"b":null},{"a":2,"b":3}]'], ['[]'], ['']],
  ],
  [
    'maps whose pairs have the annotation too',
    fileOf(
      [
        group('m', 1, { ...OPTIONAL, ...MAP }),
        group('map', 2, { ...REPEATED, converted_type: 'MAP_KEY_VALUE' }),
        ...[leaf('key', TEXT), leaf('value', OPTIONAL)],
      ],
      lists(texts('k', 'l'), 2, [2, 2, 1, 0]),
      lists(int32s(1), 3, [3, 2, 1, 0]),
    ),
    [['{"k":1,"l":null}'], ['{}'], ['']],
  ],
  [
    'a column of Impala: a member count of 0, and a dictionary whose header is not counted',
    parquetFile(
      [{ ...SITE, num_children: 0 }, leaf('n', { num_children: 0 })],
      [{ rows: 3, columns: [sites(), { ...indexed([1, 0b11, 0b010], 'PLAIN_DICTIONARY'), chunk: SHORT }] }],
    ),
    [['7'], ['-8'], ['7']],
  ],
  [
    'a page of version 2 with nulls only',
    fileOf([leaf('n', OPTIONAL)], snappy(page2(3, Buffer.alloc(0), { definitions: [1, [0, 0, 0]] }, true))),
    [[''], [''], ['']],
  ],
  [
    'a compressed page of version 2',
    fileOf([leaf('n', OPTIONAL)], snappy(page2(3, int32s(5, 5), { definitions: [1, [1, 0, 1]] }, true))),
    [['5'], [''], ['5']],
  ],
  [
    'row groups without rows',
    parquetFile(
      [SITE, leaf('n')],
      [
        { rows: 0, columns: [{ pages: [] }, { pages: [] }] },
        { rows: 2, columns: [sites(2), numbers(1, 2)] },
        { rows: 0, columns: [] },
        { rows: 1, columns: [sites(1), numbers(3)] },
      ],
    ),
    [['1'], ['2'], ['3']],
  ],
  [
    'a group without members',
    fileOf(
      [group('none', 0), leaf('n'), group('g', 2, OPTIONAL), group('inner', 0), leaf('x')],
      numbers(1, 2, 3),
      column(3, int32s(4, 6), { definitions: [1, [1, 0, 1]] }),
    ),
    ['1 {"x":4}', '2 ', '3 {"x":6}'].map((row) => row.split(' ')),
  ],
  [
    'a row of a list on two pages',
    fileOf([leaf('n', REPEATED)], {
      pages: [
        page1(2, int32s(1, 2), { repetitions: [1, [0, 1]], definitions: [1, [1, 1]] }),
        page1(3, int32s(3, 4), { repetitions: [1, [1, 0, 0]], definitions: [1, [1, 0, 1]] }),
      ],
    }),
    [['[1,2,3]'], ['[]'], ['[4]']],
  ],
];

const BIT_PACKED = { definition_level_encoding: 'BIT_PACKED' } as const;
const FULL = { definitions: [1, [1, 1, 1]] } as const;
const flat = (page: Column['pages'][number], chunk: Column['chunk'] = {}) =>
  fileOf([leaf('n', OPTIONAL)], { pages: [page], chunk });
const list = (repetitions: readonly number[], levels: readonly number[]) =>
  fileOf(
    [leaf('n', REPEATED)],
    column(repetitions.length, int32s(...levels.filter(Boolean)), {
      repetitions: [1, repetitions],
      definitions: [1, levels],
    }),
  );
const indexes = (...bytes: readonly number[]) => fileOf([leaf('n')], indexed(bytes, 'RLE_DICTIONARY'));
const deltas = (...bytes: readonly number[]) =>
  fileOf([leaf('n')], { pages: [page1(3, Buffer.from(bytes), {}, 'DELTA_BINARY_PACKED')] });
const bitPacked = (): Column['pages'][number] => {
  const { header, body } = page1(3, int32s(1, 2, 3), FULL);
  const { data_page_header: v1 } = header;
  return { header: { ...header, ...(v1 && { data_page_header: { ...v1, ...BIT_PACKED } }) }, body };
};
const longText = Buffer.concat([int32s(99), Buffer.from('a.com')]);

const farTimes = times(int96(2_000_000_000, 0n), int96(0, 0n), int96(0, 0n));

/** Broken files that DuckDB or Arrow refuse, and what hyparquet would read wrongly. */
export const BROKEN: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['fewer values than its page states', flat(page1(3, int32s(1, 2), FULL))],
  ['levels in an obsolete encoding', flat(bitPacked())],
  ['more values than its pages have', flat(page1(3, int32s(1, 2, 3), FULL), { num_values: 4n })],
  ['a time that microseconds cannot hold', fileOf([leaf('t', { type: 'INT96' })], farTimes)],
  ['two columns of one name', fileOf([leaf('n'), leaf('n')], numbers(1, 2, 3), numbers(4, 5, 6))],
  ['an impossible level', flat(page1(3, Buffer.concat([int32s(2), Buffer.from([6, 3]), int32s(1, 2, 3)])))],
  ['a position beyond the dictionary', indexes(2, 0b11, 0b110100, 0)],
  ['positions of 33 bits', indexes(33, 0b11, 0, 0, 0, 0, 0)],
  ['a run beyond the dictionary', indexes(2, 6, 3)],
  ['positions without a dictionary', flat(page1(3, Buffer.from([1, 6, 0]), FULL, 'RLE_DICTIONARY'))],
  ['more rows in its lists', list([0, 0, 0, 0], [1, 1, 1, 1])],
  ['fewer rows in its lists', list([0, 1, 0], [1, 1, 1])],
  ['a first row that goes on', list([1, 0, 0], [1, 1, 1])],
  ['blocks of no size', deltas(0, 4, 3, 0)],
  ['blocks in no parts', deltas(128, 1, 0, 3, 0)],
  ['another type than its schema', flat(page1(3, int32s(1, 2, 3), FULL), { type: 'INT64' })],
  ['an unknown compression', flat(page1(3, int32s(1, 2, 3), FULL), { codec: 'LZO' })],
  ['a text that ends after its page', parquetFile([SITE], [{ rows: 1, columns: [column(1, longText)] }])],
];
