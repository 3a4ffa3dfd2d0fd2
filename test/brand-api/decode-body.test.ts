/** Bodies compressed without being asked: decoded where possible, damaged otherwise. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { decodeBody } from '../../src/brand-api/send.js';
import { answerText } from './raw-server.js';
import { createSending, partsOf } from './sending.js';

const TEXT = `{"name":"Acme","description":"${'rockets and anvils '.repeat(40)}"}`;
const PLAIN = Buffer.from(TEXT);
const CAP = 10_000;

describe('a body', () => {
  test.each<[string | undefined, Buffer]>([
    [undefined, PLAIN],
    ['identity', PLAIN],
    ['', PLAIN],
    ['gzip', gzipSync(PLAIN)],
    ['GZIP', gzipSync(PLAIN)],
    ['x-gzip', gzipSync(PLAIN)],
    ['br', brotliCompressSync(PLAIN)],
    ['deflate', deflateSync(PLAIN)],
    ['deflate', deflateRawSync(PLAIN)],
    ['deflate, gzip', gzipSync(deflateSync(PLAIN))],
    ['identity , br', brotliCompressSync(PLAIN)],
  ])('in %s is decoded', (encoding, bytes) => {
    expect(decodeBody(bytes, encoding, CAP)).toEqual({ body: PLAIN, incomplete: null });
  });

  test.each<[string, string, Buffer, 'too_large' | 'cut_off' | null]>([
    ['is cut off', 'gzip', gzipSync(PLAIN).subarray(0, 40), 'cut_off'],
    ['is cut off', 'br', brotliCompressSync(PLAIN).subarray(0, 20), 'cut_off'],
    ['is cut off', 'deflate', deflateSync(PLAIN).subarray(0, 20), 'cut_off'],
    ['is larger than the cap once decoded', 'gzip', gzipSync(Buffer.alloc(CAP + 1)), 'too_large'],
    ['is larger than the cap once decoded', 'br', brotliCompressSync(Buffer.alloc(CAP + 1)), 'too_large'],
    ['is as long as the cap', 'gzip', gzipSync(Buffer.alloc(CAP)), null],
  ])('that %s: %s', (_what, encoding, bytes, incomplete) => {
    expect(decodeBody(bytes, encoding, CAP).incomplete).toBe(incomplete);
  });

  test.each(['gzip', 'deflate', 'br', 'zstd', 'nonsense'])('that is plain stays so: %s', (encoding) => {
    const body = Buffer.from('{"name":"Acme"}');
    expect(decodeBody(body, encoding, CAP).body).toEqual(body);
  });

  test('that says to be encoded more than twice is returned unchanged, and costs no decoding', () => {
    const thrice = gzipSync(gzipSync(gzipSync(PLAIN)));
    const before = process.cpuUsage();
    for (const encoding of ['gzip, gzip, gzip', `br,${'gzip,'.repeat(10_000)}identity`])
      expect(decodeBody(thrice, encoding, CAP)).toEqual({ body: thrice, incomplete: null });
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test('that is empty stays empty', () => {
    expect(decodeBody(Buffer.alloc(0), 'gzip', CAP)).toEqual({ body: Buffer.alloc(0), incomplete: null });
  });
});

test('over a socket: a brand compressed without being asked is a brand', async () => {
  const { server, send } = await createSending(answerText(gzipSync(PLAIN), { 'content-encoding': 'gzip' }));
  expect(partsOf(await send('/'))).toEqual({ status: 200, body: TEXT, incomplete: null });
  expect(server.arrived[0]?.head.toLowerCase()).not.toContain('accept-encoding');
});
