import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonlReader, memberTexts } from '../../src/intake/jsonl-rows.js';

function read(text: string) {
  const reader = createJsonlReader({ mode: 'lf', passLines: 0 });
  return { rows: reader.push(text, true), columns: reader.columns(), notes: reader.notes() };
}

describe('rows of JSON lines', () => {
  it('have every key as a column, in the order in which they are first seen', () => {
    const { rows, columns } = read('{"a":"x","b":null}\r\n{"c":true,"a":"y"}\n');
    expect(columns).toEqual(['a', 'b', 'c']);
    expect(rows.map((it) => it.cells)).toEqual([
      ['x', ''],
      ['y', '', 'true'],
    ]);
    expect(rows[0]?.raw).toBe('{"a":"x","b":null}');
  });

  it('keep numbers and nested values as they are written', () => {
    const { rows } = read('{"n":12345678901234567890,"m":1.10,"e":1E3,"o":{"x": 1.0},"l":[ "}" ]}');
    expect(rows[0]?.cells).toEqual(['12345678901234567890', '1.10', '1E3', '{"x": 1.0}', '[ "}" ]']);
  });

  it.each([
    ['{"a":1', 'the line is not valid JSON'],
    ['{"a":1} x', 'the line is not valid JSON'],
    ["{'a':1}", 'the line is not valid JSON'],
    ['[1]', 'the line is not a JSON object'],
    ['"text"', 'the line is not a JSON object'],
    ['null', 'the line is not a JSON object'],
    ['{"a":"\0"}', 'a NUL character'],
    [`{"a":"${'x'.repeat(65_537)}"}`, 'a value is larger than 64 KiB'],
    [`{"a":"${'x'.repeat(1024 * 1024)}"}`, 'the record is larger than 1 MiB; only its beginning is kept'],
  ])('that are bad are marked (%#), and the next one is read', (bad, problem) => {
    const { rows } = read(`${bad}\n{"a":"ok"}\n`);
    expect(rows[0]).toMatchObject({ number: 1, line: 1, cells: [], problem });
    expect(rows[1]).toMatchObject({ number: 2, line: 2, cells: ['ok'], problem: null });
  });

  it('are not made of blank lines', () => {
    const { rows, notes } = read('\n{"a":1}\n  \n{"a":2}\n\n');
    expect(rows.map((it) => it.line)).toEqual([2, 4]);
    expect(notes).toEqual(['blank lines: 3, not records, left out']);
  });

  it('may have any key, __proto__ too', () => {
    const { columns, rows } = read('{"__proto__":"a","constructor":"b","":"c"}');
    expect(columns).toEqual(['__proto__', 'constructor', '']);
    expect(rows[0]?.cells).toEqual(['a', 'b', 'c']);
  });

  it('take the last of equal keys, as JSON.parse does', () => {
    expect(read('{"a":1,"a":2}').rows[0]?.cells).toEqual(['2']);
  });

  it('have a limited number of columns', () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `{"k${i}":"${i}"}`);
    const { columns, rows, notes } = read(lines.join('\n'));
    expect(columns).toHaveLength(4096);
    expect(rows).toHaveLength(5000);
    expect(notes[0]).toContain('4096');
  });
});

describe('members of a JSON object', () => {
  it('are the ones that JSON.parse finds, whatever the object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (object, indent) => {
        const json = JSON.stringify(object, null, indent).replaceAll('\n', ' ');
        const texts = memberTexts(json);
        expect(texts.map(([key]) => key)).toEqual(Object.keys(object));
        const values = texts.map(([key, text]) => {
          const value = object[key];
          return typeof value === 'string' ? text : value === null ? null : JSON.parse(text);
        });
        expect(values).toEqual(JSON.parse(JSON.stringify(Object.values(object))));
      }),
    );
  });
});
