/** Where a text stops being JSON. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findJsonFault } from '../../src/core/json-text.js';

it.each([
  ['a comma after the last one', '{\n  "a": 1,\n}', 3, 1],
  ['a missing comma', '{"a": 1 "b": 2}', 1, 9],
  ['a comment', '{\r\n  // settings\r\n}', 2, 3],
  ['a key without quotes', '{a: 1}', 1, 2],
  ['single quotes', "{'a': 1}", 1, 2],
  ['a missing end', '{"a": [1, 2', 1, 12],
  ['a string that does not end', '{"a": "b}', 1, 7],
  ['a number with a nought before it', '[01]', 1, 3],
  ['something behind the end', '{} x', 1, 4],
  ['the wrong bracket', '{"a": [1}', 1, 9],
  ['nothing', '', 1, 1],
])('%s', (_, text, line, column) => {
  expect(findJsonFault(text)).toEqual({ line, column });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('agrees with the parser of the language on what is JSON', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\u00e9"',
    '"\u007f"',
    '-1.5e+3',
    '0',
    'null',
    ' ',
    '"',
  );
  const texts = fc.oneof(
    fc.json(),
    fc.array(pieces, { maxLength: 9 }).map((parts) => parts.join('')),
    fc.tuple(fc.json(), fc.nat(), fc.string({ unit: 'binary', maxLength: 2 })).map(([json, at, noise]) => {
      const cut = at % (json.length + 1);
      return json.slice(0, cut) + noise + json.slice(cut);
    }),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(findJsonFault(text) === null).toBe(isJson(text));
    }),
    { numRuns: 2_000 },
  );
});
