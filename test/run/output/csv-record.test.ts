import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellText, sanitizeCell, splitRecord, writeCells } from '../../../src/run/output/csv-record.js';

const delimiters = fc.constantFrom(',', ';', '|', '\t', '||');
const character = fc.constantFrom('a', 'é', '"', ',', ';', '|', '\t', '\n', '\r', ' ', '=');
const cells = fc.array(fc.string({ unit: character }), { minLength: 2, maxLength: 6 });

describe('splitRecord', () => {
  it.each([
    ['a,b', ['a', 'b']],
    ['', ['']],
    [',', ['', '']],
    ['a,', ['a', '']],
    ['"a,b",c', ['"a,b"', 'c']],
    ['"a""b","",c', ['"a""b"', '""', 'c']],
    ['"a\r\nb",c', ['"a\r\nb"', 'c']],
    ['5" pipe,"x"', ['5" pipe', '"x"']],
    [' "a,b"', [' "a', 'b"']],
    ['"""",x', ['""""', 'x']],
  ])('finds in %j the cells %j', (raw, expected) => {
    expect(splitRecord(raw, ',')).toEqual(expected);
  });

  it('returns cells that join to the record, with the texts that csv-parse reads', () => {
    fc.assert(
      fc.property(cells, delimiters, fc.boolean(), (texts, delimiter, quoted) => {
        const raw = stringify([texts], { delimiter, eof: false, quoted });
        const split = splitRecord(raw, delimiter);
        expect(split.join(delimiter)).toBe(raw);
        expect(split.map(cellText)).toEqual(parse(`${raw}\n`, { delimiter, record_delimiter: '\n' })[0]);
        expect(split.map(cellText)).toEqual(texts);
      }),
    );
  });
});

describe('writeCells', () => {
  it('writes what csv-stringify writes', () => {
    fc.assert(
      fc.property(cells, delimiters, (texts, delimiter) => {
        expect(writeCells(texts, delimiter)).toBe(stringify([texts], { delimiter, eof: false }));
      }),
    );
  });

  it('quotes only where needed', () => {
    expect(writeCells(['a', '', 'b,c', 'd"e', 'f\rg', ' h '], ',')).toBe('a,,"b,c","d""e","f\rg", h ');
  });
});

it.each([
  ['a\0b', 'ab'],
  ['two\nlines', 'two\nlines'],
  ['x\n'.repeat(100), 'x\n'.repeat(100)],
  ['x\r\n'.repeat(101), 'x '.repeat(101)],
  ['y'.repeat(16_000), 'y'.repeat(16_000)],
  ['y'.repeat(70_000), `${'y'.repeat(16_000)}…`],
])('sanitizeCell makes a cell readable again (case %#)', (cell, expected) => {
  expect(sanitizeCell(cell)).toBe(expected);
});
