import { describe, expect, test } from 'vitest';
import { parseHttpDate, parseRetryAfter } from '../../src/lookup/response-headers.js';

const NOON = Date.UTC(2030, 0, 15, 12);

describe('Retry-After', () => {
  test.each<[string | undefined, number | null]>([
    [undefined, null],
    ['', null],
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['007', 7_000],
    ['899', 899_000],
    ['900', 900_000],
    ['86400', 900_000],
    ['999999999', 900_000],
    ['9999999999', null],
    ['1.5', null],
    ['-1', null],
    ['+1', null],
    ['1e3', null],
    ['0x10', null],
    ['7 s', null],
    ['soon', null],
    ['Tue, 15 Jan 2030 12:00:30 GMT', 30_000],
    ['Tue, 15 Jan 2030 11:59:30 GMT', 0],
    ['Wed, 16 Jan 2030 12:00:00 GMT', 900_000],
    ['2030-01-15T12:00:30Z', null],
  ])('%j waits %s ms', (text, waitMs) => {
    expect(parseRetryAfter(text, NOON)).toBe(waitMs);
  });

  test("the cap is the caller's", () => {
    expect(parseRetryAfter('3600', NOON, 60_000)).toBe(60_000);
  });
});

describe('an HTTP date', () => {
  test.each<[string | undefined, number | null]>([
    ['Sun, 06 Nov 1994 08:49:37 GMT', Date.UTC(1994, 10, 6, 8, 49, 37)],
    ['Thu, 32 Jan 2030 00:00:00 GMT', null],
    ['Sun, 06 Nov 1994 25:49:37 GMT', null],
    ['Sun, 06 Nox 1994 08:49:37 GMT', null],
    ['Sunday, 06-Nov-94 08:49:37 GMT', null],
    ['Sun Nov  6 08:49:37 1994', null],
    ['Sun, 06 Nov 1994 08:49:37 +0000', null],
    ['Sun, 6 Nov 1994 08:49:37 GMT', null],
    ['0', null],
    [undefined, null],
  ])('%j', (text, time) => {
    expect(parseHttpDate(text)).toBe(time);
  });
});
