import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  printJson,
  printText,
  visible,
  visibleJson,
  visibleLine,
  wrapLines,
  wrapWords,
} from '../../src/core/terminal-text.js';
import { anyText } from '../support/properties.js';

const STEERING = /(?![\n\t])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

it.each([
  ['web\u001b[2Jsite', 'web\\x1b[2Jsite'],
  ['\u001b]0;title\u0007', '\\x1b]0;title\\x07'],
  ['\u009b31m', '\\x9b31m'],
  ['over\rwritten', 'over\\x0dwritten'],
  ['\u007f\u0000\b', '\\x7f\\x00\\x08'],
  ['exe\u202efdp', 'exe\\u202efdp'],
  ['\u2066a\u2069\u200f\u061c', '\\u2066a\\u2069\\u200f\\u061c'],
  ['a\u2028b', 'a\\u2028b'],
  ['two\nlines\tand é, 漢字, 👩‍💻', 'two\nlines\tand é, 漢字, 👩‍💻'],
])('shows %j as %s', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

it('keeps single-line text on one line', () => {
  expect(visibleLine('web\nbrand-enrich: all is well\t!')).toBe('web\\nbrand-enrich: all is well\\t!');
});

it('removes all control characters from any text, and keeps the meaning of JSON', () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(visible(text)).not.toMatch(STEERING);
      const json = visibleJson(JSON.stringify({ [text]: text }));
      expect(json).not.toMatch(STEERING);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify({ [text]: text })));
    }),
  );
});

it('printed texts and JSON are escaped', () => {
  let written = '';
  const stream = { write: (text: string) => (written += text) } as unknown as NodeJS.WritableStream;
  printText(stream, 'a\u001b[2J\n');
  printJson(stream, { a: '\u009b\u202e' });
  expect(written).toBe('a\\x1b[2J\n{"version":1,"a":"\\u009b\\u202e"}\n');
});

it.each([
  ['one two three', 8, ['one two', 'three']],
  ['a-word-that-is-longer b', 5, ['a-word-that-is-longer', 'b']],
  ['\u001b[32mone\u001b[0m two', 7, ['\u001b[32mone\u001b[0m two']],
])('%j is wrapped at %i between words', (text, width, lines) => {
  expect(wrapWords(text, width)).toEqual(lines);
});

it('a terminal gets wrapped lines, without its tables, and a file gets them whole', () => {
  const text = 'one two three\n  four five six\n';
  expect(wrapLines(text, { isTTY: true, columns: 8 })).toBe('one two\nthree\n  four five six\n');
  expect(wrapLines(text, { columns: 8 })).toBe(text);
});
