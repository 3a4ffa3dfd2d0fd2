import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { readXlsx, writeXlsx } from 'hucre/xlsx';
import { describe, expect, it } from 'vitest';
import type { TypedCell } from '../../../src/core/typed-cell.js';
import { openInput } from '../../../src/input/open-input.js';
import { assertFitsSheet, createXlsxFile, type SheetPlan } from '../../../src/input/xlsx/xlsx-file.js';
import { countRecords } from '../../../src/run/output/count-records.js';
import { createOutput } from '../../../src/run/output/output-file.js';
import type { OutputPlan } from '../../../src/run/output/output-plan.js';
import { createRenderer } from '../../../src/run/output/render.js';
import { CSV_SHAPE, INVALID, JSON_SHAPE, MATCHED, planFor } from '../../run/output/plans.js';
import { anyText } from '../../support/properties.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { READING, readHere } from '../reading.js';

const codes = ['General', 'dd.mm.yyyy', '@', '0.0 "%"', 'mm-dd-yy'];

const PLAIN_SHEET = {
  formats: { codes, is1904: false },
  isFromSheet: false,
  sheetName: 'S',
  hasHeader: true,
};

async function writeBook(
  records: readonly string[],
  { hasHeader = true, is1904 = false, sheetName = 'Sheet', isFromSheet = true } = {},
): Promise<string> {
  return writeSheet(records, { formats: { codes, is1904 }, isFromSheet, sheetName, hasHeader });
}

async function writeSheet(records: readonly string[], plan: SheetPlan): Promise<string> {
  const bytes: Buffer[] = [];
  const book = createXlsxFile(async (piece) => void bytes.push(piece), plan);
  for (const record of records) await book.write(record);
  await book.finish();
  const path = join(await temporaryFolder(), 'book.xlsx');
  await writeFile(path, Buffer.concat(bytes));
  return path;
}

async function readBook(path: string, hasHeader = true) {
  const means = { spoolFolder: '/nowhere', readBinary: readHere };
  const input = await openInput(path, { ...READING, header: hasHeader }, means);
  const rows: TypedCell[][] = [];
  const texts: string[][] = [];
  for await (const batch of input.rows()) {
    rows.push(...batch.map(({ raw }) => JSON.parse(raw)));
    texts.push(...batch.map(({ cells }) => [...cells]));
  }
  await input.close();
  return { input, rows, texts };
}

async function valuesOf(path: string) {
  const { sheets } = await readXlsx(await readFile(path));
  return sheets[0]?.rows ?? [];
}

const text = anyText({ minLength: 1, maxLength: 20 });
const cell: fc.Arbitrary<TypedCell> = fc.oneof(
  fc.constant(null),
  text,
  fc.constantFrom('007', '=1+1', '_x0041_', ' a ', 'a\r\nb', '<&>"', '\u0000\u0008\ud800', '-1', '1e5'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number || 0),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.record({
    n: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e5 }),
    f: fc.constantFrom(1, 3, 4),
  }),
  fc.record({ n: fc.constantFrom('12345678901234567890', '-0.12345678901234567890123') }),
  fc.record({ s: text, f: fc.constant(2) }),
  fc.record({ e: fc.constantFrom('#N/A', '#DIV/0!', '#REF!') }),
);

it('every cell comes back unchanged, with its type and position', async () => {
  // Few books of many rows: each is read by processes of its own.
  const rows = fc.array(fc.array(cell, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(rows, fc.boolean(), async (cells, is1904) => {
      // The first cell keeps the row from being blank.
      const all = cells.map((row) => ['x y', ...row, 'end']);
      const path = await writeBook(
        all.map((it) => `${JSON.stringify(it)}\n`),
        { hasHeader: false, is1904 },
      );
      const { rows: read, input } = await readBook(path, false);
      expect(read).toEqual(JSON.parse(JSON.stringify(all.map((row) => row.map(plain)))));
      expect(input.shape.typed?.is1904).toBe(is1904);
      const values = await valuesOf(path);
      expect(values).toHaveLength(all.length);
    }),
    { numRuns: 6 },
  );
});

/**
 * `{n: 1}` without a format is 1; a number format by position is the same only where it is used.
 */
function plain(cell: TypedCell): TypedCell {
  return typeof cell === 'object' && cell !== null && 'n' in cell && typeof cell.n === 'number' && !cell.f
    ? cell.n
    : cell;
}

const ROW = ['é', 1.5, true, null, { u: 'https://a.example/?a=1&b="2"' }, { t: '2024-01-15T10:30:00.000Z' }];

it('other software reads values, links, dates and names; the header is frozen and filtered', async () => {
  const path = await writeBook([JSON.stringify(['a', 'b', 'c', 'd', 'e', 'f']), JSON.stringify(ROW)], {
    sheetName: "Q1: [best]'",
  });
  const { sheets } = await readXlsx(await readFile(path));
  const [sheet] = sheets;
  expect(sheet?.name).toBe('Q1   best');
  const shown = ['https://a.example/?a=1&b="2"', new Date('2024-01-15T10:30:00Z')];
  expect(sheet?.rows[1]).toEqual([...ROW.slice(0, 4), ...shown]);
  expect(sheet?.freezePane).toMatchObject({ rows: 1 });
  expect(sheet?.autoFilter?.range).toBe('A1:F2');
  const formats = { gzip: false, format: 'xlsx', delimiter: '', lineEnd: '\n' } as const;
  expect(await countRecords(path, { ...formats, hasHeader: true })).toBe(1);
});

it('characters that XML allows are written as they are: U+007F to U+009F', async () => {
  const text = `a\u007f\u0080\u0085\u009fb`;
  const path = await writeBook([JSON.stringify([text])], { hasHeader: false });
  expect(await valuesOf(path)).toEqual([[text]]);
  expect((await readBook(path, false)).texts).toEqual([[text]]);
});

it('a link too long for a formula is text, a text too long for a cell is cut', async () => {
  const url = `https://a.example/${'x'.repeat(300)}`;
  const path = await writeBook([JSON.stringify([{ u: url }, 'y'.repeat(40_000)])], { hasHeader: false });
  const [[link, long] = []] = await valuesOf(path);
  expect(link).toBe(url);
  expect(String(long)).toHaveLength(32_767);
});

it.each([
  [false, ['4611686018427387905', '9007199254740991', '-1234567890123456', 123456789012345, 0.1 + 0.2]],
  [true, [4611686018427387905n, 9007199254740991, -1234567890123456, 123456789012345, 0.1 + 0.2]],
])('integers that Excel would cut become text, unless in a sheet: %s', async (isFromSheet, kept) => {
  const record =
    '[{"n":"4611686018427387905"},9007199254740991,-1234567890123456,123456789012345,0.30000000000000004]';
  const path = await writeBook(['["a","b","c","d","e"]', record], { isFromSheet });
  const { rows } = await readBook(path);
  const shown = (value: unknown) =>
    typeof value === 'object' && value !== null && 'n' in value ? BigInt(String(value.n)) : value;
  expect(rows.map((row) => row.map(shown))).toEqual([kept]);
});

it('leaves nothing if it is discarded before or after rows', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'book.xlsx');
  const output = await createOutput(path, { gzip: false, bom: false, stdout: null });
  const book = createXlsxFile(output.write, PLAIN_SHEET);
  for (let at = 0; at < 1_000; at += 1) await book.write(JSON.stringify([at, 'x'.repeat(500)]));
  await book.discard();
  await output.discard();
  await expect(readFile(path)).rejects.toThrow('ENOENT');
});

it.runIf(existsSync('/dev/full'))('a full disk ends the writing with its reason', async () => {
  const output = await createOutput('/dev/full', { gzip: false, bom: false, stdout: null });
  const book = createXlsxFile(output.write, PLAIN_SHEET);
  const writing = async () => {
    for (let at = 0; at < 20_000; at += 1) await book.write(JSON.stringify([randomUUID(), randomUUID()]));
    await book.finish();
  };
  await expect(writing()).rejects.toMatchObject({ code: 'output-unwritable' });
  await book.discard();
  await output.discard();
});

it('rows and cells that a sheet cannot hold are refused before anything is spent', () => {
  const fit =
    (rows: number, columns: number, longCell: Parameters<typeof assertFitsSheet>[1]['longCell']) => () =>
      assertFitsSheet('a.xlsx', { rows, columns, longCell });
  expect(fit(1_048_576, 30, null)).not.toThrow();
  expect(fit(1_048_577, 30, null)).toThrow('a sheet has at most 1,048,576 rows');
  expect(fit(2, 16_385, null)).toThrow('a sheet has at most 16,384 columns');
  expect(fit(2, 30, { line: 7, column: 'note', length: 60_000 })).toThrow(
    'a cell of a sheet has at most 32,767 characters: a.xlsx ("note" in line 7 has 60,000); choose another format',
  );
});

describe('rows of one format in another', () => {
  const typed = { codes, is1904: false, sheet: 'S' };
  const columns = ['id', 'website', 'id', ''];
  const rawHeader = '["id","website",2024]';
  const XLSX_SHAPE = { ...JSON_SHAPE, format: 'xlsx', columns, rawHeader, typed } as const;
  const raw = '[1.5,"a.com",{"n":45306,"f":1},true]';
  const fields = ['name', 'qualityScore', 'company.employees', 'logo_url', 'claimed'];

  function recordsOf(plan: Partial<OutputPlan>, row: string): string[] {
    const renderer = createRenderer(planFor({ fields, ...plan }));
    return [renderer.header() ?? '', renderer.row(row, renderer.answer(MATCHED), null)];
  }

  it.each([
    ['-0.012345678901234', -0.012345678901234],
    ['-100', -100],
    ['1.5e300', 1.5e300],
    ['12345678901234567', '12345678901234567'],
  ])('the JSON number %s becomes a number unless a double loses digits', (json, cell) => {
    const [, row = ''] = recordsOf({ input: JSON_SHAPE, format: 'xlsx' }, `{"id":${json}}`);
    expect(JSON.parse(row)[0]).toBe(cell);
  });

  it('a workbook in, a workbook out: cells unchanged, our columns typed', () => {
    const [header, row] = recordsOf({ input: XLSX_SHAPE }, raw);
    expect(JSON.parse(header ?? '').slice(0, 5)).toEqual(['id', 'website', 2024, null, 'brand_status']);
    expect(JSON.parse(row ?? '')).toEqual([
      ...[1.5, 'a.com', { n: 45_306, f: 1 }, true],
      ...['matched', 'acme.example', 'Acme, Inc.', 0.9, 1001],
      ...[{ u: 'https://assets.example/logo-dark.svg' }, true, { t: '2026-10-03T04:05:06.789Z' }, null],
    ]);
  });

  it('a workbook becomes CSV and JSON lines', () => {
    const [header, csv] = recordsOf({ input: XLSX_SHAPE, format: 'csv' }, raw);
    expect(header).toMatch(/^id,website,2024,,brand_status,/);
    expect(csv).toMatch(/^1.5,a.com,2024-01-15,TRUE,matched,acme.example,"Acme, Inc.",0.9,1001,/);
    const [none, json] = recordsOf({ input: XLSX_SHAPE, format: 'jsonl' }, raw);
    expect(none).toBe('');
    expect(json).toMatch(/^\{"id":1.5,"website":"a.com","id_2":"2024-01-15","column_4":true,"brand":\{/);
  });

  it('CSV and JSON lines become a workbook: text stays text, JSON keeps its types', () => {
    const csv = recordsOf({ input: CSV_SHAPE, format: 'xlsx' }, '007,"a ""b"""');
    expect(JSON.parse(csv[1] ?? '').slice(0, 3)).toEqual(['007', 'a "b"', 'matched']);
    const allColumns = ['n', 'big', 'flag', 'list', 'none', 'text'];
    const line = '{"n":1.10,"big":12345678901234567890,"flag":true,"list":[1,2],"none":null,"text":"x"}';
    const [header, json] = recordsOf({ input: JSON_SHAPE, format: 'xlsx', allColumns }, line);
    expect(JSON.parse(header ?? '').slice(0, 7)).toEqual([...allColumns, 'brand_status']);
    const cells = [1.1, '12345678901234567890', true, '[1,2]', null, 'x'];
    expect(JSON.parse(json ?? '').slice(0, 6)).toEqual(cells);
  });

  it('an enriched workbook is valid input: our columns are replaced', () => {
    const allColumns = ['id', 'brand_status', 'brand_raw'];
    const input = { ...XLSX_SHAPE, columns: allColumns, rawHeader: JSON.stringify(allColumns) };
    const plan = { input, allColumns, replacedColumns: [1, 2], fields: [] };
    const [header, row] = recordsOf(plan, '[7,"matched","old text"]');
    const ours = ['status', 'identifier', 'fetched_at', 'error', 'raw'].map((name) => `brand_${name}`);
    expect(JSON.parse(header ?? '')).toEqual(['id', ...ours]);
    const cells = [7, 'matched', 'acme.example', expect.anything(), null, 'old text'];
    expect(JSON.parse(row ?? '')).toEqual(cells);
  });

  it('an unreadable row keeps its text', () => {
    const plan = planFor({ input: CSV_SHAPE, format: 'xlsx', hasUnreadable: true, fields: [] });
    const unreadable = createRenderer(plan).unreadable('4,"x', INVALID.error ?? '');
    const cells = [null, null, 'invalid', null, null, INVALID.error, '4,"x'];
    expect(JSON.parse(unreadable)).toEqual(cells);
  });
});

it('a workbook written by other software keeps value and type through a second one', async () => {
  const rows = [
    ['id', 'site', 'since', 'ok'],
    [0.1 + 0.2, 'a.com', new Date(Date.UTC(1999, 11, 31, 23, 59, 59)), false],
  ];
  const path = join(await temporaryFolder(), 'a.xlsx');
  await writeFile(path, (await writeXlsx({ sheets: [{ name: 'S', rows }] })) as Uint8Array);
  const { input, rows: read } = await readBook(path);
  const records = [input.shape.rawHeader ?? '', ...read.map((row) => JSON.stringify(row))];
  const formats = input.shape.typed ?? { codes: [], is1904: false };
  const again = await writeSheet(records, { formats, isFromSheet: true, sheetName: 'S', hasHeader: true });
  expect(await valuesOf(again)).toEqual(rows);
});
