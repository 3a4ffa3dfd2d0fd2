/** The process that reads a file hands over what reading it here gives, to the character. */
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Row } from '../../../src/core/table.js';
import type { BinaryTable } from '../../../src/formats/binary-table.js';
import { openInput } from '../../../src/formats/open-input.js';
import { openParquetTable } from '../../../src/formats/parquet/parquet-table.js';
import { openXlsxTable } from '../../../src/formats/xlsx/xlsx-table.js';
import { ZipArchive } from '../../../src/formats/zip-archive.js';
import { workbookOf } from '../../support/workbooks.js';
import { createFolder, type Folder, intakeOptions } from '../reading.js';

const LONG = { tags: ['long'] };

let folder: Folder;
beforeAll(async () => {
  folder = await createFolder();
});
afterAll(() => folder.remove());

interface Read {
  readonly rows: readonly Row[];
  readonly width: number;
  readonly shape: unknown;
  readonly warnings: readonly string[];
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
    const input = await openInput(path, null, intakeOptions(folder));
    try {
      const rows: Row[] = [];
      for await (const batch of input.rows()) rows.push(...batch);
      const { shape, warnings } = input;
      return { rows, width: input.columns().length, shape, warnings: [...warnings], error: null };
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
    const opening = { hasHeader: true, skipLines: 0, sheet: null };
    const table: BinaryTable = isParquet
      ? await openParquetTable({ name: path, descriptor, size: statSync(path).size })
      : await openXlsxTable(await ZipArchive.of(path, descriptor), opening);
    const { batches, width, notes } = table.openRows(null);
    const rows: Row[] = [];
    for await (const batch of batches) rows.push(...batch);
    const warnings = [`detected: ${table.detected}`, ...table.warnings, ...notes()];
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

/** Numbers from 0 to below `below`, the same for a seed (mulberry32). */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const TEXTS = [
  'acme.com',
  '  padded ',
  '',
  'a&amp;b &lt;c&gt;',
  'line&#10;break',
  'tab\tquote"',
  'Köln 東京 🚀',
  '_x0041__x000A_',
  '_xD83D_',
  '&#x1F600;',
  '007',
  '=SUM(A1)',
  'x'.repeat(32_767),
  'y'.repeat(32_768),
];
const SHARED = `<sst>${TEXTS.map((text) => `<si><t xml:space="preserve">${text}</t></si>`).join('')}<si><r><t>rich </t></r><r><rPr><b/></rPr><t>text</t></r><rPh sb="0" eb="1"><t>read aloud</t></rPh></si></sst>`;
const FORMATS = [0, 1, 9, 14, 22, 46, 49, 164, 165, 166];
const STYLES = `<styleSheet><numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd hh:mm"/><numFmt numFmtId="165" formatCode="[h]:mm:ss"/><numFmt numFmtId="166" formatCode="&quot;day&quot; 0.00"/></numFmts><cellXfs>${FORMATS.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`;
const NUMBERS = [
  '0',
  '-0',
  '1',
  '59',
  '60',
  '61',
  '45306.4375',
  '2958465',
  '-1',
  '1e300',
  '0.1',
  '1.7976931348623157E+308',
  '12345678901234567890',
  'NaN',
  '',
];

function randomBook(seed: number): Promise<Buffer> {
  const random = randomOf(seed);
  const of = <T>(list: readonly T[]): T => list[random(list.length)] as T;
  const column = (at: number) => (at < 26 ? '' : 'A') + String.fromCharCode(65 + (at % 26));
  const value = (style: string): string => {
    switch (random(9)) {
      case 0:
        return ` t="s"><v>${random(TEXTS.length + 1)}</v>`;
      case 1:
        return ` t="inlineStr"><is><t>${of(TEXTS)}</t></is>`;
      case 2:
        return ` t="inlineStr"><is><r><t>${of(TEXTS)}</t></r><r><t>${of(TEXTS)}</t></r></is>`;
      case 3:
        return ` t="b"><v>${of(['0', '1', 'true'])}</v>`;
      case 4:
        return ` t="e"><v>${of(['#N/A', '#DIV/0!', '#REF!'])}</v>`;
      case 5:
        return ` t="str"><f>A1&amp;B1</f><v>${of(TEXTS)}</v>`;
      case 6:
        return ` t="d"><v>2024-0${1 + random(9)}-15T10:30:00</v>`;
      default:
        return `${style}>${random(3) === 0 ? '<f>1+1</f>' : ''}<v>${of(NUMBERS)}</v>`;
    }
  };
  const rows: string[] = [];
  let number = 1;
  for (let at = 0; at < 60; at += 1) {
    number += random(8) === 0 ? 1 + random(5) : 1;
    const cells: string[] = [];
    for (let place = 0; place < 30; place += 1 + random(6)) {
      const hasPlace = random(10) > 0;
      const style = random(2) === 0 ? ` s="${random(FORMATS.length + 1)}"` : '';
      cells.push(`<c${hasPlace ? ` r="${column(place)}${number}"` : ''}${value(style)}</c>`);
    }
    rows.push(
      `<row${random(5) > 0 ? ` r="${number}"` : ''}${random(9) === 0 ? ' hidden="1"' : ''}>${cells.join('')}</row>`,
    );
  }
  const header = `<row r="1">${Array.from({ length: 30 }, (_, at) => `<c r="${column(at)}1" t="inlineStr"><is><t>column ${at}</t></is></c>`).join('')}</row>`;
  return workbookOf(
    header + rows.join(''),
    { 'xl/sharedStrings.xml': SHARED, 'xl/styles.xml': STYLES },
    random(2) === 0 ? '<workbookPr date1904="1"/>' : '',
  );
}

describe('a workbook', LONG, () => {
  it.each(Array.from({ length: 25 }, (_, at) => at + 1))('of odd cells, number %i', async (seed) => {
    const { rows, error } = await expectSame(`${seed}.xlsx`, await randomBook(seed));
    expect(error).toBeNull();
    expect(rows.length).toBeGreaterThan(20);
  });

  it('of more rows than one batch holds, some of them over the bounds', async () => {
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

describe('a Parquet file', LONG, () => {
  const compressors = { GZIP: (bytes: Uint8Array) => new Uint8Array(gzipSync(bytes)) };
  it.each(
    (['SNAPPY', 'GZIP', 'UNCOMPRESSED'] as const).flatMap((codec) => [
      { codec, count: 1, rowGroupSize: 10 },
      { codec, count: 5_000, rowGroupSize: 777 },
      { codec, count: 9_000, rowGroupSize: 100_000 },
    ]),
  )('of all types: $codec, $count rows, groups of $rowGroupSize', async ({ codec, count, rowGroupSize }) => {
    const bytes = parquetWriteBuffer({
      columnData: columnsOf(count),
      codec,
      compressors,
      rowGroupSize,
      pageSize: 5_000,
    });
    const { rows, error } = await expectSame(`${codec}-${count}.parquet`, Buffer.from(bytes));
    expect(error).toBeNull();
    expect(rows).toHaveLength(count);
  });

  it('of nested lists', async () => {
    const optional = { repetition_type: 'OPTIONAL' } as const;
    const schema = [
      { name: 'root', num_children: 2 },
      { name: 'website', type: 'BYTE_ARRAY', converted_type: 'UTF8', ...optional },
      { name: 'tags', converted_type: 'LIST', num_children: 1, ...optional },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', converted_type: 'LIST', num_children: 1, ...optional },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'INT32', ...optional },
    ] as const;
    const columnData = [
      { name: 'website', data: ['a.com', null, 'c.com', 'd.com'] },
      { name: 'tags', data: [[[1, 2], []], null, [], [null, [3, null]]] },
    ];
    const bytes = parquetWriteBuffer({ columnData, schema: [...schema] });
    const { rows, error } = await expectSame('lists.parquet', Buffer.from(bytes));
    expect(error).toBeNull();
    expect(rows).toHaveLength(4);
  });
});
