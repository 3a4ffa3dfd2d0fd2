import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/core/errors.js';
import { jsonKey } from '../../../src/core/table.js';
import { earlierCells, isEarlierValue, withoutOurs } from '../../../src/run/output/earlier-key.js';

const EARLIER = '{"status":"invalid","identifier":null,"fetchedAt":null}';

describe('withoutOurs', () => {
  it('returns the original line, and the value of an earlier run', () => {
    const raw = EARLIER.replace('}', ',"raw":"a\\"b"}');
    const taken = withoutOurs(`{"a":1.0,"brand":${raw},"b":2}`, 'brand');
    expect(taken.line).toBe('{"a":1.0,"b":2}');
    expect(taken.carried).toBe('"a\\"b"');
    expect(taken.members.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(withoutOurs(`{"brand":${EARLIER}}`, 'brand').carried).toBeNull();
  });

  it('leaves a line without the key unchanged, and stops at a value of the user', () => {
    expect(withoutOurs('{"a":{"brand":1}}', 'brand').line).toBe('{"a":{"brand":1}}');
    expect(() => withoutOurs('{"brand":"Nike"}', 'brand')).toThrow(ConfigError);
  });
});

it.each([
  [EARLIER, true],
  ['{"status":"matched"}', false],
  ['"Nike"', false],
  ['null', false],
  ['{"a":{"status":1,"identifier":1,"fetchedAt":1}}', false],
])('isEarlierValue of %s is %s', (value, isOurs) => {
  expect(isEarlierValue(value)).toBe(isOurs);
});

it.each([
  ['brand_', 'brand'],
  ['x-', 'x'],
  ['a_b__', 'a_b'],
  ['', 'brand'],
  ['_', 'brand'],
])('jsonKey of the prefix %j is %s', (prefix, key) => {
  expect(jsonKey(prefix)).toBe(key);
});

it('a reason of an earlier run keeps at most a thousand whole characters', () => {
  const problemOf = earlierCells(['brand_raw', 'brand_error'], [0, 1], 'brand_');
  const row = { number: 1, line: 2, raw: '', problem: null };
  const read = (error: string) => problemOf({ ...row, cells: ['a,"b', error] });
  expect(read(`x${'🧸'.repeat(5_000)}`)).toEqual({ code: 'unread_earlier', text: `x${'🧸'.repeat(499)}` });
  expect(read('')).toEqual({ code: 'unread_earlier' });
});
