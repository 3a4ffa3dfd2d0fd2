import { describe, expect, it } from 'vitest';
import { columnFlag, columnLabel } from '../../src/identify/find-column.js';

describe('a --column', () => {
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
