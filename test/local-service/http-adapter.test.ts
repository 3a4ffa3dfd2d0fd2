import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { RunError } from '../../src/core/errors.js';
import type { HttpListener } from '../../src/core/listen-http.js';
import { type ListenOptions, listen } from '../../src/local-service/http-adapter.js';
import type { Service, ServiceResponse } from '../../src/local-service/service-request.js';
import { deferred } from '../support/deferred.js';
import { billedBy, createHandClock, createTinyService } from './tiny-service.js';

const listeners: HttpListener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close();
});

async function start(service: Service, options: Partial<ListenOptions> = {}): Promise<HttpListener> {
  const listener = await listen(service, { host: '127.0.0.1', port: 0, ...options });
  listeners.push(listener);
  return listener;
}

const authorization = 'Bearer token-data';
const answering = (response: ServiceResponse): Service => ({
  handle: () => response,
  close: async () => undefined,
});
const BODY = Buffer.from('{"name":"whole"}');
const whole: ServiceResponse = {
  status: 200,
  headers: { 'content-type': 'application/json', 'content-length': String(BODY.length), date: 'x' },
  body: BODY,
};

const head = (path: string) => `GET ${path || '/v2/brands/x'} HTTP/1.1\r\nhost: x\r\n`;

/** All that this port answers to these bytes, up to the end of the connection. */
async function answerTo(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let answer = '';
  socket.on('data', (part: string) => {
    answer += part;
  });
  socket.on('error', () => undefined);
  if (text !== '') socket.write(text);
  await once(socket, 'close');
  return answer;
}

async function sendRaw(port: number, text: string) {
  const [head = '', body = ''] = (await answerTo(port, text)).split('\r\n\r\n');
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim() ?? null;
  const status = /^HTTP\/1\.1 (\d+) /.exec(head)?.[1];
  const headers = { type: header('content-type'), date: header('date') };
  return { status: status === undefined ? null : Number(status), ...headers, body };
}

describe('over HTTP', () => {
  it('a connection cut before the headers delivers nothing', async () => {
    const { url } = await start(answering({ ...whole, cut: 'before-headers' }));
    await expect(fetch(url)).rejects.toThrow();
  });

  it('a connection cut in the body delivers its beginning', async () => {
    const { port } = await start(answering({ ...whole, body: BODY.subarray(0, 6), cut: 'in-body' }));
    const text = await answerTo(port, 'GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(text).toContain(`content-length: ${BODY.length}`);
    expect(text.endsWith('\r\n\r\n{"name')).toBe(true);
  });

  it.each([
    ['no HTTP at all', 400, 'hello\r\n\r\n'],
    ['an unknown method', 400, 'FETCH /v2/brands/acme.com HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a blank in the path', 400, 'GET /v2/brands/acme com HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a header that is none', 400, 'GET / HTTP/1.1\r\nhost: x\r\nno colon\r\n\r\n'],
    ['no Host', 400, 'GET /v2/brands/acme.com HTTP/1.1\r\nconnection: close\r\n\r\n'],
    ['two lengths', 400, 'GET / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n'],
    ['headers of 20 kB', 431, `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['a path of 20 kB', 431, `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
    ['another version', 505, 'GET / HTTP/2.0\r\nhost: x\r\nconnection: close\r\n\r\n'],
    ['an expectation', 417, 'GET / HTTP/1.1\r\nhost: x\r\nexpect: more\r\nconnection: close\r\n\r\n'],
    ['a tunnel', 405, 'CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ])('%s is refused with %i, as JSON and {}', async (_title, status, text) => {
    const { port } = await start(createTinyService().service, { clock: createHandClock() });
    const headers = { type: 'application/json', date: 'Sun, 15 Mar 2026 12:00:00 GMT' };
    expect(await sendRaw(port, text)).toEqual({ status, ...headers, body: '{}' });
  });

  it.each([
    ['what is not a request', 400, 'hello\r\n\r\n'],
    ['a tunnel', 405, 'CONNECT elsewhere.example:443 HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['a body that is announced', 401, `${head('')}Expect: 100-continue\r\nconnection: close\r\n\r\n`],
  ])('the answer to %s comes after those to earlier requests', async (_title, status, text) => {
    const { port } = await start(createTinyService().service);
    const billed = `${head('/v2/brands/acme.com')}authorization: ${authorization}\r\n\r\n`;
    const answer = await answerTo(port, billed + billed + text);
    const seen = [...answer.matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n(\{.*?\})(?=HTTP|$)/g)];
    expect(answer).not.toContain('100 Continue');
    const acme = '{"name":"Acme","isNsfw":false}';
    const expected = [`200 ${acme}`, `200 ${acme}`, `${status} {}`];
    expect(seen.map(([, code, body]) => `${code} ${body}`)).toEqual(expected);
  });

  it('a request after a refused one is answered, since it is billed', async () => {
    const { port } = await start(createTinyService().service);
    const refused = `${head('')}expect: more\r\n\r\n`;
    const asked = `${head('/v2/brands/acme.com')}connection: close\r\n`;
    const { status, body } = await sendRaw(port, `${refused}${asked}authorization: ${authorization}\r\n\r\n`);
    expect(status).toBe(417);
    expect(body).toMatch(/^\{\}HTTP\/1\.1 200 OK/);
  });

  it('a request after one whose answer ends the connection is not billed', async () => {
    const tiny = createTinyService();
    const { port } = await start(tiny.service);
    const billed = `${head('/v2/brands/acme.com')}authorization: ${authorization}\r\n\r\n`;
    const { status, body } = await sendRaw(port, `${head('')}expect: 100-continue\r\n\r\n${billed}`);
    expect([status, body]).toEqual([401, '{}']);
    expect(await billedBy(tiny.service)).toBe(0);
  });

  it('a request that is never completed is refused with 408, as JSON and {}', async () => {
    const clock = createHandClock();
    const { port } = await start(createTinyService().service, { clock, arrivalMs: 30 });
    const answer = await sendRaw(port, head('/v2/brands/acme.com'));
    expect(answer).toMatchObject({ status: 408, type: 'application/json', body: '{}' });
  });

  it('an exception in the service costs one connection, not the process', async () => {
    let calls = 0;
    const { url } = await start({
      async handle() {
        calls += 1;
        if (calls === 1) throw new Error('a bug');
        return whole;
      },
      close: async () => undefined,
    });
    await expect(fetch(url)).rejects.toThrow();
    expect(await (await fetch(url)).text()).toBe(BODY.toString());
  });

  it('a taken port is named', async () => {
    const { port } = await start(answering(whole));
    const again = listen(answering(whole), { host: '127.0.0.1', port });
    await expect(again).rejects.toThrow(RunError);
    await expect(again).rejects.toThrow(`127.0.0.1:${port}`);
  });

  it('closing lets an answer in progress finish, as the last on its connection', async () => {
    const [begun, response] = [deferred(), deferred<ServiceResponse>()];
    const listener = await start({
      handle: () => {
        begun.resolve();
        return response.promise;
      },
      close: async () => undefined,
    });
    const answer = fetch(listener.url);
    await begun.promise;
    const closed = listener.close();
    response.resolve(whole);
    expect((await answer).headers.get('connection')).toBe('close');
    expect(await (await answer).text()).toBe(BODY.toString());
    await closed;
    await expect(fetch(listener.url)).rejects.toThrow();
  });
});
