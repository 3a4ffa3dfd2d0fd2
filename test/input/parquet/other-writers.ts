/** Small files as Hive, Spark, Impala and old libraries write them, each with its cells. */
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

const NAMES = ['a.com', 'b.com', 'c.com'];
const sites = (rows = 3): Column => ({ pages: [page1(rows, texts(...NAMES.slice(0, rows)))] });
const DAY_2024 = 19_737;
const LAST_DAY = 2_932_896;
const LAST_NANOS = 86_399_999_999_000n;

const times = (...values: readonly Buffer[]): Column => ({
  pages: [page1(values.length, Buffer.concat(values))],
});

const threeRows = (columns: readonly Column[]) => [{ rows: 3, columns: [sites(), ...columns] }];

/** Two lists of lists, an empty one: `[[1,2],[3]]`, `[]`, `[[]]`. */
const LISTS = { repetitions: [2, [0, 2, 1, 0, 0]], definitions: [2, [2, 2, 2, 0, 1]] } as const;
const OPTIONAL_LISTS = { ...LISTS, definitions: [3, [3, 3, 3, 1, 2]] } as const;
const LISTS_READ = ['[[1,2],[3]]', '[]', '[[]]'];

/** Name, bytes, and the cells of the columns after the first. */
export const OTHER_WRITERS: readonly (readonly [
  name: string,
  bytes: Buffer,
  cells: readonly (readonly string[])[],
])[] = [
  [
    'times of Hive and Spark up to the year 9999',
    parquetFile(
      [SITE, leaf('t', { type: 'INT96' })],
      threeRows([times(int96(LAST_DAY, LAST_NANOS), int96(DAY_2024, 1_000n), int96(-719_162, 0n))]),
    ),
    [['9999-12-31T23:59:59.999999'], ['2024-01-15T00:00:00.000001'], ['0001-01-01T00:00:00']],
  ],
  [
    'times of Impala with nanoseconds',
    parquetFile(
      [SITE, leaf('t', { type: 'INT96' })],
      threeRows([times(int96(DAY_2024, 123_456_789n), int96(0, 0n), int96(-1, 1n))]),
    ),
    [['2024-01-15T00:00:00.123456789'], ['1970-01-01T00:00:00'], ['1969-12-31T00:00:00.000000001']],
  ],
  [
    'times in a list',
    parquetFile(
      [SITE, leaf('t', { type: 'INT96', ...REPEATED })],
      threeRows([
        {
          pages: [
            page1(4, Buffer.concat([int96(LAST_DAY, 0n), int96(0, 0n), int96(1, 0n)]), {
              repetitions: [1, [0, 1, 0, 0]],
              definitions: [1, [1, 1, 0, 1]],
            }),
          ],
        },
      ]),
    ),
    [['["9999-12-31T00:00:00","1970-01-01T00:00:00"]'], ['[]'], ['["1970-01-02T00:00:00"]']],
  ],
  [
    'lists of lists with two levels each',
    parquetFile(
      [
        SITE,
        group('l', 1, { ...OPTIONAL, ...LIST }),
        group('array', 1, { ...REPEATED, ...LIST }),
        leaf('array', REPEATED),
      ],
      threeRows([{ pages: [page1(5, int32s(1, 2, 3), OPTIONAL_LISTS)] }]),
    ),
    LISTS_READ.map((text) => [text]),
  ],
  [
    'a group of repeated numbers that repeats',
    parquetFile(
      [SITE, group('g', 1, REPEATED), leaf('n', REPEATED)],
      threeRows([{ pages: [page1(5, int32s(1, 2, 3), LISTS)] }]),
    ),
    [['[{"n":[1,2]},{"n":[3]}]'], ['[]'], ['[{"n":[]}]']],
  ],
  [
    'a list of groups with one member, as Avro names it',
    parquetFile(
      [SITE, group('l', 1, { ...OPTIONAL, ...LIST }), group('l_tuple', 1, REPEATED), leaf('n')],
      threeRows([
        {
          pages: [page1(4, int32s(1, 2), { repetitions: [1, [0, 1, 0, 0]], definitions: [2, [2, 2, 1, 0]] })],
        },
      ]),
    ),
    [['[{"n":1},{"n":2}]'], ['[]'], ['']],
  ],
  [
    'a list of groups of two levels',
    parquetFile(
      [
        SITE,
        group('l', 1, { ...OPTIONAL, ...LIST }),
        group('array', 2, REPEATED),
        leaf('a'),
        leaf('b', OPTIONAL),
      ],
      threeRows([
        {
          pages: [page1(4, int32s(1, 2), { repetitions: [1, [0, 1, 0, 0]], definitions: [2, [2, 2, 1, 0]] })],
        },
        { pages: [page1(4, int32s(3), { repetitions: [1, [0, 1, 0, 0]], definitions: [3, [2, 3, 1, 0]] })] },
      ]),
    ),
    [['[{"a":1,"b":null},{"a":2,"b":3}]'], ['[]'], ['']],
  ],
  [
    'maps whose pairs have the annotation too',
    parquetFile(
      [
        SITE,
        group('m', 1, { ...OPTIONAL, ...MAP }),
        group('map', 2, { ...REPEATED, converted_type: 'MAP_KEY_VALUE' }),
        leaf('key', { type: 'BYTE_ARRAY', converted_type: 'UTF8' }),
        leaf('value', OPTIONAL),
      ],
      threeRows([
        {
          pages: [
            page1(4, texts('k', 'l'), { repetitions: [1, [0, 1, 0, 0]], definitions: [2, [2, 2, 1, 0]] }),
          ],
        },
        { pages: [page1(4, int32s(1), { repetitions: [1, [0, 1, 0, 0]], definitions: [3, [3, 2, 1, 0]] })] },
      ]),
    ),
    [['{"k":1,"l":null}'], ['{}'], ['']],
  ],
  [
    'a column of Impala: a member count of 0, and a dictionary whose header is not counted',
    parquetFile(
      [{ ...SITE, num_children: 0 }, leaf('n', { num_children: 0 })],
      [
        {
          rows: 3,
          columns: [
            sites(),
            {
              pages: [
                dictionaryPage(2, int32s(7, -8)),
                page1(3, Buffer.from([1, 0b11, 0b010]), {}, 'PLAIN_DICTIONARY'),
              ],
              chunk: { total_compressed_size: 30n },
            },
          ],
        },
      ],
    ),
    [['7'], ['-8'], ['7']],
  ],
  [
    'a page of version 2 with nulls only',
    parquetFile(
      [SITE, leaf('n', OPTIONAL)],
      threeRows([
        {
          pages: [page2(3, Buffer.alloc(0), { definitions: [1, [0, 0, 0]] }, true)],
          chunk: { codec: 'SNAPPY' },
        },
      ]),
    ),
    [[''], [''], ['']],
  ],
  [
    'a compressed page of version 2',
    parquetFile(
      [SITE, leaf('n', OPTIONAL)],
      threeRows([
        {
          pages: [page2(3, int32s(5, 5), { definitions: [1, [1, 0, 1]] }, true)],
          chunk: { codec: 'SNAPPY' },
        },
      ]),
    ),
    [['5'], [''], ['5']],
  ],
  [
    'row groups without rows',
    parquetFile(
      [SITE, leaf('n')],
      [
        { rows: 0, columns: [{ pages: [] }, { pages: [] }] },
        { rows: 2, columns: [sites(2), { pages: [page1(2, int32s(1, 2))] }] },
        { rows: 0, columns: [] },
        { rows: 1, columns: [sites(1), { pages: [page1(1, int32s(3))] }] },
      ],
    ),
    [['1'], ['2'], ['3']],
  ],
  [
    'a group without members',
    parquetFile(
      [SITE, group('none', 0), leaf('n'), group('g', 2, OPTIONAL), group('inner', 0), leaf('x')],
      threeRows([
        { pages: [page1(3, int32s(1, 2, 3))] },
        { pages: [page1(3, int32s(4, 6), { definitions: [1, [1, 0, 1]] })] },
      ]),
    ),
    [
      ['1', '{"x":4}'],
      ['2', ''],
      ['3', '{"x":6}'],
    ],
  ],
  [
    'two columns of one name, and two members',
    parquetFile(
      [SITE, leaf('n'), leaf('n'), group('g', 2), leaf('x'), leaf('x')],
      threeRows([1, 4, 7, 10].map((first) => ({ pages: [page1(3, int32s(first, first + 1, first + 2))] }))),
    ),
    [
      ['1', '4', '{"x":7,"x_2":10}'],
      ['2', '5', '{"x":8,"x_2":11}'],
      ['3', '6', '{"x":9,"x_2":12}'],
    ],
  ],
  [
    'a row of a list on two pages',
    parquetFile(
      [SITE, leaf('n', REPEATED)],
      threeRows([
        {
          pages: [
            page1(2, int32s(1, 2), { repetitions: [1, [0, 1]], definitions: [1, [1, 1]] }),
            page1(3, int32s(3, 4), { repetitions: [1, [1, 0, 0]], definitions: [1, [1, 0, 1]] }),
          ],
        },
      ]),
    ),
    [['[1,2,3]'], ['[]'], ['[4]']],
  ],
];

const flat = (page: Column['pages'][number], more: Partial<Column> = {}) =>
  parquetFile([SITE, leaf('n', OPTIONAL)], threeRows([{ pages: [page], ...more }]));
const definitions = [1, [1, 1, 1]] as const;
const list = (repetitions: readonly number[], definitions: readonly number[]) =>
  parquetFile(
    [SITE, leaf('n', REPEATED)],
    threeRows([
      {
        pages: [
          page1(repetitions.length, int32s(...definitions.filter(Boolean)), {
            repetitions: [1, repetitions],
            definitions: [1, definitions],
          }),
        ],
      },
    ]),
  );
const indexes = (bytes: readonly number[]) =>
  parquetFile(
    [SITE, leaf('n')],
    threeRows([
      { pages: [dictionaryPage(2, int32s(7, 8)), page1(3, Buffer.from(bytes), {}, 'RLE_DICTIONARY')] },
    ]),
  );
const deltas = (bytes: readonly number[]) =>
  parquetFile(
    [SITE, leaf('n')],
    threeRows([{ pages: [page1(3, Buffer.from(bytes), {}, 'DELTA_BINARY_PACKED')] }]),
  );

/** Broken files that DuckDB or Arrow refuse. */
export const BROKEN: readonly (readonly [what: string, bytes: Buffer])[] = [
  ['fewer values than its page states', flat(page1(3, int32s(1, 2), { definitions }))],
  [
    'a level that cannot be',
    flat(page1(3, Buffer.concat([int32s(2), Buffer.from([6, 3]), int32s(1, 2, 3)]))),
  ],
  ['a position beyond the dictionary', indexes([2, 0b11, 0b110100, 0])],
  ['positions of 33 bits', indexes([33, 0b11, 0, 0, 0, 0, 0])],
  ['a run beyond the dictionary', indexes([2, 6, 3])],
  [
    'positions without a dictionary',
    flat(page1(3, Buffer.from([1, 6, 0]), { definitions }, 'RLE_DICTIONARY')),
  ],
  ['more rows in its lists', list([0, 0, 0, 0], [1, 1, 1, 1])],
  ['fewer rows in its lists', list([0, 1, 0], [1, 1, 1])],
  ['a first row that goes on', list([1, 0, 0], [1, 1, 1])],
  ['blocks of no size', deltas([0, 4, 3, 0])],
  ['blocks in no parts', deltas([128, 1, 0, 3, 0])],
  ['another number of differences', deltas([128, 1, 4, 2, 0, 2, 0, 0, 0, 0])],
  ['differences of 65 bits', deltas([128, 1, 4, 3, 0, 2, 65, 0, 0, 0, ...Array<number>(300).fill(0)])],
  [
    'another type than its schema',
    flat(page1(3, int32s(1, 2, 3), { definitions }), { chunk: { type: 'INT64' } }),
  ],
  ['an unknown compression', flat(page1(3, int32s(1, 2, 3), { definitions }), { chunk: { codec: 'LZO' } })],
  [
    'a text that ends after its page',
    parquetFile(
      [SITE],
      [{ rows: 1, columns: [{ pages: [page1(1, Buffer.concat([int32s(99), Buffer.from('a.com')]))] }] }],
    ),
  ],
];
