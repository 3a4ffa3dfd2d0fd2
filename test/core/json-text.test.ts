import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addMember,
  cellOfJson,
  cutMembers,
  findJsonFault,
  membersOf,
  withoutComments,
} from '../../src/core/json-text.js';
import { attempt } from '../../src/core/lifecycle.js';
import { anyText, CASES, casesOf } from '../support/properties.js';

function cut(text: string, key: string): string {
  return cutMembers(text, membersOf(text) ?? [], (member) => member.key === key);
}

const objects = fc.dictionary(
  fc.string({ unit: fc.constantFrom('a', 'b', '"', '\\', '{', '}', ',', ':', '\u00e9', ' ') }),
  fc.jsonValue(),
  { noNullPrototype: true },
);

describe('membersOf', () => {
  it('finds keys and values through strings, escapes and nesting', () => {
    const text = '{ "a" : "x\\"},{" , "b\\u0072": {"c":[1,{"a":2}]} ,"n":12345678901234567890,"t":true }';
    const members = membersOf(text) ?? [];
    expect(members.map((m) => [m.key, text.slice(m.valueStart, m.valueEnd)])).toEqual([
      ['a', '"x\\"},{"'],
      ['br', '{"c":[1,{"a":2}]}'],
      ['n', '12345678901234567890'],
      ['t', 'true'],
    ]);
  });

  it.each(['[1]', '"a"', '12', 'null', ''])('finds no object in %j', (text) => {
    expect(membersOf(text)).toBeNull();
  });

  it('agrees with JSON.parse on every object', CASES, () => {
    fc.assert(
      fc.property(objects, fc.constantFrom(0, 2, '\t'), (object, space) => {
        const text = JSON.stringify(object, null, space);
        const found = (membersOf(text) ?? []).map((m) => [
          m.key,
          JSON.parse(text.slice(m.valueStart, m.valueEnd)),
        ]);
        expect(Object.fromEntries(found)).toEqual(JSON.parse(text));
        expect(found).toHaveLength(Object.keys(object).length);
      }),
    );
  });
});

it.each([
  ['{"brand":1}', '{}'],
  ['{ "brand" : {"a":"}"} }', '{  }'],
  ['{"a":1,"brand":{"x":[1,2]}}', '{"a":1}'],
  ['{"brand":null,"a":1.10}', '{"a":1.10}'],
  ['{"a":1 , "brand":2 , "b":3}', '{"a":1  , "b":3}'],
  ['{"brand":1,"brand":2,"a":3,"brand":4}', '{"a":3}'],
  ['{"a":{"brand":1},"b":"brand"}', '{"a":{"brand":1},"b":"brand"}'],
  ['{"a":1,"\\u0062rand":2}', '{"a":1}'],
])('cutMembers: turns %s into %s', (text, expected) => {
  expect(cut(text, 'brand')).toBe(expected);
  JSON.parse(cut(text, 'brand'));
});

describe('addMember', () => {
  it.each([
    ['{}', '{"k":1}'],
    ['{ } ', '{ "k":1} '],
    ['{"a":{}}', '{"a":{},"k":1}'],
    ['{"a":"{"}\t', '{"a":"{","k":1}\t'],
    ['{"a":1.10 }', '{"a":1.10 ,"k":1}'],
  ])('turns %j into %j', (text, expected) => {
    expect(addMember(text, '"k":1')).toBe(expected);
  });

  it('leaves text alone that is not an object', () => {
    expect(addMember('[1]', '"k":1')).toBeNull();
    expect(addMember('', '"k":1')).toBeNull();
  });

  it('is undone by cutMembers, character by character', () => {
    fc.assert(
      fc.property(objects, fc.constantFrom(0, 1), fc.json(), (object, space, value) => {
        fc.pre(!Object.hasOwn(object, 'brand'));
        const text = JSON.stringify(object, null, space);
        const added = addMember(text, `"brand":${value}`) ?? '';
        expect(JSON.parse(added)).toEqual({ ...JSON.parse(text), brand: JSON.parse(value) });
        expect(cut(added, 'brand')).toBe(text);
      }),
    );
  });
});

it('cellOfJson: returns the text of a string, nothing for null, and JSON for anything else', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const cell = cellOfJson(JSON.stringify(value));
      if (typeof value === 'string') expect(cell).toBe(value);
      else expect(cell).toBe(value === null ? '' : JSON.stringify(value));
    }),
  );
  expect(cellOfJson('1.10')).toBe('1.10');
});

it.each([
  ['{"a": 1, // "b": 2,\n}', '{"a": 1            \n}'],
  ['/* {\r\n */ {"a": [1, 2, ],}', '    \r\n    {"a": [1, 2  ] }'],
  ['{"a": "http://x, }", "b": "/* \\" */"}', '{"a": "http://x, }", "b": "/* \\" */"}'],
  ['{"a": "b}\n// c', '{"a": "b}\n    '],
  ['{"a": 1 /* open', '{"a": 1        '],
])('without comments %j is %j', (text, json) => {
  expect(withoutComments(text)).toBe(json);
});

it.each(['/*', '"\\', '//', ', '])('comments are removed from a megabyte of %j at once', (text) => {
  expect(withoutComments(text.repeat(1_048_576 / text.length))).toHaveLength(1_048_576);
});

it('JSON without comments does not change', () => {
  fc.assert(fc.property(fc.json(), (json) => withoutComments(json) === json));
});

describe('the position at which a text stops being JSON', () => {
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

  it('is null for a text that is nested too deep', () => {
    expect(findJsonFault('['.repeat(200_000))).toBeNull();
  });

  const isJson = (text: string) => attempt(() => [JSON.parse(text)], null) !== null;

  it('agrees with JSON.parse on what is valid', () => {
    const words = ['"a"', '"\\u00e9"', '"\u007f"', '-1.5e+3', 'null'];
    const pieces = fc.constantFrom(...'{}[],:0 "', ...words);
    const texts = fc.oneof(
      fc.json(),
      fc.array(pieces, { maxLength: 9 }).map((parts) => parts.join('')),
      fc.tuple(fc.json(), fc.nat(), anyText({ maxLength: 2 })).map(([json, at, noise]) => {
        const cut = at % (json.length + 1);
        return json.slice(0, cut) + noise + json.slice(cut);
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(findJsonFault(text) === null).toBe(isJson(text));
      }),
      { numRuns: casesOf(2_000) },
    );
  });
});
