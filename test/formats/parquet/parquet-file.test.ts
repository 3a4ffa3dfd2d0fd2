/** Parquet in and out: the values of a DuckDB file stay the same; other formats get types. */
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { parquetMetadata, parquetReadObjects, parquetSchema, type SchemaElement } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ByteWriter, ParquetWriter, parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import type { TypedCell } from '../../../src/core/typed-cell.js';
import { openInput } from '../../../src/formats/open-input.js';
import { createParquetFile } from '../../../src/formats/parquet/parquet-file.js';
import { openParquetTable } from '../../../src/formats/parquet/parquet-table.js';
import { packStored, parquetCell, unpackStored } from '../../../src/formats/parquet/values.js';
import { countRecords } from '../../../src/run/output/count-records.js';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { parquetPlan, typesOfRows } from '../../../src/run/output/render-typed.js';
import { RowSpool } from '../../../src/run/scan/row-spool.js';
import { SpoolFile } from '../../../src/run/scan/spool-file.js';
import { JSON_SHAPE, MATCHED, planFor } from '../../run/output/plans.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

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

async function readTable(path: string) {
  const options = { hasHeader: true, skipLines: 0, limit: null, spoolFolder: '/nowhere' };
  const input = await openInput(path, null, options);
  try {
    const raws: string[] = [];
    const cells: (readonly string[])[] = [];
    for await (const batch of input.rows()) {
      raws.push(...batch.map(({ raw }) => raw));
      cells.push(...batch.map((row) => row.cells));
    }
    const { shape, warnings } = input;
    return { shape, warnings, raws, cells, columns: input.columns() };
  } finally {
    await input.close();
  }
}

/** Writes these rows as a run does; each is matched. */
async function writeTable(raws: readonly string[], changes: Partial<OutputPlan>): Promise<string> {
  const plan = planFor({
    fields: ['name', 'qualityScore', 'logo_url', 'claimed'],
    ...changes,
    format: 'parquet',
  });
  const folder = await temporaryFolder();
  const rows = new RowSpool(new SpoolFile(folder, 'rows', 'list.csv'));
  for (const raw of raws) rows.add(1, 'asked', [0], '', raw);
  const bytes: Buffer[] = [];
  const send = async (piece: Buffer) => void bytes.push(piece);
  const file = createParquetFile(send, parquetPlan(plan, typesOfRows(plan, rows)));
  const renderer = createRenderer(plan);
  await file.write(renderer.header() ?? '');
  for (const raw of raws) await file.write(renderer.row(raw, renderer.answer(MATCHED), 7));
  await file.finish();
  const path = join(folder, 'out.parquet');
  await writeFile(path, Buffer.concat(bytes));
  return path;
}

async function objectsOf(path: string | URL) {
  const bytes = await readFile(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const { schema } = parquetMetadata(file);
  // hyparquet itself reads no INTERVAL.
  const columns = parquetSchema({ schema }).children.map(({ element }) => element.name);
  const rows = await parquetReadObjects({
    file,
    columns: columns.filter((name) => name !== 'iv'),
    compressors,
    utf8: false,
    parsers: { jsonFromBytes: (it) => it },
  });
  return { rows, schema };
}

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
    const { raws, shape, columns } = await readTable(DUCKDB.pathname);
    const path = await writeTable(raws, { input: shape, allColumns: columns });
    const [before, after] = [await objectsOf(DUCKDB), await objectsOf(path)];
    expect(after.schema.slice(1, before.schema.length)).toEqual(before.schema.slice(1));
    expect(after.rows).toHaveLength(before.rows.length);
    for (const [at, row] of before.rows.entries()) expect(after.rows[at]).toMatchObject(row);
    expect(after.rows[0]).toMatchObject({
      brand_status: 'matched',
      brand_name: 'Acme, Inc.',
      brand_quality_score: 0.9,
      brand_claimed: true,
      brand_fetched_at: new Date('2026-10-03T04:05:06.789Z'),
    });
    expect((await readTable(path)).raws.map((raw) => JSON.parse(raw).slice(0, columns.length))).toEqual(
      raws.map((raw) => JSON.parse(raw)),
    );
    const shapeOfCount = {
      gzip: false,
      format: 'parquet',
      delimiter: '',
      lineEnd: '\n',
      hasHeader: true,
    } as const;
    expect(await countRecords(path, shapeOfCount)).toBe(5);
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

  it.each([
    ['of two columns with one name', /siteB/g, 'two of its columns have the same name'],
    [
      'of a column that its schema lacks',
      /(?<=siteB[\s\S]*)siteB/g,
      'its columns are not those of its schema',
    ],
  ])('with a chunk %s it is refused before that is read', async (_, renamed, why) => {
    const columnData = ['siteA', 'siteB'].map((name) => ({ name, data: ['acme.com', 'b.de'] }));
    const bytes = Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' }));
    const { meta_data } = parquetMetadata(new Uint8Array(bytes).buffer).row_groups[0]?.columns[1] ?? {};
    // Its page is damaged: a reader that begins with it and forgets it ends the process.
    bytes.fill(0, Number(meta_data?.data_page_offset), Number(meta_data?.data_page_offset) + 8);
    const path = join(await temporaryFolder(), 'a.parquet');
    await writeFile(path, bytes.toString('latin1').replace(renamed, 'siteA'), 'latin1');
    await expect(readTable(path)).rejects.toMatchObject({
      code: 'input-binary',
      message: expect.stringContaining(why),
    });
  });

  it('has room for a row that could not be read, in columns that every row must have', async () => {
    const columnData = [{ name: 'site', data: ['a.com', 'b.com'] }];
    const path = join(await temporaryFolder(), 'a.parquet');
    await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' })));
    const { shape, columns } = await readTable(path);
    expect(shape.parquet?.schema[1]?.repetition_type).toBe('REQUIRED');
    const plan = { input: shape, allColumns: columns, hasUnreadable: true };
    const written = await objectsOf(await writeTable(['["a.com"]', '[null]'], plan));
    expect(written.rows.map(({ site }) => site)).toEqual(['a.com', null]);
  });

  it('whose values do not fit its schema is an error that says how to get the rows', async () => {
    const columnData = [{ name: 'count', data: [1, 2], type: 'INT32' as const }];
    const path = join(await temporaryFolder(), 'a.parquet');
    await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' })));
    const { shape, columns } = await readTable(path);
    await expect(writeTable(['["1"]'], { input: shape, allColumns: columns })).rejects.toMatchObject({
      code: 'input-binary',
      todo: expect.stringContaining('--output FILE.csv'),
    });
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

  it('with any damaged byte it is read or refused, and nothing else happens', async () => {
    const bytes = await readFile(DUCKDB);
    const path = join(await temporaryFolder(), 'a.parquet');
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 5), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const broken = Buffer.from(bytes);
        broken[at + 4] = (broken[at + 4] ?? 0) ^ change;
        await writeFile(path, broken);
        await readHere(path).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
      }),
      { numRuns: 150 },
    );
  });
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
  const leaf = fc.oneof(
    fc.double(),
    fc.bigInt(),
    fc.uint8Array(),
    fc.string(),
    fc.boolean(),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.oneof(leaf, fc.array(leaf), fc.dictionary(fc.string(), leaf)), (it) => {
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
  const input = {
    ...JSON_SHAPE,
    format: 'xlsx',
    columns,
    rawHeader: JSON.stringify(columns),
    typed: { codes, is1904: false, sheet: 'S' },
  } as const;
  const day = { n: 45_306, f: 1 };
  const rows: TypedCell[][] = [
    [1, 1, true, day, day, 1, '007', null, { e: '#N/A' }],
    [-2, 1.5, null, null, { n: 45_306.5, f: 2 }, 'x', null, null, null],
  ];
  const path = await writeTable(
    rows.map((row) => JSON.stringify(row)),
    { input, allColumns: columns },
  );
  const { rows: read, schema } = await objectsOf(path);
  expect(read).toMatchObject([
    {
      int: 1n,
      num: 1,
      flag: true,
      day: new Date('2024-01-15'),
      moment: new Date('2024-01-15'),
      mixed: '1',
      text: '007',
      empty: null,
      text_2: '#N/A',
    },
    {
      int: -2n,
      num: 1.5,
      flag: null,
      day: null,
      moment: new Date('2024-01-15T12:00:00Z'),
      mixed: 'x',
      text: null,
      empty: null,
      text_2: null,
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

it('a file of hyparquet-writer with other codecs and required columns', async () => {
  const columnData = [
    { name: 'website', data: ['a.com', 'b.com'], nullable: false },
    { name: 'when', data: [new Date(0), new Date(1)], type: 'TIMESTAMP' as const },
  ];
  const path = join(await temporaryFolder(), 'a.parquet');
  await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData, codec: 'UNCOMPRESSED' })));
  const { cells } = await readTable(path);
  expect(cells).toEqual([
    ['a.com', '1970-01-01T00:00:00Z'],
    ['b.com', '1970-01-01T00:00:00.001Z'],
  ]);
});

it('integers of pyarrow come back with their width and sign, in the annotation that Arrow accepts', async () => {
  const { shape, raws } = await readTable(fileURLToPath(PYARROW));
  const path = await writeTable(raws, { input: shape });
  const [before, after] = [await objectsOf(PYARROW), await objectsOf(path)];
  expect(after.rows.map((row) => ({ ...row }))).toEqual(
    before.rows.map((row) => expect.objectContaining(row)),
  );
  const integersOf = (schema: readonly SchemaElement[]) =>
    schema.flatMap(({ name, converted_type: it }) => (it?.includes('INT_') ? [[name, it]] : []));
  expect(integersOf(after.schema)).toEqual(integersOf(before.schema));
  expect(integersOf(after.schema).map(([, type]) => type)).toEqual([
    'INT_8',
    'UINT_8',
    'INT_16',
    'UINT_32',
    'UINT_64',
    'UINT_16',
  ]);
  // hyparquet-writer writes the width of an INTEGER as 32 bits: Arrow refuses the whole file.
  expect(after.schema.filter(({ logical_type: it }) => it?.type === 'INTEGER')).toEqual([]);
});

/** Lists as older software writes them: the same values, and fewer levels in the schema. */
async function withOldLists(): Promise<string> {
  const group = (name: string, num_children: number, more: Partial<SchemaElement> = {}): SchemaElement => ({
    name,
    repetition_type: 'REQUIRED',
    num_children,
    ...more,
  });
  const list = (name: string, more: Partial<SchemaElement> = {}) => [
    group(name, 1, { converted_type: 'LIST', ...more }),
    group('list', 1, { repetition_type: 'REPEATED' }),
  ];
  const value = (name: string, more: Partial<SchemaElement> = {}): SchemaElement => ({
    name,
    type: 'INT32',
    repetition_type: 'REQUIRED',
    ...more,
  });
  const optional = { repetition_type: 'OPTIONAL' } as const;
  const repeated = { repetition_type: 'REPEATED' } as const;
  const site = value('website', { type: 'BYTE_ARRAY', converted_type: 'UTF8' });
  const pair = [value('a'), value('b', optional)];
  const root = group('root', 5);
  const schema = [
    root,
    site,
    ...[...list('bare'), value('element')],
    ...[...list('two', optional), value('element')],
    ...[...list('groups'), group('element', 2), ...pair],
    ...[...list('both', optional), group('element', 2), ...pair],
  ];
  const bytes = new ByteWriter();
  const file = new ParquetWriter({ writer: bytes, schema, statistics: false });
  const items = [
    [
      { a: 1, b: null },
      { a: 2, b: 3 },
    ],
    [],
    null,
  ];
  const columnData = [
    { name: 'website', data: ['a.com', 'b.com', 'c.com'] },
    { name: 'bare', data: [[1, 2], [], [3]] },
    { name: 'two', data: [[1, 2], [], null] },
    { name: 'groups', data: [items[0], [], []] },
    { name: 'both', data: items },
  ];
  await file.write({ columnData, rowGroupSize: 3 });
  file.schema = [
    root,
    site,
    value('bare', repeated),
    group('two', 1, { converted_type: 'LIST', ...optional }),
    value('array', repeated),
    group('groups', 2, repeated),
    ...pair,
    group('both', 1, { converted_type: 'LIST', ...optional }),
    group('array', 2, repeated),
    ...pair,
  ];
  for (const { meta_data } of file.row_groups.flatMap(({ columns }) => columns)) {
    if (meta_data === undefined) continue;
    const [top = '', ...rest] = meta_data.path_in_schema;
    const inner = rest.filter((name) => name !== 'list' && name !== 'element');
    meta_data.path_in_schema = [top, ...(['two', 'both'].includes(top) ? ['array'] : []), ...inner];
  }
  await file.finish();
  const path = join(await temporaryFolder(), 'old.parquet');
  await writeFile(path, Buffer.from(bytes.getBytes()));
  return path;
}

it('lists of fewer levels, as older software writes them, come back as lists with the same values', async () => {
  const { shape, raws, cells } = await readTable(await withOldLists());
  expect(cells[0]).toEqual(['a.com', '[1,2]', '[1,2]', expect.stringContaining('"a":2'), expect.any(String)]);
  const { rows, schema } = await objectsOf(await writeTable(raws, { input: shape }));
  expect(schema.filter(({ type, repetition_type }) => type && repetition_type === 'REPEATED')).toEqual([]);
  const pairs = [
    { a: 1, b: null },
    { a: 2, b: 3 },
  ];
  expect(rows).toMatchObject([
    { website: 'a.com', bare: [1, 2], two: [1, 2], groups: pairs, both: pairs },
    { website: 'b.com', bare: [], two: [], groups: [], both: [] },
    { website: 'c.com', bare: [3], two: undefined, groups: [], both: undefined },
  ]);
});
