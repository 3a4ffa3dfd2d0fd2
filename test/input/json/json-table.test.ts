import { describe, expect, it } from 'vitest';
import { sayPhrase } from '../../../src/core/phrase.js';
import { findJsonTable, isCutBeforeRows } from '../../../src/input/json/json-table.js';
import { sniffTable } from '../../../src/input/text/sniff-table.js';
import { READING } from '../reading.js';

const find = (text: string, records: string | null = null, isWhole = true) =>
  findJsonTable({ name: 'a.json', text, isWhole }, records);

describe('the table in a JSON text', () => {
  const FIELDS = '{"fields": [{"name": "a"}], "data": ';

  it.each([
    ['{"companies": [{"a": 1}]}', 'companies', '{"companies": '],
    ['{"data": {"items": [{"a": 1}]}}', 'data.items', '{"data": {"items": '],
    ['{"a]": "[{", "b": [{"c": "}]"}]}', 'b', '{"a]": "[{", "b": '],
    ['{"few": [{"a": 1}], "many": [{"a": 1}, {"a": 2}]}', 'many', '{"few": [{"a": 1}], "many": '],
    ['{"ids": [1, 2, 3, 4, 5, 6], "rows": [{}]}', 'rows', '{"ids": [1, 2, 3, 4, 5, 6], "rows": '],
    ['{"rows": [{"a": [{"b": 1}, {"b": 2}]}]}', 'rows', '{"rows": '],
    ['{"short": [{"a": 1}], "cut": [{"a"', 'cut', '{"short": [{"a": 1}], "cut": '],
    ['[{"a": 1}]', '', ''],
    ['{"a": {"b": 1}, "c": ["x", "y"]}', 'c', '{"a": {"b": 1}, "c": '],
    ['{"a": {"x": 1}, "b": {"x": 2}}', '', ''],
    ['{"n": 1, "data": {"1": {"x": 1}, "2": {"x": 2}}}', 'data', '{"n": 1, "data": '],
    ['{"A": {"x": 1, "y": [{"z": 1}]}, "B": {"x": 2, "y": [{"z": 1}]}, "C": {"x": 3, "y": [{"z"', '', ''],
    ['{"US": {"rows": [{"a": 1}, {"a": 2}]}, "DE": {"rows": [{"a": 3}]}}', 'US.rows', '{"US": {"rows": '],
  ])('of %j is %j', (text, path, head) => {
    expect(find(text)).toMatchObject({ path, head });
  });

  it('is an object of rows only where these have the same columns', () => {
    expect(find('{"a": {"x": 1}, "b": {"y": 2}}')).toBeNull();
    expect(find('{"a": {"x": 1}}')).toBeNull();
    expect(find('{"site": "https://acme.com", "shop": "https://shop.io", "email": "a@acme.com"}')).toBeNull();
    expect(find('{"data": {"a": {"x": 1}}}', 'data')).toMatchObject({ path: 'data', rows: 'keyed' });
  });

  it.each([
    ['[["a", "b"], ["x", 1]]', 'arrays', '', ''],
    ['{"columns": ["a", "b"], "data": [[1, "x"]]}', 'arrays', 'data', '{"columns": ["a", "b"], "data": '],
    [`${FIELDS}[["x"]]}`, 'arrays', 'data', FIELDS],
    [`${FIELDS}[{"a":1}]}`, 'objects', 'data', FIELDS],
    ['{"fields": [{"name": "a"}]}', 'objects', 'fields', '{"fields": '],
    ['{"a": [1, 2], "b": ["x", "y"]}', 'columns', '', ''],
    ['{"a": {"0": 1, "1": 3}, "b": {"0": 2, "1": 4}}', 'columns', '', ''],
    ['{"n": 1, "data": {"a": {"0": 1, "2": 3}}}', 'columns', 'data', '{"n": 1, "data": '],
    ['{"1": {"0": "x", "1": 3}, "2": {"0": "y", "1": 4}}', 'keyed', '', ''],
    ['{"a": ["x", "y"], "b": ["z"]}', 'bare', 'a', '{"a": '],
    ['{"acme.com": {"0": 1, "1": 2}, "beta.com": {"0": 4, "1": 2}}', 'keyed', '', ''],
    ['{"a": {"2023": 1, "2024": 2}, "b": {"2023": 4, "2024": 2}, "c": {"2023": 4}}', 'keyed', '', ''],
    ['{"a": {"2023": 1, "2024": 2, "2025": 2}, "b": {"2023": 4}}', 'columns', '', ''],
    ['{"a": ["x", "y"], "b": ["z", "y"], "c": 1}', 'bare', 'a', '{"a": '],
    ['{"Acme": "https://acme.com", "Beta": "beta.io", "Gamma": "gamma.org"}', 'map', '', ''],
    ['{"acme.com": "Acme", "beta.io": null, "gamma.org": 7, "delta.d', 'map', '', ''],
  ])('of %j is one of %s', (text, rows, path, head) => {
    expect(find(text)).toMatchObject({ rows, path, head, others: [] });
  });

  it('has rows with keys rather than longer arrays and columns, which are named', () => {
    const rows = '"companies": [{"a": 1}]';
    const history = '"history": [["2024", "export"], ["2025", "export"]]';
    expect(find(`{${rows}, ${history}}`)).toMatchObject({ path: 'companies', others: ['history'] });
    expect(find(`{${rows}, "stats": {"day": [1, 2, 3, 4, 5, 6], "n": [1, 2, 3, 4, 5, 6]}}`)).toMatchObject({
      path: 'companies',
    });
  });

  it('may begin after the text, and is searched there; else an error names a command', () => {
    const isCut = (text: string, records: string | null = null) =>
      isCutBeforeRows({ name: 'a.json', text }, records);
    expect(isCut('{"meta": {"a": 1')).toBe(true);
    expect(isCut('{"filters": [{"a": 1}], "meta": {"b"')).toBe(true);
    expect(isCut('{"meta": {"fields": {"a": {"x": 1}, "b": {"x": 1}, "c": {')).toBe(true);
    expect(isCut('{"rows": [{"a": 1}, {')).toBe(false);
    expect(isCut('{"rows": [{"a": 1}, {', 'others')).toBe(true);
    expect(isCut('{"0": {"a": 1}, "1": {"a": 1}, "2": {')).toBe(false);
    expect(isCut('{"a": {"0": 1, "1": 1}, "b": {')).toBe(true);
    expect(() => find('{"meta": {"a": 1', 'my rows', false)).toThrow(
      `jq -c '.["my rows"][]' a.json > rows.jsonl`,
    );
  });

  it.each(['{"a": 1}', '{"a": []}', '{"a": [[1]]}', ''])('is missing in %j', (text) => {
    expect(find(text)).toBeNull();
  });

  it('is the one at the path that the user names; an error lists the others', () => {
    const text = '{"many": [{}, {}], "few": [{}]}';
    expect(find(text, 'few')).toMatchObject({ path: 'few', others: ['many'] });
    expect(() => find(text, 'none')).toThrow('use one of many, few');
  });

  it('with comments is refused with that reason', () => {
    expect(() => find('{\n  // ours\n  "a": [{}]\n}')).toThrow('JSON with comments');
    const text = '{"n": "x", "a": [{"url": "https://acme.com/\\"//*", "n": 1}, {"url": "//a.io"}]}';
    expect(find(text)).not.toBeNull();
    // What a cut leaves open is a string.
    for (let end = text.length; end > 0; end -= 1) find(text.slice(0, end), null, false);
  });
});

describe('the format of a JSON text', () => {
  it.each([
    ['{"a":1}\n{"a":2}\n', 'jsonl'],
    ['{"website":"acme.com","tags":[{"x":1}]}\n', 'jsonl'],
    ['{"results":[{"website":"acme.com"},{"website":"beta.io"}]}', 'json'],
    ['{"0":{"website":"acme.com"},"1":{"website":"beta.io"}}', 'json'],
    ['{\n "results": [\n {"website": "acme.com"}\n]}', 'json'],
    ['["acme.com", "beta.io"]', 'json'],
    ['[["a", "b"], [1, 2]]', 'json'],
    ['{"values": [["a"], ["b"]]}', 'json'],
    ['{"name": "Acme", "offices": [["Berlin", "DE"], ["Paris", "FR"]]}', 'jsonl'],
    ['{"name": "Acme", "stats": {"day": [1, 2, 3, 4, 5, 6], "n": [1, 2, 3, 4, 5, 6]}}', 'jsonl'],
    ['{"a": [1, 2], "b": [3, 4]}', 'json'],
    ['{"a": [1, 2], "b": [3, 4]}\n{"a": [1, 2], "b": [3, 4]}', 'jsonl'],
    ["['a', 'b'],x\n", 'csv'],
    ['[[x]],y\n', 'csv'],
    ['{1234-5678},acme.com\n', 'csv'],
  ])('%j is %s', (text, format) => {
    const layout = sniffTable({ name: 'a.txt', text, isWhole: true }, READING);
    expect(layout.format).toBe(format);
  });

  it('says where the rows are, and where others are', () => {
    const text = '{"few": [{"a": 1}], "many": [{"a": 1}, {"a": 2}]}';
    const { warnings } = sniffTable({ name: 'a.json', text, isWhole: true }, READING);
    expect(warnings.map((each) => sayPhrase(each, 'flags'))).toEqual([
      'the rows are read from the array "many"',
      'other tables: "few"; choose with --records',
    ]);
  });
});

describe('texts that were made to keep a reader busy', () => {
  const find = (text: string) => findJsonTable({ name: 'a.json', text, isWhole: false }, null);

  it.each(['{"a":', '{"a":1,"b":'])('objects around a table are counted: %s', (level) => {
    expect(find(`${level.repeat(64)}[{"website":"acme.com"}`)).toMatchObject({ depth: 64 });
    expect(() => find(level.repeat(90_000))).toThrow(/nested more than 64 levels deep/);
  });

  it('a string that is cut is looked at once, whatever it escapes', () => {
    expect(find(`{"a":1,"b":"${'\\"'.repeat(1_000_000)}`)).toBeNull();
  });

  it('members are compared by their keys however many there are', () => {
    const keys = Array.from({ length: 50_000 }, (_, at) => `"k${at}":${at}`);
    const text = `{${['a', 'b', 'c'].map((name) => `"${name}":{${keys}}`)}}`;
    expect(find(text)).toMatchObject({ rows: 'keyed' });
  });
});
