import { describe, expect, it } from 'vitest';
import { sayPhrase } from '../../../src/core/phrase.js';
import { findDataInHeader, findPreamble, headerWarnings } from '../../../src/input/text/header-check.js';
import { sniffTable } from '../../../src/input/text/sniff-table.js';
import { READING } from '../reading.js';

function sniff(text: string, options: Partial<Parameters<typeof sniffTable>[1]> & { name?: string } = {}) {
  const { name = 'in.csv', ...rest } = options;
  return sniffTable({ name, text, isWhole: true }, { ...READING, ...rest });
}

describe('the delimiter', () => {
  it.each([
    ['a comma', 'a,b\n1,2\n', ','],
    ['a semicolon among decimal commas', 'a;b;c\n1,5;2,5;x\n3,5;4,5;y\n', ';'],
    ['a semicolon among commas in text', 'name;note\nAcme;big, old\nFoo;small, new\n', ';'],
    ['a tab', 'a\tb\n1,0\t2\n', '\t'],
    ['a comma outside quotes only', 'a,b\n"x;y;z",1\n"p;q;r",2\n', ','],
    ['a comma in a ragged table', 'a,b\n1\n2,3,4\n5,6\n', ','],
    ['the one on which most records agree', 'a;b,c,d\n1;2,3,4\n5;6,7,8\n7;8\n9;0\n', ';'],
    ['the one that the first line names', 'sep=|\na,b|c\n1,2|3\n', '|'],
    ['one that keeps the cells of a single column intact', 'company\nAcme, Inc\nFoo\nBar\n', ';'],
    ['a comma for a single column without any', 'company\nAcme\nFoo\n', ','],
    ['a comma when there is only a header', 'a,b;c,d\n', ','],
  ])('is %s', (_, text, delimiter) => {
    expect(sniff(text).delimiter).toBe(delimiter);
  });

  it('is a tab for a single column in a .tsv', () => {
    expect(sniff('company\nAcme, Inc\n', { name: 'x.tsv.gz' }).delimiter).toBe('\t');
  });

  it('that is ambiguous causes a warning', () => {
    const text = 'last,first;mail\nDoe,John;j\nRoe,Jane;k\n';
    expect(sniff(text).warnings.flat().join('')).toContain("';' would fit as well as ','");
    expect(sniff(text, { delimiter: ';' }).columns).toEqual(['last,first', 'mail']);
    expect(sniff(text, { delimiter: ';' }).warnings).toEqual([]);
  });
});

describe('the header', () => {
  it('is kept verbatim, with its own line end', () => {
    const layout = sniff('"na ""me""",site \r\na,b\n');
    expect(layout.columns).toEqual(['na "me"', 'site ']);
    expect(layout.rawHeader).toBe('"na ""me""",site ');
    expect(layout.lineEnd).toBe('\r\n');
  });

  it('may span several lines, and follow blank ones', () => {
    const layout = sniff('\n \n"na\nme",site\na,b\n');
    expect(layout.columns).toEqual(['na\nme', 'site']);
    expect(layout.warnings).toEqual(['blank lines above the header: ignored']);
    expect(layout.createReader().push('\n \n"na\nme",site\na,b\n', true)).toMatchObject([
      { number: 1, line: 5, cells: ['a', 'b'] },
    ]);
  });

  it('is absent with --no-header: columns are numbered up to the commonest width', () => {
    const layout = sniff('x\na.com,b\nc.com,d\n', { header: false });
    expect(layout.columns).toEqual(['column_1', 'column_2']);
    expect(layout.rawHeader).toBe(null);
  });

  it('follows the lines that --skip-lines skips', () => {
    const layout = sniff('Title\n\na;b\n1;2\n', { skipLines: 2 });
    expect(layout.columns).toEqual(['a', 'b']);
    expect(layout.createReader().push('Title\n\na;b\n1;2\n', true)).toMatchObject([{ line: 4, raw: '1;2' }]);
  });

  it('follows a line that names the delimiter', () => {
    const text = 'sep=;\r\na;b\r\n1;2\r\n';
    expect(sniff(text).columns).toEqual(['a', 'b']);
    expect(sniff(text).createReader().push(text, true)).toMatchObject([{ line: 3, cells: ['1', '2'] }]);
  });

  it('with blank or equal names is kept by position, with a warning', () => {
    expect(headerWarnings(['a', '', 'a', ' ', 'b', 'a '])).toEqual([
      "columns 1, 3, 6 with the same name 'a': kept by position",
      'columns 2, 4 without a name: kept by position',
    ]);
    expect(headerWarnings(['a', '', 'b'])).toEqual(['column 2 without a name: kept by position']);
    expect(headerWarnings(['a', 'b'])).toEqual([]);
  });

  it.each([
    ['"name"x,site\na,b\n', 'text after the closing quote'],
    ['na\0me,site\na,b\n', 'a NUL character'],
  ])('that cannot be read stops (%j)', (text, reason) => {
    expect(() => sniff(text)).toThrow(reason);
  });
});

describe('lines above the table', () => {
  it.each([
    ['Customer export\nGenerated 2024-01-01\n\nname;site;x\na;b;1\nc;d;2\n', 4, 'name;site;x'],
    ['Customers, Q1\nid,name,site\n1,a,b\n2,c,d\n', 2, 'id,name,site'],
    ['Customer export,,\n,,\nname,site,x\na,b,1\n', 3, 'name,site,x'],
    ['Customer export,,\nname,site,x\na,b,1\n', 2, 'name,site,x'],
    [' ,\nname,site\na,b\n', 2, 'name,site'],
    ['# made by x\n# on day y\nname\tsite\na\tb\n', 3, 'name\tsite'],
  ])('are skipped with a warning (%j)', (text, line, header) => {
    const { rawHeader, warnings } = sniff(text);
    expect(rawHeader).toBe(header);
    expect(sayPhrase(warnings[0] ?? '', 'flags')).toBe(
      `the table begins in line ${line} ('${header}'): the lines above it are not in the output; if it begins elsewhere, use --skip-lines`,
    );
  });

  it('are as many as the user says', () => {
    const text = 'Customer export\nname,site,x\na,b,1\nc,d,2\n';
    expect(sniff(text, { skipLines: 2 }).rawHeader).toBe('a,b,1');
  });

  // `x` is a filled cell, `.` a blank one.
  it.each([
    ['a fitting header', ['xxx', 'xxx', 'xxx']],
    ['a ragged record', ['xx', 'x', 'xxx', 'xx']],
    ['a header with most names blank above rows with gaps', ['x..', 'xx.', 'xx.']],
    ['one wide record below', ['xx', 'xxx']],
    ['one column', ['x', 'x', 'x']],
    ['a header wider than its rows', ['xxx', 'xx', 'xx']],
  ])('are not seen in %s', (_, records) => {
    expect(findPreamble(records.map((cells) => [...cells].map((cell) => cell.replace('.', ''))))).toBe(null);
  });

  it.each([
    ',website,\n1,acme.com,x\n',
    ' ,,ticker\n1,Apple,AAPL\n2,Microsoft,MSFT\n',
    ',website,\n1,acme.com,x\n2,beta.io,y\n3,,z\n',
    'isin,,\nUS0378331005,a,b\nUS5949181045,c,d\n',
  ])('are not seen in a header with one name above data (%j)', (text) => {
    expect(sniff(text).columns).toEqual(text.split('\n')[0]?.split(','));
  });
});

describe('data in place of the header', () => {
  const cellsOf = (row: string) => row.split('|');
  it.each([
    [['acme.com'], [['foo.com'], ['bar.de']], 'acme.com'],
    [['Acme', 'https://acme.com/x'], [['Foo', 'http://foo.com']], 'https://acme.com/x'],
    [['1', 'info@acme.com'], [['2', 'a@foo.com']], 'info@acme.com'],
    [['US0378331005'], [['DE0007164600']], 'US0378331005'],
    [['acme.com'], [], 'acme.com'],
    [['acme.com', '9'], ['foo.com|\\N', 'bar.com|NULL', 'baz.com|7'].map(cellsOf), 'acme.com'],
    [['acme.com', '2021'], ['foo.com|many', 'bar.com|few'].map(cellsOf), null],
    [['name', 'website'], [['Acme', 'acme.com']], null],
    [['company', 'Booking.com'], [['Acme', '12']], null],
    [['company.website'], [['acme.com']], null],
    [['TICKER'], [['AAPL']], null],
  ])('is seen in %j above %j: %j', (header, rows, expected) => {
    expect(findDataInHeader(header, rows)).toBe(expected);
  });

  it('is read as data, and the columns are numbered', () => {
    const { columns, rawHeader, warnings } = sniff('acme.com,1\nfoo.com,2\n');
    expect({ columns, rawHeader }).toEqual({ columns: ['column_1', 'column_2'], rawHeader: null });
    expect(warnings).toEqual([
      "no header: the first line ('acme.com') is data like the others; columns are named column_1 and so on",
    ]);
  });

  it.each([
    ['domains', 'acme.com\nfoo.com\nbar.de\n'],
    ['ISINs', 'US0378331005\nDE0007164600\n'],
    ['e-mail addresses, domains and web addresses', 'jo@acme.com\nfoo.com\nhttps://bar.de/\n'],
    ['mailboxes', 'Jo Doe <jo@acme.com>\nAnn <ann@beta.io>\nmax@gamma.de\n'],
    ['domains with a wildcard', '*.acme.com\nfoo.com\n*.bar.de\n'],
    ['one domain alone', 'acme.com'],
  ])('is harmless in a list of %s: it is read without a header, with a notice', (_, text) => {
    const layout = sniff(text);
    expect(layout.columns).toEqual(['column_1']);
    expect(layout.rawHeader).toBe(null);
    expect(layout.warnings).toEqual([
      'no header: the first line is data like the others; the column is named column_1',
    ]);
    const reader = layout.createReader();
    const rows = reader.push(text, true);
    expect(rows.map(({ cells }) => cells[0])).toEqual(text.trim().split('\n'));
  });

  it.each([
    ['a header above it', 'website\nacme.com\nfoo.com\n'],
    ['a dotted header above it', 'company.website\nacme.com\nfoo.com\n'],
    ['names below it', 'booking.com\nAcme\nFoo\n'],
  ])('a list with %s keeps its header', (_, text) => {
    expect(sniff(text).rawHeader).toBe(text.split('\n')[0]);
  });
});

describe('the format', () => {
  it.each([
    ['{"a":1}\n{"a":2}\n', 'in.csv', 'jsonl'],
    ['\n{"a":"\u2028"}\n', 'stdin', 'jsonl'],
    ['{"a":\n{"a":2}\n', 'in.txt', 'jsonl'],
    ['{"a":\n{"a":2}\n', 'in.ndjson', 'jsonl'],
    ['{odd},name\n1,2\n', 'in.csv', 'csv'],
    ['a,b\n1,2\n', 'in.txt', 'csv'],
  ] as const)('of %j in %s is %s', (text, name, format) => {
    expect(sniff(text, { name }).format).toBe(format);
  });

  it.each([
    ['<!DOCTYPE html><html>', 'a web page'],
    ['<?xml version="1.0"?>', 'XML'],
    ['{\n "a": 1\n}', 'JSON over several lines'],
  ])('that is not a table stops the run (%j)', (text, seen) => {
    expect(() => sniff(text)).toThrow(seen);
  });

  it.each(['', ' \n\t\r\n'])('of an empty file stops the run (%j)', (text) => {
    expect(() => sniff(text)).toThrow('has no records');
  });

  it('of a file that ends in its skipped lines stops the run', () => {
    expect(() => sniff('a\nb\n', { skipLines: 5 })).toThrow('--skip-lines 5');
  });
});
