import { describe, expect, it } from 'vitest';
import { defuse } from '../../src/collate/formulas.js';

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
    ['-', "'-"],
    ['-1.5.2', "'-1.5.2"],
    ['-1\n', "'-1\n"],
    ['a=1', 'a=1'],
    [' =1', ' =1'],
    ['', ''],
  ])('with "ours" makes of %j %j', (cell, defused) => {
    expect(defuse(cell, 'ours')).toBe(defused);
  });

  it('with "all" spares neither numbers nor text repeated from the user', () => {
    expect(defuse('-1.5', 'all')).toBe("'-1.5");
    expect(defuse('=1+1', 'all', true)).toBe("'=1+1");
  });

  it('with "ours" leaves text repeated from the user as it is', () => {
    expect(defuse('=1+1', 'ours', true)).toBe('=1+1');
  });

  it('with "none" leaves everything as it is', () => {
    expect(defuse('=1+1', 'none')).toBe('=1+1');
  });
});
