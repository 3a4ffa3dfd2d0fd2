import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ElementSplitter } from '../../../src/input/json/element-splitter.js';
import { workbookOf, zipOf } from '../../support/workbooks.js';
import { folderOfFile, readContent } from '../reading.js';

const folder = folderOfFile();

/** The elements, when the text comes in pieces of this size. */
function split(text: string, size = text.length) {
  const splitter = new ElementSplitter('a.json');
  const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
  return [...pieces.flatMap((piece) => splitter.push(piece, false)), ...splitter.push('', true)];
}

it('elements stay unchanged, with any content and any chunks of text', () => {
  const value = fc.jsonValue({ maxDepth: 3 }).filter((it) => it !== null && typeof it === 'object');
  fc.assert(
    fc.property(
      fc.array(value, { maxLength: 5 }),
      fc.integer({ min: 1, max: 9 }),
      fc.nat(4),
      (all, size, indent) => {
        const text = `\n${JSON.stringify(all, null, indent)}\n`;
        const raws = split(text, size).map(({ raw }) => JSON.parse(raw));
        expect(raws).toEqual(JSON.parse(JSON.stringify(all)));
      },
    ),
  );
});

it('lines are counted; digits and the order of keys stay', () => {
  const text = '[\n  {"b":1.10,\n   "a":12345678901234567890},\n\n  {"b":"\\"}]"}\n]\n';
  for (const size of [1, 2, 7, 99]) {
    expect(split(text, size)).toEqual([
      { line: 2, raw: '{"b":1.10,\n   "a":12345678901234567890}', cells: [], problem: null },
      { line: 5, raw: '{"b":"\\"}]"}', cells: [], problem: null },
    ]);
  }
});

describe('a file with one array', () => {
  it('is a table of its objects; other elements are unreadable rows', async () => {
    const { input, rows } = await readContent(folder, '[{"site":"a.com","n":1}, 7, {"site":NaN},\n{"x":2}]');
    expect(input.shape.format).toBe('json');
    expect(input.detected).toBe('JSON array, utf-8');
    expect(input.content().columns).toEqual(['site', 'n', 'x']);
    expect(rows.map(({ cells, problem, line }) => [line, cells, problem])).toEqual([
      [1, ['a.com', '1'], null],
      [1, [], { code: 'not_object', place: 'element' }],
      [1, [], { code: 'not_json', place: 'element' }],
      [2, ['', '', '2'], null],
    ]);
  });

  it('may begin far behind the beginning of the text, or else the error says what to do', async () => {
    const text = (chars: number) =>
      `{"meta": {"note": [1], "about": "${'x'.repeat(chars)}"}, "rows": [{"site":"a.com"}]}`;
    const { input, rows } = await readContent(folder, text(3_000_000));
    expect(input.warnings).toContain('the rows are read from the array "rows"');
    expect(rows.map(({ cells }) => cells)).toEqual([['a.com']]);
    await expect(readContent(folder, text(17_000_000))).rejects.toThrow(
      /no array of objects was found: .*its first 16 MB.*jq -c '\.PATH\[\]'/,
    );
  });

  it('is chosen for good only when a larger one cannot follow', async () => {
    const rest = `"meta": "${'x'.repeat(1_100_000)}", "rows": [${'{"a": 1}, '.repeat(100)}{"a": 1}]}`;
    const { input } = await readContent(folder, `{"few": [{"b": 1}], ${rest}`);
    expect(input.shape.columns).toEqual(['a']);
    const long = `{"rows": [{"a": 1}], "meta": "${'x'.repeat(1_100_000)}"}`;
    await expect(readContent(folder, long)).rejects.toThrow(/too much text.*--records.*jq -c '\.rows\[\]'/);
  });

  it('may be an object: its members are the rows, with their names as a column', async () => {
    const text = '{"n": 1, "data": {"0": {"a": 1}, "a\\"b" : {"a":3}, "3": {"a": 2}}, "m": 2}';
    const { input, rows } = await readContent(folder, text);
    expect(input.content().columns).toEqual(['_key', 'a']);
    expect(rows.map(({ raw }) => raw)).toEqual([
      '{"_key":"0","a": 1}',
      '{"_key":"a\\"b","a":3}',
      '{"_key":"3","a": 2}',
    ]);
    expect(input.content().around).toEqual({ head: '{"n": 1, "data": ', tail: ', "m": 2}' });
  });

  const symbols = JSON.stringify(['AAPL', 'MSFT', 'NVDA', 'TSLA', 'META'].map((symbol) => [symbol, 'x']));
  it.each([
    ['[["a","b"],["x",1.10],["y"]]', 'names of columns in the first', ['{"a":"x","b":1.10}', '{"a":"y"}']],
    ['{"columns":["a","a"],"data":[["x",2]]}', 'beside them', ['{"a":"x","column_2":2}']],
    ['{"fields":[{"name":"a"},{"name":"b"}],"rows":[["x",{"c":[]}]]}', 'beside', ['{"a":"x","b":{"c":[]}}']],
    ['[["acme.com",1],["beta.io",2]]', 'without names', ['{"column_1":"acme.com","column_2":1}']],
    ['[["a"],["x","y"]]', 'the first one', ['{"a":"x","column_2":"y"}']],
    ['[["a","a","column_2"],["1","2","3"]]', 'the first one', ['{"a":"1","column_2_":"2","column_2":"3"}']],
    [symbols, 'without names', ['{"column_1":"AAPL","column_2":"x"}']],
    [
      '{"t":{"data":[["Acme","x"],["Beta","y"]],"columns":[{"name":"a"},{"name":"b"}]}}',
      'beside them',
      ['{"a":"Acme","b":"x"}', '{"a":"Beta","b":"y"}'],
    ],
    [
      '{"columns":["a","b"],"data":[["Acme","x"],["Beta","y"],["Gamma","z","more"]]}',
      'beside them',
      ['{"a":"Acme","b":"x"}', '{"a":"Gamma","b":"z","column_3":"more"}'],
    ],
    ['{"columns":["a"],"data":[["A","x"],["B","y"]]}', 'without names', ['{"column_1":"A","column_2":"x"}']],
  ])('may hold arrays: %s, %s', async (text, said, expected) => {
    const { input, rows } = await readContent(folder, text, { name: 'a.json' });
    expect(input.warnings.join()).toContain(said);
    expect(rows.map(({ raw }) => raw)).toEqual(expect.arrayContaining(expected));
    expect(rows.map(({ problem }) => problem)).toEqual(rows.map(() => null));
  });

  it('has the names of its arrays once, and rows without a place in it as invalid', async () => {
    const rest = Array.from({ length: 200 }, (_, at) => `["n${at}"]`).join();
    const { rows } = await readContent(folder, `[["a"],${rest},["x","y"],{"a":1},[1,]]`, { name: 'a.json' });
    expect(rows).toHaveLength(203);
    expect(rows.slice(-3).map(({ problem }) => problem)).toEqual([
      { code: 'cell_count', cells: 2, columns: 1 },
      { code: 'not_array' },
      { code: 'not_json', place: 'element' },
    ]);
  });

  it.each([
    ['{"a":[1.10,12345678901234567890],"b":["x",null]}', { head: '', tail: '' }],
    ['{"a":{"0":1.10,"7":12345678901234567890},"b":{"7":null,"0":"x"}}', { head: '', tail: '' }],
    [
      '{"n":1,"data":{"a":[1.10,12345678901234567890],"b":["x",null]},"e":2}\n',
      { head: '{"n":1,"data":', tail: ',"e":2}\n' },
    ],
  ])('may hold columns, which become rows: %s', async (text, { head, tail }) => {
    const { input, rows } = await readContent(folder, text, { name: 'a.json' });
    expect(input.warnings.join()).toContain('holds columns');
    expect(rows.map(({ raw }) => raw)).toEqual(['{"a":1.10,"b":"x"}', '{"a":12345678901234567890,"b":null}']);
    expect(input.content().around).toEqual(head === '' ? null : { head, tail });
  });

  it('by column is read whole, or else the error says how to write it by row', async () => {
    const column = (name: string, count: number) => `"${name}":[${`"${'x'.repeat(99)}",`.repeat(count)}1]`;
    const { rows } = await readContent(folder, `{${column('a', 20_000)},${column('b', 20_000)}}`);
    expect(rows).toHaveLength(20_001);
    const text = `{${column('a', 60_000)},${column('b', 60_000)},${column('c', 60_000)}}`;
    await expect(readContent(folder, text)).rejects.toThrow(/by column.*orient='records'/);
    await expect(readContent(folder, '{"a":[1,2],"b":[3,4]} x', { name: 'a.json' })).rejects.toThrow(
      'damaged',
    );
  });

  it('keeps an element that is too long from filling memory', async () => {
    const { rows } = await readContent(folder, `[{"a":"${'x'.repeat(3_000_000)}"},{"a":"ok"}]`);
    expect(rows.map(({ problem }) => problem)).toEqual([{ code: 'large_record' }, null]);
    expect(rows[0]?.raw.length).toBeLessThan(1_100_000);
  });

  it.each([
    ['[{"a":1}', 'the array does not end'],
    ['[{"a":1}]]', 'text follows the array'],
    ['[{"a":1}] x', 'text follows the array'],
    ['[{"a":1}][{"a":1}]', 'text follows the array'],
    ['[{"a":1}}', 'a stray }'],
    ['[]', 'no element of the input is a JSON object: '],
    ['[{},{}]', 'no element of the input is a JSON object with members: '],
    ['{}', 'no line of the input is a JSON object with members: '],
    ['[{"a":"x]', 'the array does not end'],
  ])('%s is refused', async (text, words) => {
    await expect(readContent(folder, text, { name: 'a.json' })).rejects.toThrow(words);
  });
});

describe('an archive', () => {
  const csv = 'website\na.com\n';

  it.each<[string, Record<string, string | Buffer>, string]>([
    ['CSV', { 'list/a.csv': csv, '__MACOSX/list/._a.csv': 'x', 'readme.md': 'x' }, 'csv'],
    ['compressed CSV', { 'a.csv.gz': gzipSync(csv) }, 'csv'],
    ['a JSON array', { 'a.json': '[{"website":"a.com"}]' }, 'json'],
  ])('with %s is read as that', async (_, parts, format) => {
    const { input, rows } = await readContent(folder, await zipOf(parts), { name: 'a.zip' });
    expect(input.shape.format).toBe(format);
    expect(rows.map(({ cells }) => cells)).toEqual([['a.com']]);
    expect(input.name).toMatch(/a\.zip\/.*a\.(csv|json)/);
  });

  it('with a workbook is read as that', async () => {
    const cell = (text: string) => `<row><c t="str"><v>${text}</v></c></row>`;
    const book = await workbookOf(cell('website') + cell('a.com'));
    const { rows } = await readContent(folder, await zipOf({ 'a.xlsx': book }), { name: 'a.zip' });
    expect(rows.map(({ cells }) => cells)).toEqual([['a.com']]);
  });

  it.each<[Record<string, string>, string]>([
    [{ 'a.csv': csv, 'b.csv': csv }, 'a ZIP archive with 2 tables (a.csv, b.csv)'],
    [{ 'a.pdf': 'x' }, 'a ZIP archive without a table (a.pdf)'],
    [{}, 'a ZIP archive without a table (nothing)'],
  ])('%j is refused', async (parts, words) => {
    await expect(readContent(folder, await zipOf(parts), { name: 'a.zip' })).rejects.toThrow(words);
  });
});
