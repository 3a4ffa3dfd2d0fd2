import { describe, expect, test } from 'vitest';
import { deferred } from '../support/deferred.js';
import { answerText } from './raw-server.js';
import { createSending, partsOf, TOKEN } from './sending.js';

const BRAND = '{"name":"Acme"}';
const WHOLE = { status: 200, body: BRAND, incomplete: null };
const SENT = { wasSent: true };

describe('a request', () => {
  test('is a GET with the token, and asks for JSON', async () => {
    const { server, send } = await createSending(answerText(BRAND));
    expect(partsOf(await send('/v2/brands/domain/acme.example?allowNsfw=true'))).toEqual(WHOLE);
    const [line, ...headers] = server.arrived[0]?.head.split('\r\n') ?? [];
    expect(line).toBe('GET /v2/brands/domain/acme.example?allowNsfw=true HTTP/1.1');
    expect(headers.map((header) => header.toLowerCase()).sort()).toEqual([
      'accept: application/json',
      `authorization: bearer ${TOKEN.toLowerCase()}`,
      'connection: keep-alive',
      `host: ${server.url.slice('http://'.length)}`,
    ]);
  });

  test.each(['/gateway', '/gateway/', '/gateway//', '/gateway/v2', '/gateway/v2/brands/'])(
    'goes below the path of the address: %s',
    async (prefix) => {
      const { server, send } = await createSending(answerText(BRAND), { prefix });
      await send('/v2/brands/x');
      expect(server.arrived[0]?.path).toBe('/gateway/v2/brands/x');
    },
  );

  test('shares a connection with the next one', async () => {
    const { server, send } = await createSending(answerText(BRAND), { connections: 1 });
    for (let index = 0; index < 20; index += 1) expect(partsOf(await send(`/${index}`))).toEqual(WHOLE);
    expect([server.arrived.length, server.connections]).toEqual([20, 1]);
  });

  test('has a connection of its own, and at most the allowed number is open', async () => {
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

  test('does not follow a redirect: the token reaches no other host', async () => {
    const other = await createSending(answerText(BRAND));
    const { send } = await createSending(
      answerText('', { location: `${other.server.url}/stolen` }, '302 Found'),
    );
    const result = await send('/v2/brands/x');
    expect(partsOf(result)).toEqual({ status: 302, body: '', incomplete: null });
    expect(other.server.arrived).toEqual([]);
  });
});

describe('an answer', () => {
  test('has header names in lower case; of a repeated header the first counts', async () => {
    const { send } = await createSending(
      'HTTP/1.1 200 OK\r\nX-API-Key-Quota: 250\r\nx-api-key-quota: 9\r\nContent-Length: 2\r\n\r\n{}',
    );
    const result = await send('/');
    expect(result.type === 'answer' && result.headers['x-api-key-quota']).toBe('250');
  });

  test.each([
    [204, 'HTTP/1.1 204 No Content\r\n\r\n'],
    [304, 'HTTP/1.1 304 Not Modified\r\n\r\n'],
    [404, 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'],
  ])('%i without a body is complete', async (status, text) => {
    const { send } = await createSending(text);
    expect(partsOf(await send('/'))).toEqual({ status, body: '', incomplete: null });
  });

  test('may follow informational responses', async () => {
    const { send } = await createSending(
      Buffer.concat([
        Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\nX-Api-Key-Quota: 1\r\n\r\n'),
        answerText(BRAND),
      ]),
    );
    const result = await send('/');
    expect(partsOf(result)).toEqual(WHOLE);
    expect(result.type === 'answer' && result.headers['x-api-key-quota']).toBeUndefined();
  });

  test('must follow an informational response', async () => {
    const { send } = await createSending((socket) => {
      socket.end('HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n');
    });
    expect(partsOf(await send('/'))).toEqual(SENT);
  });

  test('in chunks is assembled', async () => {
    const { send } = await createSending(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n{"name":\r\n7\r\n"Acme"}\r\n0\r\n\r\n',
    );
    expect(partsOf(await send('/'))).toEqual(WHOLE);
  });

  test('as long as the cap is read, one byte more is too large', async () => {
    const cap = { maxBodyBytes: 1_000 };
    const { send } = await createSending((socket, { path }) => {
      socket.write(answerText('x'.repeat(Number(path.slice(1)))));
    }, cap);
    expect(await send('/1000')).toMatchObject({ status: 200, incomplete: null });
    expect(await send('/1001')).toMatchObject({ status: 200, incomplete: 'too_large' });
    expect(await send('/1000')).toMatchObject({ status: 200, incomplete: null });
  });

  test('without end is not waited for, and its connection is closed', async () => {
    const { promise: ended, resolve: end } = deferred();
    const { send } = await createSending(
      (socket) => {
        socket.on('close', () => end());
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const more = () => socket.write('x'.repeat(100), (error) => error ?? setImmediate(more));
        more();
      },
      { maxBodyBytes: 10_000 },
    );
    expect(await send('/')).toMatchObject({ status: 200, incomplete: 'too_large' });
    await ended;
  });
});

describe('an answer that breaks off', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nX-Api-Key-Quota: 250\r\n';
  const CUT_OFF = { ...WHOLE, body: '{"na', incomplete: 'cut_off' };
  test.each<[string, string, Record<string, unknown>]>([
    ['before the first byte', '', SENT],
    ['in the head', `${HEAD}Content-Le`, SENT],
    ['behind the head', `${HEAD}Content-Length: 15\r\n\r\n`, { ...WHOLE, body: '', incomplete: 'cut_off' }],
    ['in a body', `${HEAD}Content-Length: 15\r\n\r\n{"na`, CUT_OFF],
    ['in a body in chunks', `${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\n{"na\r\n`, CUT_OFF],
    ['in a body without a length: it looks whole', `${HEAD}\r\n{"na`, { ...WHOLE, body: '{"na' }],
    ['because it is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', SENT],
  ])('%s', async (_where, text, expected) => {
    const { server, send } = await createSending((socket) => socket.end(text));
    const result = await send('/v2/brands/x');
    expect(partsOf(result)).toEqual(expected);
    if (result.type === 'answer') expect(result.headers['x-api-key-quota']).toBe('250');
    expect(server.arrived.length).toBe(1);
  });

  test.each<[string, string, Record<string, unknown>]>([
    ['before the head', '', SENT],
    ['behind the head', `${HEAD}Content-Length: 15\r\n\r\n{"na`, { status: 200, incomplete: 'cut_off' }],
  ])('by a reset %s', async (_where, text, expected) => {
    const { server, send } = await createSending((socket) => {
      if (text === '') socket.resetAndDestroy();
      else socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), 20));
    });
    expect(await send('/')).toMatchObject(expected);
    expect(server.arrived.length).toBe(1);
  });

  test('in a head that never ends is abandoned', async () => {
    const { send } = await createSending(`${HEAD}X-Long: ${'x'.repeat(70_000)}`);
    expect(partsOf(await send('/'))).toEqual(SENT);
  });
});
