/** Answers of any service: numbers and dates are sane, and the token is in no result. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Client, createClient } from '../../src/brand-api/client.js';
import {
  parseCount,
  parseHttpDate,
  parseRetryAfter,
  RETRY_AFTER_AT_MOST_MS,
} from '../../src/brand-api/protocol.js';
import type { Answer } from '../../src/brand-api/read-answer.js';
import { createHttpSend } from '../../src/brand-api/send.js';
import { createRawServer, type RawServer } from '../brand-api/raw-server.js';
import { fuzz } from './fuzz.js';
import { mutate, mutateText, mutations } from './mutations.js';

const NOON = Date.UTC(2030, 0, 15, 12);
const VALUES = [
  ...['0', '7', '250', '100000', '999999999999999', '-1', '1.5', '1e3', '0x10', 'NaN', 'Infinity', '1,000'],
  ...['Tue, 15 Jan 2030 12:00:30 GMT', 'Sun, 06 Nov 1994 08:49:37 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ...['Fri, 31 Dec 9999 23:59:59 GMT', 'Mon, 30 Feb 2026 10:00:00 GMT', 'Tue, 15 Jan 2030 24:00:00 GMT'],
];
const value = fc
  .record({ text: fc.constantFrom(...VALUES), changes: mutations(VALUES, 3) })
  .map(({ text, changes }) => mutateText(text, changes));

/** Of four-digit years; the weekday and day of a date belong together. */
function expectDate(date: number | null, text: string | undefined): void {
  if (date === null) return;
  expect(Number.isSafeInteger(date)).toBe(true);
  expect(date).toBeGreaterThanOrEqual(0);
  expect(date).toBeLessThan(Date.UTC(10_000, 0, 1));
  expect(text?.replace(/^\S+/, '')).toBe(new Date(date).toUTCString().replace(/^\S+/, ''));
}

function expectCount(count: number | null): void {
  if (count !== null) expect(Number.isSafeInteger(count) && count >= 0, String(count)).toBe(true);
}

function expectWait(waitMs: number | null): void {
  if (waitMs === null) return;
  expect(Number.isFinite(waitMs)).toBe(true);
  expect(waitMs).toBeGreaterThanOrEqual(0);
  expect(waitMs).toBeLessThanOrEqual(RETRY_AFTER_AT_MOST_MS);
}

fuzz('headers are read as sane numbers and dates, or not at all', value, (text) => {
  expectCount(parseCount(text));
  expectWait(parseRetryAfter(text, NOON));
  expectDate(parseHttpDate(text), text);
});

const TOKEN = 'tok_Zx81-secret-of-sixteen';
const BRAND = `{"id":"id_Acme01","name":"Acme","domain":"acme.com","qualityScore":0.7,"note":"${TOKEN}"}`;
const answerOf = (status: string, headers: readonly string[], body: string | Buffer) => {
  const bytes = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${bytes.length}`, '', ''];
  return Buffer.concat([Buffer.from(lines.join('\r\n')), bytes]);
};
const DATE = 'Date: Tue, 15 Jan 2030 12:00:00 GMT';
const USAGE = ['X-Api-Key-Quota: 250', 'X-Api-Key-Approximate-Usage: 249', DATE];
const ANSWERS: readonly Buffer[] = [
  answerOf('200 OK', ['Content-Type: application/json', ...USAGE], BRAND),
  answerOf('200 OK', ['Content-Encoding: gzip', ...USAGE], gzipSync(BRAND)),
  Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${BRAND.length.toString(16)}\r\n${BRAND}\r\n0\r\n\r\n`,
  ),
  answerOf('404 Not Found', ['X-Bf-Error: crawl_queued', ...USAGE], '{}'),
  answerOf('429 Too Many Requests', ['Retry-After: 7', ...USAGE], '{"message":"no","quota":250,"used":251}'),
  answerOf('503 Service Unavailable', ['Retry-After: Tue, 15 Jan 2030 12:00:30 GMT'], `<p>${TOKEN}</p>`),
  answerOf('302 Found', [`Location: https://elsewhere.example/${TOKEN}`], ''),
  answerOf('401 Unauthorized', [], `{"error":"${TOKEN}"}`),
  Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'),
  Buffer.from(
    'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}',
  ),
];
const WORDS = [
  'HTTP/1.1 ',
  '200 ',
  '\r\n\r\n',
  'Content-Length: ',
  'Content-Encoding: br\r\n',
  'Date: ',
  TOKEN,
  ...VALUES,
];

let server: RawServer;
let sender: ReturnType<typeof createHttpSend>;
let client: Client;
let next: { readonly bytes: Buffer; readonly isReset: boolean } = { bytes: Buffer.alloc(0), isReset: false };
beforeAll(async () => {
  server = await createRawServer((socket) => {
    // An incomplete answer ends with the connection, so that its rest is not waited for.
    if (next.isReset) socket.write(next.bytes, () => socket.resetAndDestroy());
    else socket.end(next.bytes);
  });
  sender = createHttpSend({ baseUrl: server.url, connections: 1, timeoutMs: 10_000, maxBodyBytes: 65_536 });
  client = createClient(sender.send, TOKEN);
});
afterAll(async () => {
  await sender.close();
  await server.close();
});

/** Everything that is stored, shown or decided on. */
function expectSane(answer: Answer): void {
  const { meaning, quota, usage, date, cost } = answer;
  expectCount(quota);
  expectCount(usage);
  expectDate(date, date === null ? undefined : new Date(date).toUTCString());
  expect(['billed', 'free', 'maybe_billed']).toContain(cost);
  if ('retryAfterMs' in meaning) expectWait(meaning.retryAfterMs);
  const shown = meaning.type === 'matched' ? meaning.body.toString() : JSON.stringify(meaning);
  expect(shown.toLowerCase()).not.toContain(TOKEN.toLowerCase());
  if (meaning.type === 'matched') {
    expect(JSON.parse(meaning.body.toString())).toEqual(meaning.brand);
    expect(meaning.body.length).toBeLessThanOrEqual(65_536);
    expect(cost).not.toBe('maybe_billed');
  }
  if (meaning.type === 'credentials' || meaning.type === 'refused') {
    if (meaning.type === 'refused' || meaning.status !== 402) expect(cost).toBe('free');
  }
}

fuzz(
  'any answer over a socket has a meaning and a cost, and shows no token',
  fc.record({ answer: fc.constantFrom(...ANSWERS.keys()), changes: mutations(WORDS), isReset: fc.boolean() }),
  async ({ answer, changes, isReset }) => {
    next = { bytes: mutate(ANSWERS[answer] ?? Buffer.alloc(0), changes), isReset };
    const arrived = server.arrived.length;
    const options = { allowNsfw: 'unset', freeStatuses: ['204', '400', '402', '5xx'] } as const;
    const read = await client.lookup({ kind: 'domain', value: 'acme.com' }, options);
    expectSane(read);
    // One lookup, one request.
    expect(server.arrived.length - arrived).toBe(1);
  },
);
