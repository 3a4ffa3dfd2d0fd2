import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CountShape, countRecords, createCounter } from '../../../src/run/output/count-records.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const CSV: CountShape = { format: 'csv', delimiter: ',', hasHeader: false, lineEnd: '\n', gzip: false };

/** Counts with the bytes cut into pieces of this size: every state meets the edge of one. */
function count(text: string, shape: CountShape, piece: number): number {
  const bytes = Buffer.from(text);
  const counter = createCounter(shape);
  for (let at = 0; at < bytes.length; at += piece) counter.push(bytes.subarray(at, at + piece));
  return counter.end();
}

describe('counting CSV records', () => {
  it.each<[string, number, Partial<CountShape>?]>([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['a\r\nb\r\n', 2],
    ['a\rb\r', 2, { lineEnd: '\r' }],
    ['\ufeff"a\nb"\nc\n', 2],
    ['\ufeff', 0],
    ['a\n\nb\n', 2],
    ['a\r\n\r\nb', 2],
    ['"a\nb",c\nd\n', 2],
    ['"a""\nb"\nc\n', 2],
    ['"a"""\nb\n', 2],
    ['"",""\n"",""\n', 2],
    ['a,"b\r\nc"\r\nd', 2],
    ['5" pipe,x\n6" pipe,y\n', 2],
    ['a ,"b\n"\nc', 2],
    ['a, "b\nx"\nc', 3],
    ['"a"x"\nb\n', 2],
    ['a,"\nb\n', 1],
    ['a;"b\nc"\nd', 2, { delimiter: ';' }],
    ['a,"b\nc"\nd', 3, { delimiter: ';' }],
    ['a\t"b\nc"\nd', 2, { delimiter: '\t' }],
    ['a||"b\nc"\nd|"e', 2, { delimiter: '||' }],
    ['a\u00a7"b\nc"\nd', 2, { delimiter: '\u00a7' }],
    ['h,x\na\rb,c\nd,e\n', 3],
    ['h\ra\rb,"c\nd"\r', 3, { lineEnd: '\r' }],
    ['h\r\na\rb\n', 2, { lineEnd: '\r\n' }],
    ['h\rh2,x\na,b\n', 2],
    ['a|"b\nc', 2, { delimiter: '||' }],
    ['a|b|"c\nd', 2, { delimiter: '||' }],
    ['h\na,\r"b\nc\n', 3],
    ['a\nb\n', 1, { hasHeader: true }],
    ['"h\nh",x\n', 0, { hasHeader: true }],
    ['', 0, { hasHeader: true }],
  ])('of %j gives %i', (text, records, changes = {}) => {
    for (const piece of [1, 2, 3, 1000]) expect(count(text, { ...CSV, ...changes }, piece)).toBe(records);
  });

  it('gives the number that csv-stringify wrote', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\n', '\r', 'é', ' ') });
    const rows = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 6 });
    const lineEnds = fc.constantFrom<'\n' | '\r\n' | '\r'>('\n', '\r\n', '\r');
    const shape = fc.record({ delimiter: fc.constantFrom(',', ';'), lineEnd: lineEnds });
    fc.assert(
      fc.property(rows, shape, fc.nat(5), (cells, { delimiter, lineEnd }, piece) => {
        const quoting = { record_delimiter: lineEnd, quote_record_delimiter: true };
        const text = stringify(cells, { delimiter, ...quoting });
        expect(count(text, { ...CSV, delimiter, lineEnd }, piece + 1)).toBe(cells.length);
      }),
    );
  });
});

it.each([
  ['', 0],
  ['{}', 1],
  ['{}\n{}\n', 2],
  ['\n  \r\n{}\n\t\n{}', 2],
  ['{"a":"\\n"}\r\n{"b":"\u2028"}\r\n', 2],
])('counting JSON lines of %j gives %i', (text, records) => {
  for (const piece of [1, 2, 1000]) {
    expect(count(text, { ...CSV, format: 'jsonl', delimiter: '' }, piece)).toBe(records);
  }
});

describe('countRecords', () => {
  const text = 'id,x\n1,"a\nb"\n2,c\n';
  it.each([
    ['plain', Buffer.from(text), 2],
    ['compressed, whatever its name', gzipSync(text), 2],
    ['compressed in two members', Buffer.concat([gzipSync(text), gzipSync('3,d\n')]), 3],
    ['empty', Buffer.alloc(0), 0],
  ])('reads a file that is %s', async (_name, bytes, records) => {
    const path = join(await temporaryFolder(), 'a.csv');
    await writeFile(path, bytes);
    const gzip = bytes[0] === 0x1f;
    expect(await countRecords(path, { ...CSV, hasHeader: true, gzip })).toBe(records);
  });

  it('refuses a truncated compressed file', async () => {
    const path = join(await temporaryFolder(), 'cut.csv');
    await writeFile(path, gzipSync(text).subarray(0, -6));
    await expect(countRecords(path, { ...CSV, gzip: true })).rejects.toThrow();
  });
});
