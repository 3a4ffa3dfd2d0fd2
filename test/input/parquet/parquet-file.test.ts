/** Parquet in and out: the values of a DuckDB file stay the same; other formats get types. */
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { parquetMetadata, parquetSchema, type SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { jsonOfCell, NO_FORMATS, type TypedCell } from '../../../src/core/typed-cell.js';
import { openParquetTable } from '../../../src/input/parquet/parquet-table.js';
import { packStored, parquetCell, unpackStored } from '../../../src/input/parquet/values.js';
import { countRecords } from '../../../src/run/output/count-records.js';
import { JSON_SHAPE } from '../../run/output/plans.js';
import { CASES, casesOf } from '../../support/properties.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { objectsOf, readTable, writeTable } from './tables.js';

/**
 * Five rows of every type that DuckDB has (COPY ... FORMAT parquet, CODEC zstd): integers beyond a
 * double, decimals of 38 digits, microseconds and nanoseconds, lists of lists, maps with numbers as
 * keys, null and empty ones, bytes, JSON, UUID, ENUM, INTERVAL.
 */
const DUCKDB = new URL('../../fixtures/duckdb.parquet', import.meta.url);

/** Two rows of small and unsigned integers, also in a list, as pyarrow 25 writes them. */
const PYARROW = new URL('../../fixtures/pyarrow-integers.parquet', import.meta.url);

/**
 * Two rows, as pyarrow 25 writes them: moments with a zone, in UTC and without, days, times of
 * three units, decimals as bytes and as an integer, a dictionary, a duration.
 */
const ARROW = new URL('../../fixtures/pyarrow-types.parquet', import.meta.url);

const flatIn = (schema: SchemaElement[]) =>
  parquetSchema({ schema }).children.flatMap(({ element, children }) =>
    children.length === 0 ? [element.name] : [],
  );

describe('a file of DuckDB', () => {
  it('is read with the meaning of its values', async () => {
    const { cells, columns, shape } = await readTable(DUCKDB.pathname);
    const third = Object.fromEntries(columns.map((name, at) => [name, cells[3]?.[at]]));
    expect(shape.format).toBe('parquet');
    expect(third).toMatchObject({
      id: '3',
      website: 'acme3.com',
      big: '9007199254740996',
      ubig: '12345678901234567893',
      f: '0.3',
      dec: '3.30',
      bigdec: '12345678901234567890123456789.12',
      day: '2024-01-18',
      ts: '2024-01-15T10:30:00.123456',
      tz: '2024-01-15T10:30:00Z',
      tm: '10:30:00.5',
      ok: 'FALSE',
      none: '',
      list: '[1,null,3]',
      st: '{"a":3,"b":["x",null]}',
      m2: '{"10":"x","2":null}',
      ls: '',
      blob: 'qv8=',
      js: '{"a": 1.10}',
      en: 'v',
      ns: '2024-01-15T10:30:00.123456789',
    });
  });

  it('comes back with its types and values, then our columns', async () => {
    const { raws, shape, columns, cells } = await readTable(DUCKDB.pathname);
    const path = await writeTable(raws, { input: shape, allColumns: columns });
    const [before, after] = [await objectsOf(DUCKDB), await objectsOf(path)];
    const flat = flatIn(before.schema);
    expect(after.schema.filter(({ name }) => flat.includes(name))).toEqual(
      before.schema.filter(({ name }) => flat.includes(name)),
    );
    expect(after.rows).toHaveLength(before.rows.length);
    for (const [at, row] of before.rows.entries())
      for (const name of flat) expect(after.rows[at]?.[name], name).toEqual(row[name]);
    expect(after.rows[3]).toMatchObject({ list: '[1,null,3]', st: '{"a":3,"b":["x",null]}', ls: null });
    expect(after.rows[0]).toMatchObject({
      brand_status: 'matched',
      brand_name: 'Acme, Inc.',
      brand_quality_score: 0.9,
      brand_claimed: true,
      brand_fetched_at: new Date('2026-10-03T04:05:06.789Z'),
    });
    const again = await readTable(path);
    expect(again.cells.map((row) => row.slice(0, columns.length))).toEqual(cells);
    const counted = { gzip: false, format: 'parquet', delimiter: '', lineEnd: '\n' } as const;
    expect(await countRecords(path, { ...counted, hasHeader: true })).toBe(5);
  });

  it('is valid input after it was enriched: our columns are replaced', async () => {
    const first = await readTable(DUCKDB.pathname);
    const path = await writeTable(first.raws, { input: first.shape, allColumns: first.columns });
    const second = await readTable(path);
    const replacedColumns = [...second.columns.keys()].slice(first.columns.length);
    const changes = { input: second.shape, allColumns: second.columns, replacedColumns };
    const again = await objectsOf(await writeTable(second.raws, changes));
    expect(again).toEqual(await objectsOf(path));
  });

  it('with a chunk of a column that its schema lacks it is refused before that is read', async () => {
    const columnData = ['siteA', 'siteB'].map((name) => ({ name, data: ['acme.com', 'b.de'] }));
    const bytes = Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' }));
    const path = join(await temporaryFolder(), 'a.parquet');
    const renamed = bytes.toString('latin1').replace(/(?<=siteB[\s\S]*)siteB/g, 'siteA');
    await writeFile(path, renamed, 'latin1');
    await expect(readTable(path)).rejects.toMatchObject({
      code: 'input-binary',
      message: expect.stringContaining('its columns are not those of its schema'),
    });
  });

  it('keeps an unreadable row, although some of its columns are required', async () => {
    const columnData = [{ name: 'site', data: ['a.com', 'b.com'] }];
    const path = join(await temporaryFolder(), 'a.parquet');
    await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' })));
    const { shape, columns } = await readTable(path);
    expect(shape.parquet?.schema[0]?.repetition_type).toBe('REQUIRED');
    const plan = { input: shape, allColumns: columns, hasUnreadable: true };
    const written = await objectsOf(await writeTable(['["a.com"]', '[null]'], plan));
    expect(written.rows.map(({ site }) => site)).toEqual(['a.com', null]);
  });

  /** In this process: one for each case would take long. */
  async function readHere(path: string): Promise<void> {
    const handle = await open(path);
    try {
      const { size } = await handle.stat();
      const table = await openParquetTable({ name: path, descriptor: handle.fd, size });
      for await (const batch of table.openRows(null).batches) expect([...batch].length).toBeGreaterThan(0);
    } finally {
      await handle.close();
    }
  }

  it('with any damaged byte it is read or refused, and nothing else happens', CASES, async () => {
    const bytes = await readFile(DUCKDB);
    const path = join(await temporaryFolder(), 'a.parquet');
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 5), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const broken = Buffer.from(bytes);
        broken[at + 4] = (broken[at + 4] ?? 0) ^ change;
        await writeFile(path, broken);
        await readHere(path).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
      }),
      { numRuns: casesOf(150) },
    );
  });
});

it('the geometry columns of GeoParquet keep their metadata', async () => {
  const geo = JSON.stringify({ version: '1.1.0', primary_column: 'shape', columns: { shape: {} } });
  const columnData = [
    { name: 'website', data: ['a.com'] },
    { name: 'shape', data: [Uint8Array.of(1, 2)], type: 'BYTE_ARRAY' as const },
  ];
  const kvMetadata = [{ key: 'geo', value: geo }];
  const path = join(await temporaryFolder(), 'geo.parquet');
  await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData, kvMetadata, codec: 'UNCOMPRESSED' })));
  const { raws, shape, columns } = await readTable(path);
  const written = await readFile(await writeTable(raws, { input: shape, allColumns: columns }));
  const bytes = written.buffer.slice(written.byteOffset, written.byteOffset + written.length) as ArrayBuffer;
  expect(parquetMetadata(bytes).key_value_metadata).toEqual([{ key: 'geo', value: geo }]);
});

it('every logical type of Parquet comes back, and a warning says that those of Arrow do not', async () => {
  const { raws, shape, columns, warnings, cells } = await readTable(ARROW.pathname);
  const path = await writeTable(raws, { input: shape, allColumns: columns });
  const [before, after] = [await objectsOf(ARROW), await objectsOf(path)];
  expect(after.schema.slice(1, before.schema.length)).toEqual(before.schema.slice(1));
  for (const [at, row] of before.rows.entries()) expect(after.rows[at]).toMatchObject(row);
  const types = before.schema.map(({ logical_type }) => logical_type);
  for (const type of [
    { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
    { type: 'TIMESTAMP', isAdjustedToUTC: false, unit: 'NANOS' },
    { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' },
    { type: 'DATE' },
    { type: 'DECIMAL', precision: 38, scale: 2 },
  ])
    expect(types).toContainEqual(type);
  expect(cells[0]).toContain('2024-01-15T10:30:00Z');
  expect(warnings.join()).toContain('the types that only Arrow knows');
  expect((await readTable(path)).warnings.join()).not.toContain('Arrow');
});

it('values that JSON lacks survive the spool', () => {
  const plain = fc.oneof(fc.double(), fc.string(), fc.boolean(), fc.constant(null));
  const leaf = fc.oneof(plain, fc.bigInt(), fc.uint8Array());
  fc.assert(
    fc.property(leaf, (it) => {
      const through = unpackStored(JSON.parse(JSON.stringify(packStored(it))));
      expect(through).toEqual(it);
    }),
  );
});

it.each<[string, Partial<SchemaElement>, string, unknown]>([
  ['a duration', { converted_type: 'INTERVAL' }, '0e0000000200000000000000', 'P14M2D'],
  ['a duration of half a second', { converted_type: 'INTERVAL' }, '0000000000000000f4010000', 'PT0.5S'],
  ['none', { converted_type: 'INTERVAL' }, '000000000000000000000000', 'PT0S'],
  ['half precision', { logical_type: { type: 'FLOAT16' } }, '00c5', -5],
  ['a small half', { logical_type: { type: 'FLOAT16' } }, '0100', 2 ** -24],
  ['an infinite half', { logical_type: { type: 'FLOAT16' } }, '007c', 'Infinity'],
  ['bytes that are text', {}, 'c3a9', 'é'],
  ['bytes that are valid text with control characters', {}, '0001', 'AAE='],
])('%s has its meaning', (_, annotations, hex, expected) => {
  const element = { name: 'x', type: 'FIXED_LEN_BYTE_ARRAY', ...annotations } as const;
  const bytes = new Uint8Array(Buffer.from(hex, 'hex'));
  expect(parquetCell(element, bytes)).toMatchObject({ c: expected });
});

it('columns of other formats get the narrowest type of all their cells', async () => {
  const codes = ['General', 'yyyy-mm-dd', 'yyyy-mm-dd hh:mm'];
  const columns = ['int', 'num', 'flag', 'day', 'moment', 'mixed', 'text', 'empty', 'text'];
  const typed = { codes, is1904: false, sheet: 'S' };
  const rawHeader = JSON.stringify(columns);
  const input = { ...JSON_SHAPE, format: 'xlsx', columns, rawHeader, typed } as const;
  const day = { n: 45_306, f: 1 };
  const rows: TypedCell[][] = [
    [1, 1, true, day, day, 1, '007', null, { e: '#N/A' }],
    [-2, 1.5, null, null, { n: 45_306.5, f: 2 }, 'x', null, null, null],
  ];
  const raws = rows.map((row) => JSON.stringify(row));
  const path = await writeTable(raws, { input, allColumns: columns });
  const { rows: read, schema } = await objectsOf(path);
  expect(read).toMatchObject([
    {
      ...{ int: 1n, num: 1, flag: true, day: new Date('2024-01-15'), moment: new Date('2024-01-15') },
      ...{ mixed: '1', text: '007', empty: null, text_2: '#N/A' },
    },
    {
      ...{ int: -2n, num: 1.5, flag: null, day: null, moment: new Date('2024-01-15T12:00:00Z') },
      ...{ mixed: 'x', text: null, empty: null, text_2: null },
    },
  ]);
  expect(schema.find(({ name }) => name === 'day')).toMatchObject({ type: 'INT32', converted_type: 'DATE' });
});

it('rows beyond one group are written and read in several, counted in all', { tags: ['long'] }, async () => {
  const raws = Array.from({ length: 45_000 }, (_, at) => `{"website":"a${at}.com","n":${at}}`);
  const path = await writeTable(raws, { input: JSON_SHAPE, allColumns: ['website', 'n'] });
  const { raws: read } = await readTable(path);
  expect(read).toHaveLength(45_000);
  expect(JSON.parse(read.at(-1) ?? '').slice(0, 2)).toEqual(['a44999.com', expect.anything()]);
});

it('integers of pyarrow come back with their width and sign, as Arrow accepts them', async () => {
  const { shape, raws } = await readTable(fileURLToPath(PYARROW));
  const path = await writeTable(raws, { input: shape });
  const [before, after] = [await objectsOf(PYARROW), await objectsOf(path)];
  const flat = flatIn(before.schema);
  for (const [at, row] of before.rows.entries())
    for (const name of flat) expect(after.rows[at]?.[name], name).toEqual(row[name]);
  expect(after.rows.map(({ list }) => list)).toEqual(['[1,null]', null]);
  const types = after.schema.flatMap(({ name, converted_type: it }) => (flat.includes(name) ? [it] : []));
  expect(types).toEqual(['UTF8', 'INT_8', 'UINT_8', 'INT_16', 'UINT_32', 'UINT_64']);
  // hyparquet-writer writes the width of an INTEGER as 32 bits: Arrow refuses the whole file.
  expect(after.schema.filter(({ logical_type: it }) => it?.type === 'INTEGER')).toEqual([]);
});

it.each([
  ['{\n "a": 12345678901234567890\n}', '{ "a": 12345678901234567890}'],
  ['NaN', '"NaN"'],
  ['{"a":', '"{\\"a\\":"'],
  ['1,"website":"evil.com"', '"1,\\"website\\":\\"evil.com\\""'],
])('a value annotated as JSON is a cell of JSON only if it is JSON: %j', (text, json) => {
  const element: SchemaElement = { name: 'a', type: 'BYTE_ARRAY', converted_type: 'JSON' };
  expect(jsonOfCell(parquetCell(element, Buffer.from(text)), NO_FORMATS)).toBe(json);
});
