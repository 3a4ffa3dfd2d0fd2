import { describe, expect, it } from 'vitest';
import { columnFlag, columnLabel, parseColumnRequest } from '../../src/identify/column-choice.js';

describe('a --column', () => {
  it.each([
    ['website', 'website', null],
    ['website:domain', 'website', 'domain'],
    ['Website URL:Domain', 'Website URL', 'domain'],
    ['a:b', 'a:b', null],
    ['a:b:isin', 'a:b', 'isin'],
    ['a:', 'a:', null],
    [':domain', ':domain', null],
    ['website:url', 'website:url', null],
    ['3:auto', '3', 'auto'],
    ['position:3:auto', 'position:3', 'auto'],
    ['', '', null],
  ] as const)('%j names %j as %j', (text, name, kind) => {
    expect(parseColumnRequest(text)).toEqual({ name, kind });
  });

  it.each([
    [['website'], 0, '--column website:domain'],
    [['Company URL'], 0, "--column 'Company URL:domain'"],
    [["Client's site"], 0, "--column 'Client'\\''s site:domain'"],
    [['a', ''], 1, '--column position:2:domain'],
    [['url', 'name', 'URL '], 2, '--column position:3:domain'],
    [['2', '1', '2'], 1, '--column 1:domain'],
    [['2', '1', '2'], 2, '--column position:3:domain'],
    [['position:2', 'name'], 0, '--column position:1:domain'],
    [['price', 'price:domain'], 0, '--column position:1:domain'],
  ] as const)('of %j is written so that a shell and the program understand it', (columns, column, flag) => {
    expect(columnFlag(columns, column, 'domain')).toBe(flag);
  });

  it('shows a column by its position when its name is blank or not the only one', () => {
    expect(columnLabel(['url', '', 'URL'], 1)).toBe('number 2');
    expect(columnLabel(['url', '', 'URL'], 2)).toBe('number 3');
    expect(columnLabel(['url', ''], 0)).toBe('"url"');
    expect(columnLabel(['0', '1'], 1)).toBe('"1" (number 2)');
  });
});
