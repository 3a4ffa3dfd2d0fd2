/** Files of other writers are read, and written with the same values; broken ones are refused. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { int96, leaf, page1, parquetFile, SITE, texts } from '../../support/parquet-pages.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { BROKEN, OTHER_WRITERS } from './other-writers.js';
import { objectsOf, readTable, writeTable } from './tables.js';

async function pathOf(bytes: Buffer): Promise<string> {
  const path = join(await temporaryFolder(), 'a.parquet');
  await writeFile(path, bytes);
  return path;
}

describe('a file with', () => {
  it.each(OTHER_WRITERS)('%s is read, and written with the same values', async (_, bytes, expected) => {
    const { shape, raws, cells, columns } = await readTable(await pathOf(bytes));
    expect(cells.map((row) => row.slice(1))).toEqual(expected);
    const written = await readTable(await writeTable(raws, { input: shape, allColumns: columns }));
    expect(written.cells.map((row) => row.slice(0, columns.length))).toEqual(cells);
    expect(written.columns.slice(0, columns.length)).toEqual(columns);
  });

  it.each(BROKEN)('%s is refused', async (_, bytes) => {
    await expect(readTable(await pathOf(bytes))).rejects.toMatchObject({ code: 'input-binary' });
  });
});

it('lists and groups come back as JSON text, with a warning', async () => {
  for (const [name, bytes, expected] of OTHER_WRITERS.filter(([name]) =>
    /^(lists of lists|maps|a group of)/.test(name),
  )) {
    const { shape, raws, columns, warnings } = await readTable(await pathOf(bytes));
    expect(warnings.join(), name).toContain('lists and groups as JSON text');
    const { rows, schema } = await objectsOf(await writeTable(raws, { input: shape, allColumns: columns }));
    expect(rows.map((row) => row[columns[1] ?? ''] ?? '')).toEqual(expected.map(([cell]) => cell));
    expect(schema[2]).toMatchObject({ type: 'BYTE_ARRAY', converted_type: 'UTF8' });
  }
});

it('-0 keeps its sign, beside 0 and in a list, and is shown with it', async () => {
  const data = Array.from({ length: 100 }, (_, at) => (at % 2 === 0 ? -0 : 0));
  const columnData = [
    { name: 'website', data: data.map((_, at) => `a${at}.com`) },
    { name: 'x', data, type: 'DOUBLE' as const, encoding: 'PLAIN' as const },
    { name: 'list', data: data.map((each) => [each]), encoding: 'PLAIN' as const },
  ];
  const path = await pathOf(Buffer.from(parquetWriteBuffer({ columnData })));
  const { shape, raws, cells, columns } = await readTable(path);
  expect(cells.slice(0, 2).map((row) => row[1])).toEqual(['-0', '0']);
  const { rows } = await objectsOf(await writeTable(raws, { input: shape, allColumns: columns }));
  expect(rows.map(({ x }) => x)).toEqual(data);
  const { raws: again } = await readTable(await writeTable(raws, { input: shape, allColumns: columns }));
  expect(again.map((raw) => JSON.parse(raw)[2])).toEqual(raws.map((raw) => JSON.parse(raw)[2]));
});

it('a warning names times that lose digits in microseconds beside those of the year 9999', async () => {
  const times = [int96(2_932_896, 0n), int96(0, 123_456_789n)];
  const columns = [
    { pages: [page1(2, texts('a.com', 'b.com'))] },
    { pages: [page1(2, Buffer.concat(times))] },
  ];
  const bytes = parquetFile([SITE, leaf('t', { type: 'INT96' })], [{ rows: 2, columns }]);
  const path = await pathOf(bytes);
  const { warnings, shape, raws, columns: names } = await readTable(path);
  expect(warnings.join()).toContain('in microseconds for a column');
  const { cells } = await readTable(await writeTable(raws, { input: shape, allColumns: names }));
  expect(cells.map((row) => row[1])).toEqual(['9999-12-31T00:00:00', '1970-01-01T00:00:00.123456']);
});
