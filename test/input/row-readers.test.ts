import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ElementSplitter } from '../../src/input/json/element-splitter.js';
import { JsonReader, objectOfMember } from '../../src/input/json/json-readers.js';
import { type CsvLayout, CsvReader } from '../../src/input/row-readers.js';
import { RecordSplitter } from '../../src/input/text/record-splitter.js';
import { fitTable } from '../../src/input/text/row-fit.js';
import { CASES, casesOf } from '../support/properties.js';

interface Layout extends Omit<CsvLayout, 'fit'> {
  readonly columnCount: number;
}

const LAYOUT: Layout = { delimiter: ',', mode: 'lf', columnCount: 2, hasHeader: true, passLines: 0 };

function readerFor({ columnCount, ...layout }: Layout) {
  const header = Array.from({ length: columnCount }, () => 'h');
  return new CsvReader({ ...layout, fit: fitTable({ header, rows: [], ragged: null }) });
}

function read(text: string, changes: Partial<Layout> = {}) {
  const reader = readerFor({ ...LAYOUT, ...changes });
  return { rows: reader.push(text, true), ...reader.seen() };
}

describe('rows of a CSV table', () => {
  it('have number, line, raw text and cells', () => {
    const { rows } = read('name,site\n"A ""B"", C",a.com\r\n\n1.10,"b\n.com"\n');
    expect(rows).toEqual([
      { number: 1, line: 2, raw: '"A ""B"", C",a.com', cells: ['A "B", C', 'a.com'], problem: null },
      { number: 2, line: 4, raw: '1.10,"b\n.com"', cells: ['1.10', 'b\n.com'], problem: null },
    ]);
  });

  it.each([
    ['a NUL', 'a\0,b', { code: 'nul' }],
    ['text after a closing quote', '"a" ,b', { code: 'text_after_quote' }],
    ['a bare cell over 64 KiB', `a,${'x'.repeat(65_537)}`, { code: 'large_cell' }],
    ['a cell over 64 KiB only in bytes', `a,${'é'.repeat(32_769)}`, { code: 'large_cell' }],
    ['a quoted cell over 64 KiB only in bytes', `a,"${'é'.repeat(32_769)}"`, { code: 'large_cell' }],
  ])('with %s are marked, keep their raw text and do not affect the next row', (_, bad, problem) => {
    const { rows } = read(`h,h\n${bad}\nc,d\n`);
    expect(rows).toEqual([
      { number: 1, line: 2, raw: bad, cells: [], problem },
      { number: 2, line: 3, raw: 'c,d', cells: ['c', 'd'], problem: null },
    ]);
  });

  it.each([
    ['a,b,c', 3],
    ['a,b,', 3],
    ['a,b,,, ,""," "', 7],
    [',,a', 3],
    ['a', 1],
    ['"b,"', 1],
  ])('that do not fit are marked as such and keep their raw text: %j', (bad, cells) => {
    const { rows } = read(`h,h\n${bad}\nc,d\n`);
    const problem = { code: 'cell_count', cells, columns: 2 };
    expect(rows).toEqual([
      { number: 1, line: 2, raw: bad, cells: [], problem, isMisfit: true },
      { number: 2, line: 3, raw: 'c,d', cells: ['c', 'd'], problem: null },
    ]);
  });

  it('accept cells of exactly 64 KiB', () => {
    const { rows } = read(`h,h\n${'é'.repeat(32_768)},"${'x'.repeat(65_536)}"\n`);
    expect(rows[0]?.problem).toBe(null);
  });

  it('over 1 MiB are marked and cut, even if all their cells are small', () => {
    const raw = Array.from({ length: 3000 }, () => 'x'.repeat(400)).join(',');
    const { rows } = read(`${raw}\nend\n`, { columnCount: 3000, hasHeader: false });
    expect(rows[0]?.problem).toEqual({ code: 'large_record' });
    expect(rows[0]?.raw).toBe(raw.slice(0, 1024 * 1024));
    expect(rows[1]?.raw).toBe('end');
  });

  it('skip blank lines of a table with several columns, and say so', () => {
    const { rows, notes } = read('h,h\na,b\n\n \t \nc,d\n\n');
    expect(rows.map((it) => [it.number, it.line])).toEqual([
      [1, 2],
      [2, 5],
    ]);
    expect(notes).toEqual(['3 blank lines ignored']);
  });

  it('keep blank lines of a table with one column, and say so', () => {
    const { rows, notes } = read('h\na\n\nb\n', { columnCount: 1 });
    expect(rows.map((it) => it.cells)).toEqual([['a'], [''], ['b']]);
    expect(notes[0]).toContain('kept as rows');
  });

  it('treat a line of only delimiters as a row of blank cells', () => {
    expect(read('h\th\n\t\n', { delimiter: '\t' }).rows[0]?.cells).toEqual(['', '']);
  });
});

const part = fc.constantFrom(...'aB "\n,;\t|é漢😀0\'\\', '\r\n');
const cell = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
const table = fc.integer({ min: 2, max: 5 }).chain((width) => {
  const row = fc.array(cell, { minLength: width, maxLength: width });
  return fc.array(row, { minLength: 1, maxLength: 20 });
});

describe('any table', () => {
  it('written by csv-stringify is read back equal, and its raw records make up the file', () => {
    fc.assert(
      fc.property(
        table,
        fc.constantFrom(',', ';', '\t', '|'),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        (rows, delimiter, lineEnd, quoted) => {
          const text = stringify(rows, {
            delimiter,
            record_delimiter: lineEnd,
            quoted,
            quoted_empty: true,
            // With CRLF csv-stringify would leave a lone LF unquoted, which is a line end to most
            // readers.
            quoted_match: /[\r\n]/,
          });
          const columnCount = rows[0]?.length ?? 0;
          const read = readerFor({ ...LAYOUT, delimiter, hasHeader: false, columnCount }).push(text, true);
          expect(read.map((it) => it.cells)).toEqual(rows);
          expect(read.map((it) => it.raw + lineEnd).join('')).toBe(text);
          expect(read.map((it) => it.number)).toEqual(rows.map((_, i) => i + 1));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('has the cells that csv-parse finds, wherever quotes are', CASES, () => {
    const piece = fc.constantFrom('a', 'b', ',', ',', '"', '""', '\n', '","', '"\n"');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const text = `${pieces.join('')}\n`;
        const { rows } = read(text, { hasHeader: false, columnCount: 3 });
        // A lone pair of quotes is a record, and csv-parse's answer to it that of a blank line.
        if (rows.some((it) => (it.problem !== null && !it.isMisfit) || it.raw === '""')) return;
        const relaxed = { relax_quotes: true, relax_column_count: true };
        const expected = parse(text, { ...relaxed, record_delimiter: '\n' });
        const isBlank = (it: string[]) => it.length === 1 && it[0] === '';
        const fitted = (it: string[]) => {
          if (it.length === 3) return it;
          return it.every((cell) => cell.trim() === '') ? [...it, '', ''].slice(0, 3) : [];
        };
        expect(rows.map((it) => it.cells)).toEqual(expected.filter((it) => !isBlank(it)).map(fitted));
      }),
      { numRuns: casesOf(2000) },
    );
  });
});

describe('stray quotes', () => {
  const row = (i: number) => `company ${i},site${i}.com`;

  it('cost one record of 100,001, wherever they are', () => {
    const strays = ['company 500,"site500.com', '"company 500,site500.com', '"company 500" x,site500.com'];
    for (const stray of strays) {
      const lines = Array.from({ length: 100_001 }, (_, i) => (i === 500 ? stray : row(i)));
      const { rows } = read(`${lines.join('\n')}\n`, { hasHeader: false });
      expect(rows).toHaveLength(100_001);
      const bad = rows.filter((it) => it.problem !== null);
      expect(bad.map((it) => [it.line, it.raw])).toEqual([[501, stray]]);
      expect(rows[100_000]?.cells).toEqual(['company 100000', 'site100000.com']);
    }
  });

  it('490 rows apart cost two records, not the 490 between them', () => {
    const lines = Array.from({ length: 2000 }, (_, i) => row(i));
    lines[700] = 'company 700,"site700.com';
    lines[1190] = 'company 1190,site1190.com"';
    const { rows } = read(`${lines.join('\n')}\n`, { hasHeader: false });
    expect(rows).toHaveLength(2000);
    expect(rows.filter((it) => it.problem !== null).map((it) => it.line)).toEqual([701]);
    // The closing quote is inside a bare cell, where a quote is data.
    expect(rows[1190]?.cells).toEqual(['company 1190', 'site1190.com"']);
  });

  it('on every line cost linear time, and every line', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `"company ${i},site${i}.com`);
    const { rows } = read(`${lines.join('\n')}\n`, { hasHeader: false });
    expect(rows).toHaveLength(20_000);
    expect(rows.every((it) => it.problem !== null)).toBe(true);
  });
});

function readJson(text: string) {
  const splitter = new RecordSplitter({ mode: 'lf', passLines: 0, delimiter: null, columnCount: 0 });
  const reader = new JsonReader(splitter, 'line');
  const rows = reader.push(text, true);
  return { rows, ...reader.seen() };
}

it('rows that are members of an object get their names; other members are unreadable', () => {
  const splitter = new ElementSplitter('a.json', undefined, { head: '', path: '', isKeyed: true });
  const reader = new JsonReader(splitter, 'element', objectOfMember(false));
  const rows = reader.push('{"a": {}, "b": 5, "c": {"n": }, "d" : { "n": 1 }}', true);
  expect(rows.map(({ raw, problem }) => [raw, problem?.code])).toEqual([
    ['{"_key":"a"}', undefined],
    ['"b": 5', 'not_object'],
    ['"c": {"n": }', 'not_json'],
    ['{"_key":"d","n": 1 }', undefined],
  ]);
  const map = new ElementSplitter('a.json', undefined, { head: '', path: '', isKeyed: true });
  const values = new JsonReader(map, 'element', objectOfMember(true)).push(
    '{"a": "a.com", "b" :\n1.10, "c": x}',
    true,
  );
  expect(values.map(({ raw, cells, problem }) => [raw, cells, problem?.code])).toEqual([
    ['{"_key":"a","value":"a.com"}', ['a', 'a.com'], undefined],
    ['{"_key":"b","value":1.10}', ['b', '1.10'], undefined],
    ['"c": x', [], 'not_json'],
  ]);
});

describe('rows of JSON lines', () => {
  it('have every key as a column, in order of first appearance', () => {
    const { rows, columns } = readJson('{"a":"x","b":null}\r\n{"c":true,"a":"y"}\n');
    expect(columns).toEqual(['a', 'b', 'c']);
    expect(rows.map((it) => it.cells)).toEqual([
      ['x', ''],
      ['y', '', 'true'],
    ]);
    expect(rows[0]?.raw).toBe('{"a":"x","b":null}');
  });

  it('keep numbers and nested values as they are written', () => {
    const { rows } = readJson('{"n":12345678901234567890,"m":1.10,"e":1E3,"o":{"x": 1.0},"l":[ "}" ]}');
    expect(rows[0]?.cells).toEqual(['12345678901234567890', '1.10', '1E3', '{"x": 1.0}', '1.0', '[ "}" ]']);
  });

  it('have members of inner objects as columns, of three levels at most; an output has keys alone', () => {
    const { rows, columns, keys } = readJson(
      '{"c":{"w":"a.com","in":{"d":{"e":{"f":1}}}},"n":1}\n{"n":2,"c":{"w":null,"v":"x"}}\n{"c":"text"}\n',
    );
    expect(columns).toEqual(['c', 'c.w', 'c.in', 'c.in.d', 'c.in.d.e', 'n', 'c.v']);
    expect(keys).toEqual(['c', 'n']);
    expect(rows.map(({ cells }) => [cells[1], cells[5], cells[6]])).toEqual([
      ['a.com', '1', undefined],
      ['', '2', 'x'],
      [undefined, undefined, undefined],
    ]);
  });

  it('have no columns for maps, nor for inner members that only later rows have', () => {
    const map = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`k${at}`, at]));
    const many = Array.from({ length: 1_000 }, () => '{"a":{"b":1}}\n').join('');
    expect(readJson(`${JSON.stringify({ map })}\n`).columns).toEqual(['map']);
    expect(readJson(`${many}{"a":{"b":1,"c":2},"d":{"e":1}}\n`).columns).toEqual(['a', 'a.b', 'd']);
    const wide = Array.from({ length: 40 }, (_, at) => {
      const inner = Object.fromEntries(Array.from({ length: 90 }, (_, key) => [`${at}_${key}`, 1]));
      return `${JSON.stringify({ o: { [`m${at}`]: inner } })}\n`;
    });
    expect(readJson(wide.join('')).columns).toHaveLength(501);
  });

  it.each([
    ['{"a":1', { code: 'not_json', place: 'line' }],
    ["{'a':1}", { code: 'not_json', place: 'line' }],
    ['[1]', { code: 'not_object', place: 'line' }],
    ['null', { code: 'not_object', place: 'line' }],
    ['{"a":"\0"}', { code: 'nul' }],
    [`{"a":"${'x'.repeat(65_537)}"}`, { code: 'large_value' }],
    [`{"a":"${'x'.repeat(1024 * 1024)}"}`, { code: 'large_record' }],
  ])('that are damaged are marked (%#), and the next one is read', (bad, problem) => {
    const { rows } = readJson(`${bad}\n{"a":"ok"}\n`);
    expect(rows[0]).toMatchObject({ number: 1, line: 1, cells: [], problem });
    expect(rows[1]).toMatchObject({ number: 2, line: 2, cells: ['ok'], problem: null });
  });

  it('do not include blank lines', () => {
    const { rows, notes } = readJson('\n{"a":1}\n  \n{"a":2}\n\n');
    expect(rows.map((it) => it.line)).toEqual([2, 4]);
    expect(notes).toEqual(['blank lines ignored: 3']);
  });

  it('may have any key, including __proto__', () => {
    const { columns, rows } = readJson('{"__proto__":"a","constructor":"b","":"c"}');
    expect(columns).toEqual(['__proto__', 'constructor', '']);
    expect(rows[0]?.cells).toEqual(['a', 'b', 'c']);
  });

  it('use the last of equal keys, like JSON.parse', () => {
    expect(readJson('{"a":1,"a":2}').rows[0]?.cells).toEqual(['2']);
  });

  it('have a limited number of columns', () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `{"k${i}":"${i}"}`);
    const { columns, rows, notes } = readJson(lines.join('\n'));
    expect(columns).toHaveLength(4096);
    expect(rows).toHaveLength(5000);
    expect(notes[0]).toContain('4096');
  });
});
