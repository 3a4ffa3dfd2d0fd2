/** Unanswered requests: time-outs, refused connections, stops, closes; none reveals the token. */
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHttpSend } from '../../src/brand-api/send.js';
import { freePort } from '../support/free-port.js';
import { listenForTest } from '../support/listen-anew.js';
import { SELF_SIGNED } from '../support/self-signed.js';
import { answerText } from './raw-server.js';
import { createSending, partsOf, TOKEN } from './sending.js';

const BRAND = '{"name":"Acme"}';
const WHOLE = { status: 200, body: BRAND, incomplete: null };
const SENT = { wasSent: true };
const UNSENT = { wasSent: false };

describe('the time-out', () => {
  test('ends the wait for an answer', async () => {
    const { send } = await createSending(() => undefined, { timeoutMs: 100 });
    expect(await send('/')).toEqual({
      type: 'no_answer',
      wasSent: true,
      reason: 'no complete answer within 100 ms',
    });
  });

  test('is not renewed by a head that arrives byte by byte', async () => {
    const { send } = await createSending((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'X-Slow: 1\r\n'), {
      timeoutMs: 150,
    });
    expect(partsOf(await send('/'))).toEqual(SENT);
  });

  test('is not renewed by a body that arrives byte by byte, whose head is reported', async () => {
    const head = 'HTTP/1.1 404 Not Found\r\nX-Api-Key-Approximate-Usage: 7\r\nContent-Length: 9000\r\n\r\n';
    const { send } = await createSending((socket) => drip(socket, head, ' '), { timeoutMs: 150 });
    const result = await send('/');
    expect(result).toMatchObject({ status: 404, incomplete: 'cut_off' });
    expect(result.type === 'answer' && result.headers['x-api-key-approximate-usage']).toBe('7');
  });

  test('includes the wait for a connection', async () => {
    const { server, send } = await createSending(
      (socket, { path }) => {
        if (path === '/warm') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
        // Both time-outs pass before the loop turns: the end of one gives the other no connection.
        else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
      },
      { timeoutMs: 1000, connections: 1 },
    );
    await send('/warm');
    const both = await Promise.all([send('/first'), send('/second')]);
    expect(both.map(partsOf)).toEqual([SENT, UNSENT]);
    expect(server.countOf('/first')).toBe(1);
    expect(server.countOf('/second')).toBe(0);
  });
});

async function listening(server: Server): Promise<string> {
  return `https://127.0.0.1:${await listenForTest(server)}`;
}

test.each<[string, () => Promise<string>, unknown, string]>([
  [
    'on a port where nothing listens',
    async () => `http://127.0.0.1:${await freePort()}`,
    expect.stringMatching(/^nothing listens at 127\.0\.0\.1:\d+$/),
    'refused',
  ],
  // A name with a hyphen in front is refused without a DNS server.
  ['of no host', async () => 'https://-no.invalid', 'the host -no.invalid does not exist', 'lasting'],
  [
    'with https of a port without TLS',
    () => listening(createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))),
    'that port does not speak TLS',
    'lasting',
  ],
  [
    'with an untrusted certificate',
    () => listening(createTlsServer(SELF_SIGNED)),
    expect.stringMatching(/^the certificate is self-signed.*--ca-file$/),
    'lasting',
  ],
])('to an address %s nothing is sent, and it says why', async (_what, baseUrlOf, reason, fault) => {
  const baseUrl = await baseUrlOf();
  const { send, close } = createHttpSend({ baseUrl, connections: 2, timeoutMs: 20_000 });
  onTestFinished(close);
  const result = await send({ path: '/', authorization: `Bearer ${TOKEN}` });
  expect(result).toEqual({ type: 'no_answer', wasSent: false, reason, fault });
});

describe('stopping', () => {
  test('before a request opens no connection', async () => {
    const { server, send } = await createSending(answerText(BRAND));
    expect(partsOf(await send('/', AbortSignal.abort()))).toEqual(UNSENT);
    expect(partsOf(await send('/next'))).toEqual(WHOLE);
    expect(server.arrived.map(({ path }) => path)).toEqual(['/next']);
  });

  test('a request in flight may have been billed', async () => {
    const { server, send } = await createSending(() => undefined);
    const stop = new AbortController();
    const result = send('/', stop.signal);
    await server.untilArrived(1);
    stop.abort();
    expect(await result).toEqual({
      type: 'no_answer',
      wasSent: true,
      reason: 'stopped before the answer arrived',
    });
  });

  test('a queued request reports it as unsent, and does not send it later', async () => {
    const release: (() => void)[] = [];
    const { server, send } = await createSending(
      (socket) => release.push(() => socket.write(answerText(BRAND))),
      { connections: 1 },
    );
    const stop = new AbortController();
    const first = send('/first');
    await server.untilArrived(1);
    const second = send('/second', stop.signal);
    const third = send('/third');
    stop.abort();
    expect(partsOf(await second)).toEqual(UNSENT);
    release[0]?.();
    expect(partsOf(await first)).toEqual(WHOLE);
    await server.untilArrived(2);
    release[1]?.();
    expect(partsOf(await third)).toEqual(WHOLE);
    expect(server.arrived.map(({ path }) => path)).toEqual(['/first', '/third']);
  });

  test('by closing the sender ends requests in flight, and sends none afterwards', async () => {
    const { server, sender, send } = await createSending(() => undefined);
    const result = send('/under-way');
    await server.untilArrived(1);
    await sender.close();
    expect(partsOf(await result)).toEqual(SENT);
    expect(partsOf(await send('/later'))).toEqual(UNSENT);
    expect(server.arrived.length).toBe(1);
  });
});

describe("a caller's dispatcher", () => {
  type Handler = Record<string, (...given: unknown[]) => void>;
  const ignores = { abort: () => undefined };
  const throws = {
    abort: () => {
      throw new Error('not mine');
    },
  };
  const sendBy = (begin: (handler: Handler) => void, timeoutMs: number) => {
    const dispatcher = {
      dispatch(_options: object, handler: object) {
        begin(handler as Handler);
        return true;
      },
    };
    return createHttpSend({ baseUrl: 'http://127.0.0.1', connections: 1, timeoutMs, dispatcher }).send;
  };

  test.each<[string, (handler: Handler) => void, object]>([
    ['never answers', () => undefined, UNSENT],
    ['ignores the abort', (handler) => handler.onRequestStart?.(ignores), SENT],
    ['throws at the abort', (handler) => handler.onRequestStart?.(throws), SENT],
    [
      'leaves out the body',
      (handler) => {
        handler.onRequestStart?.(ignores);
        handler.onResponseStart?.(ignores, 404, {});
      },
      { status: 404, body: '', incomplete: 'cut_off' },
    ],
  ])('that %s cannot hold back the time-out or a stop', async (_what, begin, parts) => {
    const request = { path: '/', authorization: `Bearer ${TOKEN}` };
    expect(partsOf(await sendBy(begin, 50)(request))).toEqual(parts);
    const stop = new AbortController();
    const result = sendBy(begin, 20_000)({ ...request, signal: stop.signal });
    stop.abort();
    expect(partsOf(await result)).toEqual(parts);
  });

  test('may hand over the body as bytes of any kind', async () => {
    const begin = (handler: Handler) => {
      handler.onRequestStart?.(ignores);
      handler.onResponseStart?.(ignores, 200, {});
      handler.onResponseData?.(ignores, new Uint8Array(Buffer.from(BRAND)));
      handler.onResponseEnd?.(ignores, {});
    };
    const request = { path: '/', authorization: `Bearer ${TOKEN}` };
    expect(partsOf(await sendBy(begin, 20_000)(request))).toEqual(WHOLE);
  });
});

describe('the token', () => {
  test('is in no result of any failure', async () => {
    const { send, sender } = await createSending(
      (socket, { path }) => {
        if (path === '/reset') socket.resetAndDestroy();
        else if (path === '/nonsense') socket.end('nonsense\r\n\r\n');
        else if (path === '/long') socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`);
      },
      { timeoutMs: 200 },
    );
    const results = await Promise.all(['/reset', '/nonsense', '/long', '/silent'].map((path) => send(path)));
    await sender.close();
    results.push(await send('/closed'));
    expect(results.map(({ type }) => type)).toEqual(results.map(() => 'no_answer'));
    expect(JSON.stringify(results)).not.toContain(TOKEN);
  });

  test.each(['a\nb', 'a\r\nx: y', 'a\u0000b', 'ключ'])(
    'that cannot be sent is not shown: %j',
    async (bad) => {
      const { server, sender } = await createSending(answerText(BRAND));
      const result = await sender.send({ path: '/', authorization: `Bearer ${TOKEN}${bad}` });
      expect(partsOf(result)).toEqual(UNSENT);
      expect(JSON.stringify(result)).not.toContain(TOKEN);
      expect(server.arrived).toEqual([]);
    },
  );
});

/** A first text, then another one again and again until the connection ends. */
function drip(socket: { write(text: string): unknown; destroyed: boolean }, first: string, then: string) {
  socket.write(first);
  void (async () => {
    while (!socket.destroyed) {
      await sleep(10);
      if (!socket.destroyed) socket.write(then);
    }
  })();
}
