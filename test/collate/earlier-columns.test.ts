import { describe, expect, it } from 'vitest';
import { findEarlierColumns, isEarlierValue, jsonKey } from '../../src/collate/earlier-columns.js';
import { NeverStartError } from '../../src/errors.js';

const OURS = ['brand_status', 'brand_identifier', 'brand_fetched_at'];

describe('findEarlierColumns', () => {
  it.each([
    [['id', 'website'], []],
    [
      ['id', ...OURS],
      [1, 2, 3],
    ],
    [
      ['brand_name', ...OURS, 'id', 'brand_raw'],
      [0, 1, 2, 3, 5],
    ],
    [['brand', 'brandname', 'Brand_x'], []],
  ])('of %j are %j', (columns, positions) => {
    expect(findEarlierColumns(columns, 'brand_', 'csv')).toEqual(positions);
  });

  it.each([[['brand_name']], [['id', 'brand_status', 'brand_identifier']]])(
    'stops at %j, which are the customer’s, and names --prefix',
    (columns) => {
      expect(() => findEarlierColumns(columns, 'brand_', 'csv')).toThrow(NeverStartError);
      expect(() => findEarlierColumns(columns, 'brand_', 'csv')).toThrow('--prefix');
      expect(findEarlierColumns(columns, 'enriched_', 'csv')).toEqual([]);
    },
  );

  it('of JSON lines is our one key', () => {
    expect(findEarlierColumns(['brand_name', 'brand', 'id'], 'brand_', 'jsonl')).toEqual([1]);
    expect(findEarlierColumns(['brand_name', 'id'], 'brand_', 'jsonl')).toEqual([]);
  });
});

describe('isEarlierValue', () => {
  it.each([
    ['{"status":"matched","identifier":null,"fetchedAt":null}', true],
    ['{"status":"matched"}', false],
    ['"Nike"', false],
    ['null', false],
    ['{"a":{"status":1,"identifier":1,"fetchedAt":1}}', false],
  ])('of %s is %s', (value, isOurs) => {
    expect(isEarlierValue(value)).toBe(isOurs);
  });
});

describe('jsonKey', () => {
  it.each([
    ['brand_', 'brand'],
    ['x-', 'x'],
    ['a_b__', 'a_b'],
    ['', 'brand'],
    ['_', 'brand'],
  ])('of the prefix %j is %s', (prefix, key) => {
    expect(jsonKey(prefix)).toBe(key);
  });
});
