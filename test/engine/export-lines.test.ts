import { describe, expect, test } from 'vitest';
import type { StoredOutcome } from '../../src/core/outcome.js';
import {
  accountLine,
  answerLine,
  cancelLine,
  endLine,
  headerLine,
  pauseLine,
  readHeader,
  readLine,
} from '../../src/engine/export-lines.js';
import { packProfile, unpackProfile } from '../../src/engine/stores/profile-codec.js';

const KEY = 'Tb3yXKn:ud:bücher.example';
const answer = (body: Buffer | null): StoredOutcome => ({
  key: KEY,
  status: body === null ? 'not_found' : 'matched',
  packed: body === null ? null : packProfile(body),
  fetchedAt: 1_760_000_000_123,
  billed: true,
  freshUntil: null,
});

describe('an answer survives a round trip byte for byte', () => {
  test.each([
    ['numbers that no double holds', '{"n":12345678901234567890,"d":1.10,"e":1e400}', true],
    ['an escaped lone surrogate', '{"s":"\\ud800 x"}', true],
    ['separators that are no line ends in JSON', '{"s":"\u2028\u2029\u0085"}', true],
    ['a member with one of our names', '{"answer":{"answer":[1]},"key":"x\\\\"}', true],
    ['the same member twice', '{"a":1,"a":2}', true],
    ['blanks inside', '{ "a" : [ 1 , 2 ] }', true],
    ['line ends inside', '{\n "a": 1\r\n}', false],
    ['blanks around', ' {"a":1} ', false],
    ['a byte order mark', '\ufeff{"a":1}', false],
    ['no object', '[1,2]', false],
    ['no JSON', '{"a":', false],
    ['nothing', '', false],
  ])('%s', (_what, text, isInClear) => {
    const line = answerLine(answer(Buffer.from(text)));
    expect(line.endsWith(isInClear ? `,"answer":${text}}\n` : '"}\n')).toBe(true);
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(bodyOf(line)).toEqual(Buffer.from(text));
  });

  test('bytes that are not UTF-8', () => {
    const body = Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]);
    expect(bodyOf(answerLine(answer(body)))).toEqual(body);
  });

  function bodyOf(line: string): Buffer | null {
    const read = readLine(Buffer.from(line));
    if (read.type !== 'answer') throw new Error(JSON.stringify(read));
    const { packed, ...rest } = read.outcome;
    expect(rest).toEqual({
      key: KEY,
      status: 'matched',
      fetchedAt: 1_760_000_000_123,
      billed: true,
      freshUntil: null,
    });
    return packed === null ? null : unpackProfile(packed);
  }
});

test('not-found answers, accounts, orders, end and header survive a round trip', () => {
  const missing = { ...answer(null), freshUntil: 1_760_000_120_000, billed: false };
  expect(readLine(Buffer.from(answerLine(missing)))).toEqual({ type: 'answer', outcome: missing });
  const spending = { period: '2026-11-01', sent: 30, others: 2, quota: null };
  expect(readLine(Buffer.from(accountLine('team "ü"', spending)))).toEqual({
    ...{ type: 'account', account: 'team "ü"', ...spending },
  });
  const order = { by: 'ada@büro', at: 1_760_000_000_123 };
  const pause = { ...order, owner: 'j-7', label: { host: 'büro', name: 'odd\nname.csv' }, run: null };
  expect(readLine(Buffer.from(pauseLine(pause)))).toEqual({ type: 'pause', ...pause });
  const cancel = { ...order, job: 'j-7' };
  expect(readLine(Buffer.from(cancelLine(cancel)))).toEqual({ type: 'cancel', ...cancel });
  expect(readLine(Buffer.from(endLine(7)))).toEqual({ type: 'end', answers: 7 });
  const header = { engine: 'redis', exportedAt: 1_760_000_000_123 };
  expect(readHeader(Buffer.from(headerLine(header)))).toEqual(header);
});

test.each([
  ['{"type":"answer"}', /key/],
  [answerLine(answer(null)).replace(KEY, '0123456789:u:domain:a.example'), /key/],
  [answerLine(answer(null)).replace('"not_found"', '"matched"'), /do not match/],
  [answerLine(answer(null)).replace('"billed":true', '"billed":1'), /billed/],
  [answerLine(answer(null)).replace(/"fetchedAt":"[^"]+"/, '"fetchedAt":"soon"'), /date/],
  [pauseLine({ owner: 'j-7', label: { host: 'a', name: 'b' }, run: null, by: 'ada', at: -1 }), /date/],
  [cancelLine({ job: 'j-7', by: 'ada', at: -1 }), /date/],
  [answerLine(answer(null)).replace(':ud:', ':ud:\\u0000'), /key/],
  ['{"type":"account","account":"a","period":"2026-13-77","sent":1,"others":0,"quota":null}', /period/],
  ['{"type":"account","account":"a","period":null,"sent":-1,"others":0,"quota":null}', /count/],
  ['[]', /not a JSON object/],
  ['{"type":"answer","key":"01234', /cut off/],
])('%s is refused as damaged', (line, reason) => {
  expect(readLine(Buffer.from(line))).toEqual({ type: 'broken', reason: expect.stringMatching(reason) });
});

test('a header of a later release and a missing header are refused', () => {
  expect(readHeader(Buffer.from('{"type":"brand-enrich export","version":4}'))).toMatch(/version 4/);
  expect(readHeader(Buffer.from('domain\n'))).toMatch(/does not start/);
});
