import { describe, expect, it } from 'vitest';
import { jsonOfCell, momentShown, serialOfIso, textOfCell } from '../../src/core/typed-cell.js';

it.each([
  ['General', null],
  ['0.00', null],
  ['#,##0 "days"', null],
  ['[Red]0.0%', null],
  ['@', null],
  ['[h]:mm:ss', null],
  ['[mm]:ss', null],
  ['"year" 0', null],
  ['mm-dd-yy', { date: true, time: false }],
  ['[$-407]dd.mm.yyyy;@', { date: true, time: false }],
  ['mmm', { date: true, time: false }],
  ['m/d/yy h:mm', { date: true, time: true }],
  ['yyyy\\-mm\\-dd\\Thh:mm:ss', { date: true, time: true }],
  ['h:mm AM/PM', { date: false, time: true }],
  ['mm:ss.0', { date: false, time: true }],
])('the parts of a date that a number format shows: %s', (code, shown) => {
  expect(momentShown(code)).toEqual(shown);
});

const codes = ['General', 'yyyy-mm-dd', 'yyyy-mm-dd hh:mm', 'hh:mm:ss', '0.00'];
const from1900 = { codes, is1904: false };
const from1904 = { codes, is1904: true };

describe('a cell as text', () => {
  it.each([
    [{ n: 45_306, f: 1 }, '2024-01-15'],
    [{ n: 45_306.4375, f: 2 }, '2024-01-15T10:30:00'],
    [{ n: 45_306, f: 2 }, '2024-01-15T00:00:00'],
    [{ n: 0.5, f: 3 }, '12:00:00'],
    [{ n: 1, f: 1 }, '1900-01-01'],
    [{ n: 59, f: 1 }, '1900-02-28'],
    [{ n: 60, f: 1 }, '1900-02-29'],
    [{ n: 61, f: 1 }, '1900-03-01'],
    [{ n: 2_958_465, f: 1 }, '9999-12-31'],
    [{ n: 2_958_466, f: 1 }, '2958466'],
    [{ n: -1, f: 1 }, '-1'],
    [{ n: 1.5, f: 4 }, '1.5'],
    [{ n: '12345678901234567890' }, '12345678901234567890'],
    [{ s: '007', f: 0 }, '007'],
    [{ e: '#N/A' }, '#N/A'],
    [{ u: 'https://a.example' }, 'https://a.example'],
    [true, 'TRUE'],
    [null, ''],
  ])('%j is %s', (cell, text) => {
    expect(textOfCell(cell, from1900)).toBe(text);
  });

  it('counts from 1904 if the workbook does', () => {
    expect(textOfCell({ n: 0, f: 1 }, from1904)).toBe('1904-01-01');
    expect(textOfCell({ n: 43_844.5, f: 2 }, from1904)).toBe('2024-01-15T12:00:00');
  });

  it('is JSON with its type', () => {
    const cells = [null, 'a"b', 1.5, false, { n: '123456789012345678' }, { n: 45_306, f: 1 }, { n: 2, f: 4 }];
    expect(cells.map((cell) => jsonOfCell(cell, from1900)).join()).toBe(
      'null,"a\\"b",1.5,false,123456789012345678,"2024-01-15",2',
    );
  });
});

it.each([
  ['2024-01-15', 45_306, 43_844],
  ['2024-01-15T10:30:00', 45_306.4375, 43_844.4375],
  ['2024-01-15T10:30:00Z', 45_306.4375, 43_844.4375],
  ['2024-01-15T12:30:00+02:00', 45_306.4375, 43_844.4375],
  ['1900-01-01', 1, null],
  ['1900-02-28T12:00:00', 59.5, null],
  ['1900-03-01', 61, null],
  ['1899-12-31', null, null],
  ['10000-01-01', null, null],
  ['soon', null, null],
])('the serial number of a moment: %s', (iso, serial, serial1904) => {
  expect(serialOfIso(iso, false)).toBe(serial);
  expect(serialOfIso(iso, true)).toBe(serial1904);
});
