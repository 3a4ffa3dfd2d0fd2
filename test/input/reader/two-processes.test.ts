import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { expect, it } from 'vitest';
import type { RowReason } from '../../../src/core/row-reason.js';
import type { Row } from '../../../src/core/table.js';
import type { BinaryTable } from '../../../src/input/binary-table.js';
import { openInput } from '../../../src/input/open-input.js';
import { openParquetTable } from '../../../src/input/parquet/parquet-table.js';
import { readInProcess } from '../../../src/input/reader/reading-process.js';
import { rowOf, sentRow } from '../../../src/input/reader/replies.js';
import { openXlsxTable } from '../../../src/input/xlsx/xlsx-table.js';
import { ZipArchive } from '../../../src/input/zip-archive.js';
import { workbookOf } from '../../support/workbooks.js';
import { folderOfFile, intakeOptions } from '../reading.js';

const LONG = { tags: ['long'] };

const folder = folderOfFile();

interface Read {
  readonly rows: readonly Row[];
  readonly width: number;
  readonly shape: unknown;
  readonly warnings: readonly unknown[];
  readonly error: string | null;
}
const failedWith = (error: unknown): Read => ({
  rows: [],
  width: 0,
  shape: null,
  warnings: [],
  error: error instanceof Error ? error.message : String(error),
});

async function readThere(path: string): Promise<Read> {
  try {
    const input = await openInput(path, ...intakeOptions(folder, { readBinary: readInProcess }));
    try {
      const rows: Row[] = [];
      for await (const batch of input.rows()) rows.push(...batch);
      const { shape, warnings } = input;
      return { rows, width: input.content().columns.length, shape, warnings: [...warnings], error: null };
    } finally {
      await input.close();
    }
  } catch (error) {
    return failedWith(error);
  }
}

async function readHere(path: string): Promise<Read> {
  const descriptor = openSync(path, 'r');
  try {
    const isParquet = readFileSync(path).toString('latin1', 0, 4) === 'PAR1';
    const opening = { header: true, skipLines: 0, sheet: null };
    const table: BinaryTable = isParquet
      ? await openParquetTable({ name: path, descriptor, size: statSync(path).size })
      : await openXlsxTable(await ZipArchive.of(path, descriptor), opening);
    const { batches, width, notes } = table.openRows(null);
    const rows: Row[] = [];
    for await (const batch of batches) rows.push(...batch);
    const warnings = [...table.warnings, ...notes()];
    return { rows, width: width(), shape: table.shape, warnings, error: null };
  } catch (error) {
    return failedWith(error);
  } finally {
    closeSync(descriptor);
  }
}

async function expectSame(name: string, content: Buffer): Promise<Read> {
  const path = await folder.write(name, content);
  const [there, here] = [await readThere(path), await readHere(path)];
  // As JSON: properties that are absent here are no difference.
  expect(JSON.parse(JSON.stringify(there))).toEqual(JSON.parse(JSON.stringify(here)));
  return there;
}

it('replies have rows as they were sent, and the wanted cells', () => {
  /** Of any code units, halves of pairs among them. */
  const text = fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd83d, 0xde00, 0x61)), {
      maxLength: 6,
    })
    .map((units) => String.fromCharCode(...units));
  const row = fc.record({
    number: fc.nat(),
    line: fc.nat(),
    raw: text,
    cells: fc.array(fc.oneof(text, fc.constant('')), { maxLength: 5 }),
    problem: fc.option(text.map((each): RowReason => ({ code: 'unread_earlier', text: each }))),
  });
  const sentTo = (each: Row, wanted: readonly number[] | null) =>
    rowOf(JSON.parse(JSON.stringify(sentRow(each, wanted))), each.number, wanted);
  fc.assert(
    fc.property(row, (each) => {
      expect(sentTo(each, null)).toEqual(each);
      const cells = each.cells.map((cell, at) => (at === 1 ? cell : ''));
      expect(sentTo(each, [1])).toEqual({ ...each, cells });
    }),
  );
});

it('a workbook of more rows than one batch holds, some over the bounds', LONG, async () => {
  const long = `<c t="inlineStr"><is><t>${'z'.repeat(30_000)}</t></is></c>`;
  const small = (at: number) =>
    `<row><c t="inlineStr"><is><t>c${at}.com</t></is></c><c><v>${at}</v></c></row>`;
  const rows = Array.from({ length: 9_000 }, (_, at) =>
    at % 1_500 === 7 ? `<row>${long.repeat(40)}</row>` : small(at),
  );
  const header =
    '<row><c t="inlineStr"><is><t>website</t></is></c><c t="inlineStr"><is><t>n</t></is></c></row>';
  const read = await expectSame('long.xlsx', await workbookOf(header + rows.join('')));
  expect(read.rows).toHaveLength(9_000);
  expect(read.rows.filter(({ problem }) => problem !== null)).toHaveLength(6);
});

type ColumnData = Parameters<typeof parquetWriteBuffer>[0]['columnData'];

function columnsOf(count: number): ColumnData {
  const of = <T>(make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));
  const sparse = <T>(make: (at: number) => T) => of((at) => (at % 3 === 1 ? null : make(at)));
  return [
    { name: 'website', data: of((at) => `c${at % 50}.com`) },
    { name: 'text', data: sparse((at) => `${'é'.repeat(at % 20)}\u0000\n"${at}🚀`) },
    { name: 'plain', data: of((at) => `only ${at}`), encoding: 'PLAIN' },
    { name: 'flag', data: sparse((at) => at % 2 === 0), type: 'BOOLEAN' },
    { name: 'small', data: sparse((at) => at - 100), type: 'INT32' },
    { name: 'large', data: sparse((at) => 9_007_199_254_740_993n + BigInt(at)), type: 'INT64' },
    { name: 'float', data: sparse((at) => at / 3), type: 'FLOAT' },
    { name: 'double', data: of((at) => (at % 7 === 0 ? Number.NaN : at / 3)), type: 'DOUBLE' },
    { name: 'when', data: sparse((at) => new Date(86_400_123 * at)), type: 'TIMESTAMP' },
    { name: 'bytes', data: sparse((at) => Uint8Array.of(at % 256, 255, 0)), type: 'BYTE_ARRAY' },
    { name: 'json', data: sparse((at) => ({ a: at, b: [1, null, 'x'] })), type: 'JSON' },
    {
      name: 'uuid',
      data: sparse((at) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`),
      type: 'UUID',
    },
  ];
}

const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)) };
it.each(['SNAPPY', 'GZIP', 'UNCOMPRESSED'] as const)('Parquet of all types: %s', LONG, async (codec) => {
  const columnData = columnsOf(5_000);
  const options = { codec, compressors, rowGroupSize: 777, pageSize: 5_000 };
  const bytes = parquetWriteBuffer({ columnData, ...options });
  const { rows, error } = await expectSame(`${codec}.parquet`, Buffer.from(bytes));
  expect(error).toBeNull();
  expect(rows).toHaveLength(5_000);
});
