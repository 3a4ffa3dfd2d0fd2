/**
 * One request over real sockets: what leaves this machine, what is made of what comes back, and how every wait ends.
 */

import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createHttpSend } from '../../src/lookup/http-send.js';
import { answerText } from './raw-server.js';
import { createSending, TOKEN, told } from './sending.js';

const BRAND = '{"name":"Acme"}';
const WHOLE = { status: 200, body: BRAND, damage: null };
const SENT = { wasSent: true };
const UNSENT = { wasSent: false };

describe('a request', () => {
  test('is a GET with the token, and asks for JSON', async () => {
    const { server, send } = await createSending((socket) => socket.write(answerText(BRAND)));
    expect(told(await send('/v2/brands/domain/acme.example?allowNsfw=true'))).toEqual(WHOLE);
    const [line, ...headers] = server.arrived[0]?.head.split('\r\n') ?? [];
    expect(line).toBe('GET /v2/brands/domain/acme.example?allowNsfw=true HTTP/1.1');
    expect(headers.map((header) => header.toLowerCase()).sort()).toEqual([
      'accept: application/json',
      `authorization: bearer ${TOKEN.toLowerCase()}`,
      'connection: keep-alive',
      `host: ${server.url.slice('http://'.length)}`,
    ]);
  });

  test.each(['/gateway', '/gateway/', '/gateway//'])(
    'goes below the path of the address: %s',
    async (prefix) => {
      const { server, send } = await createSending((socket) => socket.write(answerText(BRAND)), { prefix });
      await send('/v2/brands/x');
      expect(server.arrived[0]?.path).toBe('/gateway/v2/brands/x');
    },
  );

  test('requests one after the other share a connection', async () => {
    const { server, send } = await createSending((socket) => socket.write(answerText(BRAND)), {
      connections: 1,
    });
    for (let index = 0; index < 20; index += 1) expect(told(await send(`/${index}`))).toEqual(WHOLE);
    expect([server.arrived.length, server.connections]).toEqual([20, 1]);
  });

  test('no connection carries two at a time, and no more are open than allowed', async () => {
    const busy = new Map<number, number>();
    let most = 0;
    const { server, send } = await createSending(
      (socket, { connection }) => {
        busy.set(connection, (busy.get(connection) ?? 0) + 1);
        most = Math.max(most, ...busy.values());
        setImmediate(() => {
          busy.set(connection, (busy.get(connection) ?? 0) - 1);
          socket.write(answerText(BRAND));
        });
      },
      { connections: 3 },
    );
    await Promise.all(Array.from({ length: 30 }, (_, index) => send(`/${index}`)));
    expect([most, server.connections, server.arrived.length]).toEqual([1, 3, 30]);
  });

  test('a redirect is an answer and is not followed: the token reaches nobody else', async () => {
    const other = await createSending((socket) => socket.write(answerText(BRAND)));
    const { send } = await createSending((socket) =>
      socket.write(answerText('', { location: `${other.server.url}/stolen` }, '302 Found')),
    );
    const result = await send('/v2/brands/x');
    expect(told(result)).toEqual({ status: 302, body: '', damage: null });
    expect(other.server.arrived).toEqual([]);
  });
});

describe('an answer', () => {
  test('names of headers are lower case; of a repeated one the first counts', async () => {
    const { send } = await createSending((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nX-API-Key-Quota: 250\r\nx-api-key-quota: 9\r\nContent-Length: 2\r\n\r\n{}',
      ),
    );
    const result = await send('/');
    expect(result.type === 'answer' && result.headers['x-api-key-quota']).toBe('250');
  });

  test.each([
    [204, 'HTTP/1.1 204 No Content\r\n\r\n'],
    [304, 'HTTP/1.1 304 Not Modified\r\n\r\n'],
    [404, 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'],
  ])('%i without a body is whole', async (status, text) => {
    const { send } = await createSending((socket) => socket.write(text));
    expect(told(await send('/'))).toEqual({ status, body: '', damage: null });
  });

  test('announcements before it are passed over', async () => {
    const { send } = await createSending((socket) =>
      socket.write(
        Buffer.concat([
          Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\nX-Api-Key-Quota: 1\r\n\r\n'),
          answerText(BRAND),
        ]),
      ),
    );
    const result = await send('/');
    expect(told(result)).toEqual(WHOLE);
    expect(result.type === 'answer' && result.headers['x-api-key-quota']).toBeUndefined();
  });

  test('an announcement alone is no answer', async () => {
    const { send } = await createSending((socket) => {
      socket.end('HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n');
    });
    expect(told(await send('/'))).toEqual(SENT);
  });

  test('a body in chunks is put together', async () => {
    const { send } = await createSending((socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"name":\r\n7\r\n"Acme"}\r\n0\r\n\r\n',
      ),
    );
    expect(told(await send('/'))).toEqual(WHOLE);
  });

  test('a body as long as the cap is read, one byte more is too large', async () => {
    const cap = { maxBodyBytes: 1_000 };
    const { send } = await createSending((socket, { path }) => {
      socket.write(answerText('x'.repeat(Number(path.slice(1)))));
    }, cap);
    expect(await send('/1000')).toMatchObject({ status: 200, damage: null });
    expect(await send('/1001')).toMatchObject({ status: 200, damage: 'too_large' });
    expect(await send('/1000')).toMatchObject({ status: 200, damage: null });
  });

  test('a body without end is not waited for, and its connection ends', async () => {
    let end = () => undefined as unknown;
    const ended = new Promise((resolve) => {
      end = () => resolve(undefined);
    });
    const { send } = await createSending(
      (socket) => {
        socket.on('close', () => end());
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const more = () => socket.write('x'.repeat(100), (error) => error ?? setImmediate(more));
        more();
      },
      { maxBodyBytes: 10_000 },
    );
    expect(await send('/')).toMatchObject({ status: 200, damage: 'too_large' });
    await ended;
  });
});

describe('an answer that breaks off', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nX-Api-Key-Quota: 250\r\n';
  test.each<[string, string, Record<string, unknown>]>([
    ['before the first byte', '', SENT],
    ['in the head', `${HEAD}Content-Le`, SENT],
    ['behind the head', `${HEAD}Content-Length: 15\r\n\r\n`, { ...WHOLE, body: '', damage: 'cut_off' }],
    [
      'in a body with a length',
      `${HEAD}Content-Length: 15\r\n\r\n{"na`,
      { ...WHOLE, body: '{"na', damage: 'cut_off' },
    ],
    [
      'in a body in chunks',
      `${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\n{"na\r\n`,
      { ...WHOLE, body: '{"na', damage: 'cut_off' },
    ],
    ['in a body without a length: it looks whole', `${HEAD}\r\n{"na`, { ...WHOLE, body: '{"na' }],
    ['because it is no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', SENT],
  ])('%s', async (_where, text, expected) => {
    const { server, send } = await createSending((socket) => socket.end(text));
    const result = await send('/v2/brands/x');
    expect(told(result)).toEqual(expected);
    if (result.type === 'answer') expect(result.headers['x-api-key-quota']).toBe('250');
    expect(server.arrived.length).toBe(1);
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['before the head', '', SENT],
    ['behind the head', `${HEAD}Content-Length: 15\r\n\r\n{"na`, { status: 200, damage: 'cut_off' }],
  ])('by a reset %s', async (_where, text, expected) => {
    const { server, send } = await createSending((socket) => {
      if (text === '') socket.resetAndDestroy();
      else socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 20));
    });
    expect(await send('/')).toMatchObject(expected);
    expect(server.arrived.length).toBe(1);
  });

  test('a head that never ends is given up', async () => {
    const { send } = await createSending((socket) => socket.write(`${HEAD}X-Long: ${'x'.repeat(70_000)}`));
    expect(told(await send('/'))).toEqual(SENT);
  });
});

describe('time', () => {
  test('an answer that does not come is not waited for longer than the time-out', async () => {
    const { send } = await createSending(() => undefined, { timeoutMs: 100 });
    expect(await send('/')).toEqual({
      type: 'no_answer',
      wasSent: true,
      reason: 'no complete answer within 100 ms',
    });
  });

  test('a head that comes drop by drop does not renew it', async () => {
    const { send } = await createSending((socket) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'X-Slow: 1\r\n'), {
      timeoutMs: 150,
    });
    expect(told(await send('/'))).toEqual(SENT);
  });

  test('a body that comes drop by drop does not either; what its head said is known', async () => {
    const head = 'HTTP/1.1 404 Not Found\r\nX-Api-Key-Approximate-Usage: 7\r\nContent-Length: 9000\r\n\r\n';
    const { send } = await createSending((socket) => drip(socket, head, ' '), { timeoutMs: 150 });
    const result = await send('/');
    expect(result).toMatchObject({ status: 404, damage: 'cut_off' });
    expect(result.type === 'answer' && result.headers['x-api-key-approximate-usage']).toBe('7');
  });

  test('waiting for a connection counts', async () => {
    const { server, send } = await createSending(() => undefined, { timeoutMs: 100, connections: 1 });
    const results = await Promise.all([send('/first'), send('/second')]);
    expect(results.map(told)).toEqual([SENT, UNSENT]);
    expect(server.countOf('/second')).toBe(0);
  });
});

describe('a refused connection', () => {
  test('sends nothing', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => {
      server.close(resolve);
    });
    const { send, close } = createHttpSend({
      baseUrl: `http://127.0.0.1:${port}`,
      connections: 2,
      timeoutMs: 20_000,
    });
    const result = await send({ path: '/', authorization: `Bearer ${TOKEN}` });
    expect(result).toMatchObject({ type: 'no_answer', wasSent: false });
    expect(result.type === 'no_answer' && result.reason).toContain('ECONNREFUSED');
    await close();
  });
});

describe('stopping', () => {
  test('a request that was stopped before it began opens no connection', async () => {
    const { server, send } = await createSending((socket) => socket.write(answerText(BRAND)));
    expect(told(await send('/', AbortSignal.abort()))).toEqual(UNSENT);
    expect(told(await send('/next'))).toEqual(WHOLE);
    expect(server.arrived.map(({ path }) => path)).toEqual(['/next']);
  });

  test('a request under way may have been billed', async () => {
    const { server, send } = await createSending(() => undefined);
    const stop = new AbortController();
    const result = send('/', stop.signal);
    await server.untilArrived(1);
    stop.abort();
    expect(await result).toEqual({
      type: 'no_answer',
      wasSent: true,
      reason: 'stopped before an answer came',
    });
  });

  test('a request in the queue was never sent, and is not sent later', async () => {
    const letGo: (() => void)[] = [];
    const { server, send } = await createSending(
      (socket) => letGo.push(() => socket.write(answerText(BRAND))),
      {
        connections: 1,
      },
    );
    const stop = new AbortController();
    const first = send('/first');
    await server.untilArrived(1);
    const second = send('/second', stop.signal);
    const third = send('/third');
    stop.abort();
    expect(told(await second)).toEqual(UNSENT);
    letGo[0]?.();
    expect(told(await first)).toEqual(WHOLE);
    await server.untilArrived(2);
    letGo[1]?.();
    expect(told(await third)).toEqual(WHOLE);
    expect(server.arrived.map(({ path }) => path)).toEqual(['/first', '/third']);
  });

  test('an answer that is there is kept, though its request is stopped afterwards', async () => {
    const { send } = await createSending((socket) => socket.write(answerText(BRAND)));
    const stop = new AbortController();
    const result = await send('/', stop.signal);
    stop.abort();
    expect(told(result)).toEqual(WHOLE);
  });

  test('closing ends what is under way, and nothing is sent afterwards', async () => {
    const { server, sender, send } = await createSending(() => undefined);
    const result = send('/under-way');
    await server.untilArrived(1);
    await sender.close();
    expect(told(await result)).toEqual(SENT);
    expect(told(await send('/later'))).toEqual(UNSENT);
    expect(server.arrived.length).toBe(1);
  });
});

describe('the token', () => {
  test('is in no result, whatever goes wrong', async () => {
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
    'that cannot be sent is not told either: %j',
    async (bad) => {
      const { server, sender } = await createSending((socket) => socket.write(answerText(BRAND)));
      const result = await sender.send({ path: '/', authorization: `Bearer ${TOKEN}${bad}` });
      expect(told(result)).toEqual(UNSENT);
      expect(JSON.stringify(result)).not.toContain(TOKEN);
      expect(server.arrived).toEqual([]);
    },
  );
});

/** A first text, then another one again and again until the connection ends. */
function drip(
  socket: { write(text: string): unknown; destroyed: boolean },
  first: string,
  then: string,
): void {
  socket.write(first);
  void (async () => {
    while (!socket.destroyed) {
      await sleep(10);
      if (!socket.destroyed) socket.write(then);
    }
  })();
}
