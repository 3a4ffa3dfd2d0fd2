import { describe, expect, it } from 'vitest';
import { escapeFormula, escapeRecord } from '../../../src/run/output/csv-record.js';

describe('defuse', () => {
  it.each([
    ['=1+1', "'=1+1"],
    ['+1 555 1234', "'+1 555 1234"],
    ['-2+3', "'-2+3"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', "'\r=1"],
    ['\uff1d1', "'\uff1d1"],
    ['-1.5', '-1.5'],
    ['+3e5', '+3e5'],
    ['-.5', '-.5'],
    ['-', '-'],
    ['--', "'--"],
    ['-1.5.2', "'-1.5.2"],
    ['-1\n', "'-1\n"],
    ['a=1', 'a=1'],
    ['a\n=1', 'a\n=1'],
    ['\n=1', "'\n=1"],
    ['\r\n-1', "'\r\n-1"],
    ['\nplain', "'\nplain"],
    [' =1', "' =1"],
    ['\u00a0=1', "'\u00a0=1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['\u200b\u2028+1 x', "'\u200b\u2028+1 x"],
    ['\v\f@x', "'\v\f@x"],
    ['\u0001=1', "'\u0001=1"],
    ['\ufe66x', "'\ufe66x"],
    [' plain', ' plain'],
    ['', ''],
  ])('with "ours" turns %j into %j', (cell, escaped) => {
    expect(escapeFormula(cell, 'ours')).toBe(escaped);
  });

  it.each([
    ['all', '-1.5', false, "'-1.5"],
    ['all', '=1+1', true, "'=1+1"],
    ['ours', '=1+1', true, '=1+1'],
    ['none', '=1+1', false, '=1+1'],
  ] as const)('with "%s" turns %j, repeated from the user: %s, into %j', (mode, cell, isTheirs, escaped) => {
    expect(escapeFormula(cell, mode, isTheirs)).toBe(escaped);
  });
});

it('escapeRecord changes only formulas, and keeps their quotes', () => {
  expect(escapeRecord('1,"=a,b", x ,=SUM(A1),"say ""=""","""=1",-5,"\n=1"', ',')).toBe(
    `1,"'=a,b", x ,'=SUM(A1),"say ""=""","""=1",'-5,"'\n=1"`,
  );
});
