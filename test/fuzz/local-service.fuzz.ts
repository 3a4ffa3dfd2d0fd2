/** Connections of any kind to the local service: every answer is HTTP. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import type { HttpListener } from '../../src/core/listen-http.js';
import { silentLog } from '../../src/core/log.js';
import { listen } from '../../src/local-service/http-adapter.js';
import { billedBy, createTinyService, type TinyService, USAGE } from '../local-service/tiny-service.js';
import { share } from '../support/properties.js';
import { fuzz } from './fuzz.js';
import { exchange, readAnswers } from './http-answers.js';
import { mutate, mutations, wordsOf } from './mutations.js';

const TOKEN = 'token-data';
const PATHS = [
  ...wordsOf('/v2/brands/acme.com /v2/brands/domain/acme.com /v2/brands/ticker/BRK%2FB'),
  ...wordsOf('/v2/brands/isin/US0378331005 /v2/brands/crypto/btc /v2/brands/id_Acme01'),
  ...wordsOf('/v2/brands/withheld.com?allowNsfw=true /v2/brands/%zz /v2/brands/ /v2/brands//acme.com'),
  ...wordsOf('/v2/brands/other/acme.com / * /v2/brands/acme.com?allowNsfw=x'),
  ...wordsOf('http://elsewhere.example/v2/brands/acme.com /v2/brands/%00 /v2/brands/../brands/acme.com //'),
  '',
];
const METHODS = [...wordsOf('GET GET GET GET HEAD POST PUT DELETE OPTIONS PATCH TRACE CONNECT get FETCH')];
const HEADERS = [
  `Authorization: Bearer ${TOKEN}`,
  `authorization:bearer ${TOKEN}`,
  'Authorization: Bearer token-other',
  'Authorization: Basic eDp5',
  `Authorization: Bearer ${TOKEN} x`,
  'Connection: close',
  'Connection: keep-alive',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: 99999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Expect: 100-continue',
  'Expect: more',
  'X-Long: '.padEnd(20_000, 'a'),
  ' folded',
  'no colon',
  ': x',
];
const BODIES = ['', 'text', '5\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', 'ffffffff\r\n'];

const headers = fc.oneof(
  share(3, fc.constant([HEADERS[0] ?? ''])),
  share(2, fc.array(fc.constantFrom(...HEADERS), { maxLength: 4 })),
);
const request = fc
  .record({
    method: fc.constantFrom(...METHODS),
    path: fc.constantFrom(...PATHS),
    version: fc.constantFrom(' HTTP/1.1', ' HTTP/1.1', ' HTTP/1.1', ' HTTP/1.0', ' HTTP/2.0', ''),
    host: fc.constantFrom(['Host: x'], ['Host: x'], ['Host: x'], [], ['Host: x', 'Host: y']),
    headers,
    body: fc.constantFrom('', '', '', ...BODIES),
  })
  .map(({ method, path, version, host, headers, body }) =>
    [`${method} ${path}${version}`, ...host, ...headers, '', body].join('\r\n'),
  );
const connection = fc.record({
  requests: fc.array(request, { minLength: 1, maxLength: 4 }),
  changes: fc.oneof(
    share(2, fc.constant([])),
    mutations(['\r\n\r\n', ' HTTP/1.1', ...METHODS, ...HEADERS.slice(0, 5)], 3),
  ),
  parting: fc.nat({ max: 1_000 }),
  ending: fc.constantFrom('wait' as const, 'wait', 'wait', 'half-close', 'destroy'),
});

let tiny: TinyService;
let listener: HttpListener;
beforeAll(async () => {
  tiny = createTinyService({ terms: { quota: 1e9 }, log: silentLog() });
  listener = await listen(tiny.service, { host: '127.0.0.1', port: 0, arrivalMs: 600 });
});
afterAll(async () => {
  await listener.close();
  await tiny.service.close();
});

/** Whole heads of requests that cost: the most that can be billed for these bytes. */
const BILLABLE =
  /GET \S*\/v2\/brands\/(?:(?:domain|ticker|isin|crypto)\/)?[^/?\s]+(?:\?\S*)? HTTP\/1\.[01]\r?\n(?:(?!\r?\n\r?\n)[\s\S])*?authorization:[ \t]*bearer[ \t]+token-data[ \t]*\r?\n/gi;

const LAST = Buffer.from('\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
let cases = 0;

fuzz('every answer is HTTP, and only whole requests are billed', connection, async (made) => {
  const { requests, changes, parting } = made;
  const sent = mutate(Buffer.from(requests.join('')), changes);
  // After a request that asks for another protocol Node reads no other.
  const ending = /upgrade/i.test(sent.toString('latin1')) ? 'half-close' : made.ending;
  // Unless the rest swallows it, this one ends the connection.
  const bytes = ending === 'wait' ? Buffer.concat([sent, LAST]) : sent;
  const at = Math.floor((parting / 1_000) * bytes.length);
  const before = await billedBy(tiny.service);
  const answers = readAnswers(
    await exchange(listener.port, [bytes.subarray(0, at), bytes.subarray(at)], ending),
    /HEAD/.test(bytes.toString('latin1')),
  );
  for (const { status, headers, body } of answers) {
    expect([200, 400, 401, 404, 405, 408, 413, 417, 431, 505]).toContain(status);
    expect(headers.get('content-type')).toEqual(['application/json']);
    expect(headers.get('content-length')).toHaveLength(1);
    expect(Number.isNaN(Date.parse(headers.get('date')?.[0] ?? ''))).toBe(false);
    if (body.length > 0)
      expect(status === 200 ? typeof JSON.parse(body.toString()) : body.toString()).toBe(
        status === 200 ? 'object' : '{}',
      );
    expect(body.toString()).not.toContain(TOKEN);
  }
  const spent = (await billedBy(tiny.service)) - before;
  const text = bytes.toString('latin1');
  expect(spent).toBeLessThanOrEqual(text.match(BILLABLE)?.length ?? 0);
  // Whoever waits gets an answer that shows the usage for all that was billed.
  const shown = answers.filter(({ status, headers }) => [200, 404].includes(status) && headers.has(USAGE));
  if (ending === 'wait') expect(spent).toBeLessThanOrEqual(shown.length);
  cases += 1;
  if (cases % 100 > 0) return;
  const fine = await fetch(`${listener.url}/v2/brands/acme.com`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect([fine.status, ((await fine.json()) as { name: string }).name]).toEqual([200, 'Acme']);
});
