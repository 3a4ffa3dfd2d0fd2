/** One JSON array as a table, and a table in a ZIP archive. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ElementSplitter } from '../../src/intake/element-splitter.js';
import { createFolder, type Folder, readContent } from '../formats/reading.js';
import { workbookOf, zipOf } from '../support/workbooks.js';

let folder: Folder;
beforeAll(async () => {
  folder = await createFolder();
});
afterAll(() => folder.remove());

/** The elements, when the text comes in pieces of this size. */
function split(text: string, size = text.length) {
  const splitter = new ElementSplitter('a.json', 0);
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
    expect(input.columns()).toEqual(['site', 'n', 'x']);
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
    expect(input.columns()).toEqual(['_key', 'a']);
    expect(rows.map(({ raw }) => raw)).toEqual([
      '{"_key":"0","a": 1}',
      '{"_key":"a\\"b","a":3}',
      '{"_key":"3","a": 2}',
    ]);
    expect(input.around()).toEqual({ head: '{"n": 1, "data": ', tail: ', "m": 2}' });
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
    ['[]', 'no element of the input is a JSON object'],
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
