import { writeXlsx } from 'hucre/xlsx';
import { describe, expect, it } from 'vitest';
import { sayPhrase } from '../../../src/core/phrase.js';
import type { Input } from '../../../src/input/input.js';
import { openInput } from '../../../src/input/open-input.js';
import { findSheetHeader } from '../../../src/input/xlsx/xlsx-table.js';
import { workbookOf, zipOf } from '../../support/workbooks.js';
import { folderOfFile, intakeOptions, readContent } from '../reading.js';

const folder = folderOfFile();

type Cell = string | number | boolean | Date | null;
type Changes = Parameters<typeof readContent>[2];

async function bookOf(...sheets: readonly { name: string; rows: Cell[][]; hidden?: boolean }[]) {
  return Buffer.from((await writeXlsx({ sheets: [...sheets] })) as Uint8Array);
}

const readBook = (content: Buffer, changes: Changes = {}) =>
  readContent(folder, content, { name: 'book.xlsx', ...changes });

describe('a workbook of other software', () => {
  it('is read with its values and types under any file name', async () => {
    const rows = [
      ['id', 'website', 'since', 'ok', 'zip', 'share'],
      [1, 'acme.com', new Date(Date.UTC(2024, 0, 15)), true, '007', 0.1],
      [1.5, 'b.com', new Date(Date.UTC(2024, 0, 15, 10, 30)), false, null, null],
      [null, 'c.com'],
    ];
    const { input, rows: read } = await readBook(await bookOf({ name: 'Kunden', rows }), { name: 'a.csv' });
    expect(input.shape).toMatchObject({ format: 'xlsx', columns: rows[0], typed: { sheet: 'Kunden' } });
    expect(read.map(({ cells }) => cells)).toEqual([
      ['1', 'acme.com', '2024-01-15', 'TRUE', '007', '0.1'],
      ['1.5', 'b.com', '2024-01-15T10:30:00', 'FALSE'],
      ['', 'c.com'],
    ]);
    const day = { n: 45_306, f: expect.any(Number) };
    expect(JSON.parse(read[0]?.raw ?? '')).toEqual([1, 'acme.com', day, true, '007', 0.1]);
    expect(read.map(({ line }) => line)).toEqual([2, 3, 4]);
  });

  it('is read below titles and blank rows; blank rows in between are not records', async () => {
    const title = [['Customers, May'], [], ['id', 'website', 'city']];
    const data = [[1, 'a.com', 'Rome'], [], [2, 'b.com', null]];
    const { input, rows } = await readBook(await bookOf({ name: 'S', rows: [...title, ...data] }));
    expect(input.shape.columns).toEqual(['id', 'website', 'city']);
    expect(rows.map(({ line, number }) => `${line} ${number}`)).toEqual(['4 1', '6 2']);
    expect(input.warnings).toContain('the table begins in row 3: the rows above it are ignored');
    expect(input.shape.leftOut).toEqual({ linesAbove: 2, sheets: [] });
    expect(input.warnings).toContain('blank rows ignored: 1');
  });

  it.each<[string, Changes, string]>([
    ['the first visible one', {}, 'b.com'],
    ['by name', { sheet: 'Old' }, 'a.com'],
    ['by a name in other case', { sheet: ' third ' }, 'c.com'],
    ['by position', { sheet: '3' }, 'c.com'],
  ])('takes the sheet %s', async (_, changes, website) => {
    const sheet = (name: string, site: string, hidden = false) => {
      return { name, rows: [['website'], [site]], hidden };
    };
    const book = await bookOf(sheet('Old', 'a.com', true), sheet('New', 'b.com'), sheet('Third', 'c.com'));
    const { rows } = await readBook(book, changes);
    expect(rows.map(({ cells }) => cells)).toEqual([[website]]);
  });

  it('lists its sheets if no sheet has the name, or the sheet is empty', async () => {
    const book = await bookOf({ name: 'Empty', rows: [] }, { name: 'Data', rows: [['website'], ['a.com']] });
    await expect(readBook(book, { sheet: 'Nope' })).rejects.toThrow("it has 1 'Empty', 2 'Data'");
    await expect(readBook(book)).rejects.toThrow("choose another with --sheet: 1 'Empty', 2 'Data'");
  });

  it('obeys --no-header, --skip-lines and --limit', async () => {
    const data = ['a.com', 'b.com', 'c.com'].map((site, at) => [site, at + 1]);
    const book = await bookOf({ name: 'S', rows: [['x', 'y'], ...data] });
    const bare = await readBook(book, { header: false, skipLines: 1, limit: 2 });
    expect(bare.input.shape).toMatchObject({ columns: ['column_1', 'column_2'], rawHeader: null });
    expect(bare.rows.map(({ cells }) => cells.join())).toEqual(['a.com,1', 'b.com,2']);
    const whole = await readBook(book);
    expect(whole.input.content().contentHash).toBe(bare.input.content().contentHash);
  });

  it('names the flags that do not apply to it, or to other formats', async () => {
    const said = ({ warnings }: Input) => warnings.map((each) => sayPhrase(each, 'flags'));
    const book = await bookOf({ name: 'S', rows: [['website'], ['a.com']] });
    const { input } = await readBook(book, { delimiter: ';', sheet: 'S' });
    expect(said(input)).toContain('--delimiter does not apply to this format: ignored');
    const csv = await readContent(folder, 'website\na.com\n', { sheet: 'S', delimiter: ',' });
    expect(said(csv.input)).toContain('--sheet does not apply to this format: ignored');
    expect(said(csv.input).join()).not.toContain('--delimiter does not');
  });

  it('gives only the wanted columns, and every row whole', async () => {
    const rows = [
      ['website', 'city', 'x'],
      ['a.com', 'Rome', 1],
    ];
    const path = await folder.write('wanted.xlsx', await bookOf({ name: 'S', rows }));
    const input = await openInput(path, ...intakeOptions(folder));
    const row = { cells: ['', 'Rome', ''], raw: '["a.com","Rome",1]' };
    for await (const batch of input.rows([1, 7])) expect(batch).toMatchObject([row]);
    await input.close();
    expect.assertions(1);
  });

  it('reads a first row of data as such, and a bare list', async () => {
    for (const more of [['Rome'], []]) {
      const book = await bookOf({ name: 'S', rows: ['a.com', 'b.com'].map((site) => [site, ...more]) });
      expect((await readBook(book)).rows).toHaveLength(2);
    }
  });
});

describe('the XML of a workbook', () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd.mm.yyyy"/></numFmts><cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="49"/></cellXfs></styleSheet>';
  const strings =
    '<sst><si><t>website</t></si><si><r><t>a</t></r><r><t xml:space="preserve">.com </t></r><rPh><t>no</t></rPh></si><si><t>x_x000D_y</t></si></sst>';
  const rows = [
    '<row r="2"><c r="B2" t="s"><v>0</v></c><c t="inlineStr"><is><t>b</t></is></c></row>',
    '<row><c r="B3" t="s"><v>1</v></c><c r="C3" s="1"><f>B1</f><v>45306</v></c><c r="D3" t="e"><v>#DIV/0!</v></c><c t="str"><f>A1</f><v>x</v></c></row>',
    '<row r="9"><c r="B9" t="s"><v>2</v></c><c s="2"><v>1E1</v></c><c t="d"><v>2024-01-15</v></c><c s="3" t="inlineStr"><is><t>007</t></is></c><c><v>12345678901234567890</v></c></row>',
  ].join('');
  const parts = { 'xl/styles.xml': styles, 'xl/sharedStrings.xml': strings };

  it('positions with and without references, rich and shared text, formats, errors, results', async () => {
    const { input, rows: read } = await readBook(await workbookOf(rows, parts), { name: 'x.xlsx' });
    expect(input.shape.typed?.codes).toEqual(['General', 'dd.mm.yyyy', 'mm-dd-yy', '@']);
    expect(input.content().columns).toEqual(['', 'website', 'b', '', '', '']);
    expect(read.map(({ raw }) => JSON.parse(raw))).toEqual([
      [null, 'a.com ', { n: 45_306, f: 1 }, { e: '#DIV/0!' }, 'x'],
      [null, 'x\ry', { n: 10, f: 2 }, { t: '2024-01-15' }, { s: '007', f: 3 }, { n: '12345678901234567890' }],
    ]);
  });

  it('formulas without a stored result are blank, with a warning; an empty text is a result', async () => {
    const row = (a: string) => `<row><c t="str"><v>a.com</v></c><c${a}<f>A1</f><v></v></c></row>`;
    const header = '<row><c t="str"><v>website</v></c><c t="str"><v>name</v></c></row>';
    const warned = await readBook(await workbookOf(header + row(' t="str">') + row('>')));
    expect(warned.rows.map(({ cells }) => cells)).toEqual([['a.com'], ['a.com']]);
    expect(warned.input.warnings.join()).toMatch(
      /without a stored result are read as blank \(first in row 3\)/,
    );
    const solved = await readBook(await workbookOf(header + row(' t="str">')));
    expect(solved.input.warnings.join()).not.toContain('stored result');
  });

  it('a number format that is too long is ignored: interpreting it takes minutes', async () => {
    const long = styles.replace('dd.mm.yyyy', `h${'m'.repeat(400_000)}`);
    const { input, rows: read } = await readBook(await workbookOf(rows, { ...parts, 'xl/styles.xml': long }));
    expect(input.shape.typed?.codes).toEqual(['General', 'mm-dd-yy', '@']);
    expect(read[0]?.cells).toEqual(['', 'a.com ', '45306', '#DIV/0!', 'x']);
  });

  const manyAttributes = Array.from({ length: 9_000 }, (_, at) => `a${at}=""`).join(' ');
  const DOCUMENT_TYPE = '<!DOCTYPE x [<!ENTITY a "b">]><sst/>';
  it.each<[string, string, Record<string, string>, string]>([
    ['a document type', '<row/>', { 'xl/sharedStrings.xml': DOCUMENT_TYPE }, 'document type'],
    ['deep elements', '<a>'.repeat(100), {}, 'nests more than 64'],
    ['many attributes', `<row ${manyAttributes}/>`, {}, 'more than 256 attributes'],
    ['a text without end', `<row><c t="str"><v>${'x'.repeat(9e6)}`, {}, 'a text that is too long'],
    ['XML that breaks off', '<row><c', {}, 'damaged'],
    ['a text that is missing', '<row><c t="s"><v>7</v></c></row>', parts, 'text 7, which is missing'],
    ['a reference back to front', '<row><c r="1A"><v>1</v></c></row>', {}, 'a cell with the reference 1A'],
  ])('%s is refused', async (_, sheet, some, words) => {
    const reading = readBook(await workbookOf(sheet, some));
    await expect(reading).rejects.toMatchObject({ code: 'input-binary' });
    await expect(reading).rejects.toThrow(words);
  });

  it.each([
    ['row r="1048577"', 'A1', 'row 1048577 is beyond the last row'],
    ['row', 'XFE1', 'cell XFE1 is beyond the last column'],
    ['row', 'XFD1', 'beyond the first 4096 columns'],
  ])('a cell beyond the sheet or what is read is not called damage: %s, %s', async (row, cell, words) => {
    const reading = readBook(await workbookOf(`<${row}><c r="${cell}"><v>1</v></c></row>`));
    const what = 'the file is too large to be read';
    await expect(reading).rejects.toMatchObject({ code: 'input-binary', what });
    await expect(reading).rejects.toThrow(words);
  });

  it('a header that is coloured to the last column of the sheet has the columns with text', async () => {
    const header = '<row><c t="str"><v>website</v></c><c t="str"><v>n</v></c><c r="XFD1" s="1"/></row>';
    const book = await workbookOf(`${header}<row><c t="str"><v>a.com</v></c><c><v>1</v></c></row>`);
    expect((await readBook(book)).input.shape.columns).toEqual(['website', 'n']);
  });

  it('a billion cells that are only declared are refused', { tags: ['long'] }, async () => {
    const row = '<row><c><v>1</v></c><c r="DZZ1"><v>1</v></c></row>';
    const reading = readBook(await workbookOf(row.repeat(10_000)));
    await expect(reading).rejects.toThrow('too far apart');
  });

  it('a part that unpacks to a thousand times its size is refused', async () => {
    const bomb = await workbookOf('<row/>', { 'xl/sharedStrings.xml': ' '.repeat(300 * 1024) });
    // Its entry in the directory at the end (APPNOTE, 4.3.12): its name begins at byte 46.
    const entry = bomb.lastIndexOf('xl/sharedStrings.xml') - 46;
    expect(bomb.readUInt32LE(entry + 24)).toBe(300 * 1024);
    bomb.writeUInt32LE(300 * 1024 * 1024, entry + 24);
    const reading = readBook(bomb);
    await expect(reading).rejects.toThrow('would unpack to 300 MiB');
  });
});

describe('other archives and documents are refused with advice', () => {
  it('a workbook that other software has encrypted', async () => {
    const sheets = [{ name: 'S', rows: [['website'], ['a.com']] }];
    const book = (await writeXlsx({ sheets, encryption: { password: 'x', spinCount: 10 } })) as Uint8Array;
    await expect(readContent(folder, Buffer.from(book), { name: 'a.dat' })).rejects.toThrow(
      'with a password',
    );
  });

  const ole = (text: string) =>
    Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(512), Buffer.from(text, 'utf16le')]);

  it.each<[string, Buffer | Promise<Buffer>, string, string]>([
    ['a.xlsx', ole('Root Entry'), 'a workbook with a password', 'with a password'],
    ['a.dat', ole('EncryptedPackage'), 'the same by its content', 'Protect Workbook'],
    ['a.xls', ole('Workbook'), 'an old workbook', 'an old Office file (.xls, .doc); open it'],
    ['a.xlsb', zipOf({ '[Content_Types].xml': '', 'xl/workbook.bin': '' }), 'a binary one', '(.xlsb)'],
    ['a.ods', zipOf({ 'content.xml': '' }), 'an OpenDocument one', 'an OpenDocument file (.ods)'],
    ['a.numbers', zipOf({ 'Index/Document.iwa': '' }), 'Numbers', 'a Numbers document; open it'],
    ['a.docx', zipOf({ '[Content_Types].xml': '', 'word/document.xml': '' }), 'Word', 'a Word document'],
    ['a.zip', Buffer.from('PK\x03\x04\x14\0\0\0broken', 'latin1'), 'half an archive', 'damaged'],
  ])('%s: %s', async (name, content, _, words) => {
    const reading = readContent(folder, await content, { name });
    await expect(reading).rejects.toMatchObject({ code: 'input-binary' });
    await expect(reading).rejects.toThrow(words);
  });
});

describe('the header of a sheet', () => {
  /** A line of text for each row; `|` separates its cells. */
  const headerOf = (rows: readonly string[], lines = rows.map((_, index) => index + 1)) =>
    findSheetHeader(
      lines.map((line) => ({ line })),
      rows.map((row) => row.split('|')),
    );
  /** Cells up to the twentieth. */
  const wide = (row: string) => row.padEnd(row.length + 20 - row.split('|').length, '|');
  const numbered = (word: string) => Array.from({ length: 20 }, (_, at) => `${word} ${at}`).join('|');
  const account = ['History', 'Account|Currency|Balance|Equity|Margin'].map(wide);
  const fund = ['Fund Name:|A||||', 'Holdings:|May||||'];

  it.each<[string, string[], number]>([
    ['is the first row', ['a|b|c', '1|2|3'], 0],
    ['stands below a title', ['Title||', 'a|b|c', '1|2|3'], 1],
    ['stands below a title and a date', ['T||', '|May|', 'a|b|c', '1|2|3'], 2],
    ['stands below lines about a fund', [...fund, 'a|b|c|d|e|f', '1|2|3|4|5|6'], 2],
    ['stands below a small table', [...account, numbered('name'), numbered('value')], 2],
    ['may name two of many columns', ['a|b||||', 'x|y|z|1|2|3', 'x|y|z|1|2|3'], 0],
    ['may name two of a few columns', ['a|b||', 'x|y|z|w', '1|2|3|4'], 0],
    ['may lack names, and rows may be full', ['a|b||', '1|2|3|4', '1|2|3|4'], 0],
    ['is not a row of data', ['a||', 'a.com|b|c', 'b.com|d|e'], 0],
    ['may have one name of two', ['website|', 'a.com|x', 'b.com|y'], 0],
  ])('%s', (_, rows, index) => {
    expect(headerOf(rows)).toBe(index);
  });

  it('of two columns is below a title and a blank row', () => {
    expect(headerOf(['T|', 'site|city', 'a.com|x'], [1, 3, 4])).toBe(1);
  });
});
