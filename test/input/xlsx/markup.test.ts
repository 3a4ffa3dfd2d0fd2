/** What counts in the parts of a workbook: namespaces, names, encodings, kinds of cells. */
import { describe, expect, it } from 'vitest';
import { OFFICE, workbookOf, zipOf } from '../../support/workbooks.js';
import { folderOfFile, readContent } from '../reading.js';

const folder = folderOfFile();

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const STRICT = 'http://purl.oclc.org/ooxml/spreadsheetml/main';
const STRICT_OFFICE = 'http://purl.oclc.org/ooxml/officeDocument/relationships';
const X15 = 'http://schemas.microsoft.com/office/spreadsheetml/2010/11/main';
const COMPATIBILITY = 'http://schemas.openxmlformats.org/markup-compatibility/2006';

const HEADER = '<row r="1"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>';
const ROW = '<row r="2"><c t="s"><v>2</v></c><c s="1"><v>43844</v></c></row>';
const STRINGS = '<si><t>website</t></si><si><t>since</t></si><si><t>a.com</t></si>';
const STYLES =
  '<numFmts><numFmt numFmtId="164" formatCode="yyyy"/></numFmts><cellXfs><xf/><xf numFmtId="164"/></cellXfs>';

/** A workbook of 1904, with more XML at the end of each part's root. */
function bookWith(more: { workbook?: string; sheet?: string; styles?: string; strings?: string }) {
  const root = (name: string, content: string) =>
    `<${name} xmlns="${MAIN}" xmlns:r="${OFFICE}" xmlns:y="${X15}" xmlns:mc="${COMPATIBILITY}">${content}</${name}>`;
  const sheet = '<sheets><sheet name="One" sheetId="1" y:id="r1" r:id="r0"/></sheets>';
  return workbookOf('', {
    'xl/workbook.xml': root('workbook', `<workbookPr date1904="1"/>${sheet}${more.workbook ?? ''}`),
    'xl/worksheets/one.xml': root('worksheet', `<sheetData>${HEADER}${ROW}${more.sheet ?? ''}</sheetData>`),
    'xl/styles.xml': root('styleSheet', (more.styles ?? '') + STYLES),
    'xl/sharedStrings.xml': root('sst', (more.strings ?? '') + STRINGS),
  });
}

const textsOf = async (book: Buffer) => {
  const { input, rows } = await readContent(folder, book, { name: 'book.xlsx' });
  return [input.shape.columns, ...rows.map(({ cells }) => cells)];
};
const TEXTS = [
  ['website', 'since'],
  ['a.com', '2024-01-15'],
];

describe('elements of another namespace do not count', () => {
  it('properties of Excel 2013, a sheet, rows, formats and texts', async () => {
    const more = {
      workbook:
        '<extLst><ext><y:workbookPr chartTrackingRefBase="1"/></ext></extLst><y:sheets><y:sheet name="Two" r:id="r0"/></y:sheets>',
      sheet: [
        '<y:row r="3"><y:c><y:v>1</y:v></y:c></y:row>',
        '<y:ext><row r="4"><c><v>2</v></c></row></y:ext>',
        `<row xmlns="${X15}" r="5"><c><v>3</v></c></row>`,
        // What a newer program would take instead.
        '<mc:AlternateContent><mc:Choice Requires="y"><row r="6"><c><v>4</v></c></row></mc:Choice><mc:Fallback/></mc:AlternateContent>',
      ].join(''),
      styles:
        '<y:numFmts><y:numFmt numFmtId="164" formatCode="0.00"/></y:numFmts><y:cellXfs><xf/><y:xf numFmtId="9"/></y:cellXfs>',
      strings: '<y:si><y:t>no</y:t></y:si>',
    };
    expect(await textsOf(await bookWith(more))).toEqual(TEXTS);
  });

  it('inside a cell and inside a text', async () => {
    const cell = '<c t="s"><v>2<y:v>1</y:v></v><y:v>1</y:v><y:is><t>no</t></y:is></c><c><y:f/><v>7</v></c>';
    const strings = '<si><t>website<y:t>no</y:t></t><y:rPh><t>no</t></y:rPh></si>';
    const rows = `<row r="3">${cell}</row>`;
    expect(await textsOf(await bookWith({ sheet: rows }))).toEqual([...TEXTS, ['a.com', '7']]);
    const parts = { 'xl/sharedStrings.xml': `<sst xmlns="${MAIN}" xmlns:y="${X15}">${strings}</sst>` };
    const book = await workbookOf(
      `<row><c t="s"><v>0</v></c></row><row><c t="str"><v>a.com</v></c></row>`,
      parts,
    );
    expect(await textsOf(book)).toEqual([['website'], ['a.com']]);
  });

  it('but the fallback for older programs does', async () => {
    const row = '<row r="3"><c t="s"><v>2</v></c><c><v>7</v></c></row>';
    const sheet = `<mc:AlternateContent><mc:Choice Requires="y"/><mc:Fallback>${row}</mc:Fallback></mc:AlternateContent>`;
    expect(await textsOf(await bookWith({ sheet }))).toEqual([...TEXTS, ['a.com', '7']]);
  });
});

/** A workbook of 1904 whose elements have a prefix, by an edition of the standard. */
function prefixedParts(main: string, office: string, prefix: string) {
  const of = (xml: string) => xml.replaceAll(/<(\/?)(?=\w)/g, `<$1${prefix}`);
  const declared = `xmlns${prefix && `:${prefix.slice(0, -1)}`}="${main}" xmlns:q="${office}"`;
  const root = (name: string, content: string) =>
    `<?xml version="1.0"?>${of(`<${name} ${declared}>${content}</${name}>`)}`;
  const relations = (...parts: readonly (readonly [kind: string, target: string])[]) =>
    `<Relationships>${parts.map(([kind, target], at) => `<Relationship Id="r${at}" Type="${office}/${kind}" Target="${target}"/>`).join('')}</Relationships>`;
  return {
    '_rels/.rels': relations(['officeDocument', 'xl/workbook.xml']),
    'xl/_rels/workbook.xml.rels': relations(
      ['worksheet', 'worksheets/one.xml'],
      ['styles', 'styles.xml'],
      ['sharedStrings', 'sharedStrings.xml'],
    ),
    'xl/workbook.xml': root(
      'workbook',
      '<workbookPr date1904="1"/><sheets><sheet name="One" sheetId="1" q:id="r0"/></sheets>',
    ),
    'xl/worksheets/one.xml': root('worksheet', `<sheetData>${HEADER}${ROW}</sheetData>`),
    'xl/styles.xml': root('styleSheet', STYLES),
    'xl/sharedStrings.xml': root('sst', STRINGS),
  };
}

it.each([
  ['transitional', MAIN, OFFICE, ''],
  ['transitional, with prefixes', MAIN, OFFICE, 'x:'],
  ['strict', STRICT, STRICT_OFFICE, ''],
  ['strict, with prefixes', STRICT, STRICT_OFFICE, 'ss:'],
])('every edition of the standard is read: %s', async (_, main, office, prefix) => {
  expect(await textsOf(await workbookOf('', prefixedParts(main, office, prefix)))).toEqual(TEXTS);
});

describe('parts are found', () => {
  const parts = prefixedParts(MAIN, OFFICE, '');
  const relation = (kind: string, target: string) =>
    `<Relationship Id="r0" Type="${OFFICE}/${kind}" Target="${target}"/>`;
  const bookOf = (moved: Readonly<Record<string, string>>) =>
    zipOf({ '[Content_Types].xml': '<Types/>', ...moved });

  it('at the root of the archive', async () => {
    const book = await bookOf({
      '_rels/.rels': `<Relationships>${relation('officeDocument', 'workbook.xml')}</Relationships>`,
      '_rels/workbook.xml.rels': parts['xl/_rels/workbook.xml.rels'].replace('worksheets/', ''),
      'workbook.xml': parts['xl/workbook.xml'],
      'one.xml': parts['xl/worksheets/one.xml'],
      'styles.xml': parts['xl/styles.xml'],
      'sharedStrings.xml': parts['xl/sharedStrings.xml'],
    });
    expect(await textsOf(book)).toEqual(TEXTS);
  });

  it('by names in other case', async () => {
    const of = (name: string) => name.replace('xl/', 'XL/').replace('sharedStrings', 'SharedStrings');
    const moved = Object.fromEntries(Object.entries(parts).map(([name, part]) => [of(name), part]));
    const book = await zipOf({ '[content_types].xml': '<Types/>', ...moved });
    expect(await textsOf(book)).toEqual(TEXTS);
  });

  it.each([
    ['absolute ones', '/xl/worksheets/one.xml'],
    ['through the folder above', '../xl/./worksheets/one.xml'],
    ['in other case', 'Worksheets/One.XML'],
    ['with the separators of Windows', 'worksheets\\one.xml'],
  ])('by targets: %s', async (_, target) => {
    const name = 'xl/_rels/workbook.xml.rels';
    const book = await bookOf({ ...parts, [name]: parts[name].replace('worksheets/one.xml', target) });
    expect(await textsOf(book)).toEqual(TEXTS);
  });

  it('not by relations of other kinds that end alike', async () => {
    const name = 'xl/_rels/workbook.xml.rels';
    const foreign = ['styles', 'sharedStrings'].map(
      (kind) => `<Relationship Id="f${kind}" Type="urn:x/${kind}" Target="worksheets/one.xml"/>`,
    );
    const more = parts[name].replace('<Relationship ', `${foreign.join('')}<Relationship `);
    expect(await textsOf(await bookOf({ ...parts, [name]: more }))).toEqual(TEXTS);
  });
});

const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();
it.each<[string, (text: string) => Buffer]>([
  ['little-endian', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['big-endian', (text) => swapped(`\ufeff${text}`)],
  ['little-endian without a mark', (text) => Buffer.from(text, 'utf16le')],
  ['big-endian without a mark', swapped],
])('parts in UTF-16 are read: %s', async (_, encode) => {
  const parts = Object.entries(prefixedParts(MAIN, OFFICE, ''));
  const declared = (xml: string) => `<?xml version="1.0" encoding="UTF-16"?>${xml.replace(/^<\?.*?\?>/, '')}`;
  const encoded = parts.map(([name, xml]) => [name, encode(declared(xml).replace('a.com', 'müller.de'))]);
  const book = await zipOf({ '[Content_Types].xml': '<Types/>', ...Object.fromEntries(encoded) });
  expect(await textsOf(book)).toEqual([TEXTS[0], ['müller.de', '2024-01-15']]);
});

describe('a cell', () => {
  const styles =
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="22"/></cellXfs></styleSheet>';
  const cellsOf = async (cells: readonly string[], parts: Readonly<Record<string, string>> = {}) => {
    const header = '<row><c t="str"><v>website</v></c><c t="str"><v>x</v></c></row>';
    const rows = cells.map((cell) => `<row><c t="str"><v>a.com</v></c>${cell}</row>`);
    const book = await workbookOf(header + rows.join(''), {
      'xl/styles.xml': styles,
      'xl/sharedStrings.xml': '<sst><si><t>shared</t></si></sst>',
      ...parts,
    });
    const read = await readContent(folder, book, { name: 'book.xlsx' });
    return read.rows.map((row) => ({ text: row.cells[1], cell: JSON.parse(row.raw)[1] }));
  };

  const VALUES = [
    ['t="inlineStr"', '<v>no</v><is><t>yes</t></is>', 'yes'],
    ['t="inlineStr"', '<is><r><t>y</t></r><r><t>es</t></r></is><v>no</v>', 'yes'],
    ['t="inlineStr"', '<v>only</v>', 'only'],
    ['t="s"', '<is><t>no</t></is><v>0</v>', 'shared'],
    ['t="str"', '<v>yes</v><is><t>no</t></is>', 'yes'],
    ['', '<v>7</v><is><t>8</t></is>', '7'],
    ['t="inlineStr"', '<is><t>yes</t><rPh sb="0" eb="1"><t>no</t></rPh></is>', 'yes'],
  ] as const;
  it('has one value', async () => {
    const read = await cellsOf(VALUES.map(([type, content]) => `<c ${type}>${content}</c>`));
    expect(read.map(({ text }) => text)).toEqual(VALUES.map(([, , text]) => text));
  });

  const MOMENTS = [
    ['s="2"', '10:30', { n: 0.4375, f: 2 }, '10:30:00'],
    ['s="2"', 'T10:30:15.25', { n: 37_815.25 / 86_400, f: 2 }, '10:30:15.250'],
    ['s="3"', '2024-01-15T10:30:00', { n: 45_306.4375, f: 3 }, '2024-01-15T10:30:00'],
    ['s="1"', '1900-01-15T00:00:00.000Z', { n: 15, f: 1 }, '1900-01-15'],
    ['s="1"', '10:30:00', { t: '10:30:00' }, '10:30:00'],
    ['', '10:30', { t: '10:30:00' }, '10:30:00'],
    ['', 'PT1H30M', { t: 'PT1H30M' }, 'PT1H30M'],
    ['s="2"', '25:00', { t: '25:00' }, '25:00'],
  ] as const;
  it('holds a moment as ISO text', async () => {
    const read = await cellsOf(MOMENTS.map(([style, iso]) => `<c ${style} t="d"><v>${iso}</v></c>`));
    expect(read).toEqual(MOMENTS.map(([, , cell, text]) => ({ cell, text })));
  });

  it('is the same wherever the pieces end in which its part is parsed', async () => {
    // Its row has an odd number of characters: the pieces of 2,048 end everywhere in it.
    const cell = '<c t="str" s="1"><v>a&amp;é𝒳\r\n<![CDATA[<b>]]><!-- no -->&#x1D4B3;_x0041_</v></c>';
    const read = await cellsOf(Array(2_048).fill(cell));
    expect(read).toHaveLength(2_048);
    expect([...new Set(read.map(({ text }) => text))]).toEqual(['a&é𝒳\n<b>𝒳A']);
  });

  it('has the number format that a reference writes', async () => {
    const quotes = styles.replace('yyyy-mm-dd', '&quot;d&amp;y&#x22;0.00');
    const book = await workbookOf(
      '<row><c t="str"><v>website</v></c></row><row><c s="1"><v>7</v></c></row>',
      { 'xl/styles.xml': quotes },
    );
    const { input } = await readContent(folder, book, { name: 'book.xlsx', header: false });
    expect(input.shape.typed?.codes).toContain('"d&y"0.00');
  });

  it('without a style has the first one', async () => {
    const first = styles.replace('<cellXfs>', '<cellXfs><xf numFmtId="14"/>');
    const cell = '<c><v>45306</v></c>';
    expect(await cellsOf([cell], { 'xl/styles.xml': first })).toMatchObject([{ text: '2024-01-15' }]);
    expect(await cellsOf([cell])).toMatchObject([{ text: '45306' }]);
  });
});
