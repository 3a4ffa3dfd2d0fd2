/** Cells in their usual form are read past the parser, and come out as it reads any other form. */
import { closeSync, openSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row } from '../../../src/core/table.js';
import { createPlainCells } from '../../../src/input/xlsx/plain-cells.js';
import { RowBytes } from '../../../src/input/xlsx/row-bytes.js';
import { openXlsxTable } from '../../../src/input/xlsx/xlsx-table.js';
import { ZipArchive } from '../../../src/input/zip-archive.js';
import { CASES, casesOf } from '../../support/properties.js';
import { workbookOf } from '../../support/workbooks.js';
import { folderOfFile } from '../reading.js';

const folder = folderOfFile();

const STYLES =
  '<styleSheet><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="49"/><xf numFmtId="2"/></cellXfs></styleSheet>';

const numbers = fc.oneof(
  fc.integer().map(String),
  fc.double().map(String),
  fc.nat(60_000).map((day) => String(day / 8)),
  fc.constantFrom('', '0', '-0', '007', '1.10', '0.000001', '0.0000001', '1E5', ' 7 ', '.5', '1.', '-', 'x'),
  fc.constantFrom('123456789012345', '1234567890123456', '12345678901234567890', '0.12345678901234567'),
  fc.constantFrom('123456.12345678', '-123456.1234567', '-0.5', '12.0000001', '1&#49;', '<![CDATA[1]]>'),
);
const texts = fc
  .array(fc.constantFrom(...'a"\\_ é𝒳ﬁ\n\t\'<', '_x000D_', '_xD83D_', 'www.'), { maxLength: 5 })
  .map((parts) => parts.join('').replaceAll('<', '&lt;'));
const shared = fc.oneof(
  fc.nat(9).map(String),
  fc.constantFrom('', '007', 'x', '1.5', '4294967296', '10000000001'),
);
const value = (type: string, of: fc.Arbitrary<string>) =>
  of.map((each) => ({ type, content: `<v>${each}</v>` }));
const inline = fc
  .tuple(fc.constantFrom('', ' xml:space="preserve"'), texts)
  .map(([keeping, text]) => ({ type: ' t="inlineStr"', content: `<is><t${keeping}>${text}</t></is>` }));
const cells = fc.record({
  column: fc.option(fc.nat(30), { freq: 2 }),
  style: fc.constantFrom('', ' s="0"', ' s="1"', ' s="2"', ' s="3"', ' s="9"'),
  content: fc.oneof(
    value('', numbers),
    value(' t="n"', numbers),
    value(' t="s"', shared),
    value(' t="b"', fc.constantFrom('0', '1', 'true', '')),
    value(' t="str"', texts),
    value(' t="e"', fc.constant('#N/A')),
    inline,
    fc.constant({ type: '', content: '' }),
  ),
});

/** `more`: an attribute that sends a cell to the parser. */
function rowOf(row: readonly (typeof cells extends fc.Arbitrary<infer T> ? T : never)[], more: string) {
  const each = row.map(({ column, style, content: { type, content } }) => {
    const letter = String.fromCharCode(65 + ((column ?? 0) % 26));
    const name = (column ?? 0) > 25 ? `A${letter}` : letter;
    return `<c${column === null ? '' : ` r="${name}7"`}${style}${type}${more}>${content}</c>`;
  });
  return `<row>${each.join('')}</row>`;
}

async function readRows(rows: string, strings: readonly string[], wanted: readonly number[] | null) {
  const parts = {
    'xl/styles.xml': STYLES,
    'xl/sharedStrings.xml': `<sst>${strings.map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
  };
  const descriptor = openSync(await folder.write('book.xlsx', await workbookOf(rows, parts)), 'r');
  try {
    const opening = { header: false, skipLines: 0, sheet: null };
    const table = await openXlsxTable(await ZipArchive.of('book.xlsx', descriptor), opening);
    const read: Row[] = [];
    for await (const batch of table.openRows(null, wanted).batches) read.push(...batch);
    return read;
  } catch (error) {
    return String(error);
  } finally {
    closeSync(descriptor);
  }
}

describe('cells in their usual form', () => {
  it('are read as the parser reads them', CASES, async () => {
    const table = fc.array(fc.array(cells, { maxLength: 6 }), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(table, fc.array(texts, { maxLength: 10 }), async (rows, strings) => {
        const read = (more: string, escaped: readonly string[]) =>
          readRows(rows.map((row) => rowOf(row, more)).join(''), escaped, null);
        const runs = strings.map((text) => `${text}<!---->`);
        expect(await read('', strings)).toEqual(await read(' cm="1"', runs));
      }),
      { numRuns: casesOf(60) },
    );
  });

  it('of a whole row are taken at once', () => {
    const formats = { codes: ['General', 'yyyy'], is1904: false };
    const row = new RowBytes(formats);
    const book = { sheets: [], formats, formatOfStyle: [0, 1], sharedStrings: null };
    const take = createPlainCells(row, book, null, () => null);
    row.begin(1);
    const usual =
      '<c r="A1"><v>7</v></c><c r="B1" s="1"><v>45306</v></c><c r="C1" t="inlineStr"><is><t>a "b"</t></is></c><c r="D1" t="b"><v>1</v></c><c r="F1" t="str"><v>é</v></c>';
    const xml = Buffer.from(`${usual}<c r="G1"><f>A1</f><v>7</v></c>`);
    expect(take(xml, 0, xml.length)).toBe(Buffer.byteLength(usual));
    expect(JSON.parse(row.raw())).toEqual([7, { n: 45_306, f: 1 }, 'a "b"', true, null, 'é']);
    expect(take(xml, 0, 10)).toBe(0);
  });
});

it('only the wanted columns have texts, and every row is whole', async () => {
  const text = (each: string) => `<c t="inlineStr"><is><t>${each}</t></is></c>`;
  const rows = [
    ['a.com', 'Rome', 'x'],
    ['b.com', 'Paris', 'y'],
  ].map((row) => `<row>${row.map(text).join('')}</row>`);
  expect(await readRows(rows.join(''), [], [1, 7])).toMatchObject([
    { cells: ['', 'Rome', ''], raw: '["a.com","Rome","x"]' },
    { cells: ['', 'Paris', ''], raw: '["b.com","Paris","y"]' },
  ]);
});
