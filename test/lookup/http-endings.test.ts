/**
 * How a request ends that is not answered: time-outs, refused connections, stopping, closing. And that none of these
 * ways tells the token.
 */
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHttpSend } from '../../src/lookup/send.js';
import { SELF_SIGNED } from '../support/self-signed.js';
import { answerText } from './raw-server.js';
import { createSending, TOKEN, told } from './sending.js';

const BRAND = '{"name":"Acme"}';
const WHOLE = { status: 200, body: BRAND, damage: null };
const SENT = { wasSent: true };
const UNSENT = { wasSent: false };

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
    const { server, send } = await createSending(
      (socket, { path }) => {
        if (path === '/warm') socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
      },
      { timeoutMs: 300, connections: 1 },
    );
    // With a connection that is there both begin in the same moment, and so do their time-outs.
    await send('/warm');
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
    expect(result).toHaveProperty('reason', `nothing listens at 127.0.0.1:${port}`);
    await close();
  });
});

describe('an address that is wrong', () => {
  const sendTo = async (baseUrl: string) => {
    const { send, close } = createHttpSend({ baseUrl, connections: 2, timeoutMs: 20_000 });
    onTestFinished(close);
    return send({ path: '/', authorization: `Bearer ${TOKEN}` });
  };
  const listening = async (server: Server) => {
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return (server.address() as AddressInfo).port;
  };
  const wrong = (reason: unknown) => ({ type: 'no_answer', wasSent: false, reason, fault: 'lasting' });

  test('with a host that does not exist names it', async () => {
    expect(await sendTo('https://nowhere.invalid')).toEqual(wrong('the host nowhere.invalid does not exist'));
  });

  test('with https to a port without TLS says so', async () => {
    const port = await listening(createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    expect(await sendTo(`https://127.0.0.1:${port}`)).toEqual(wrong('that port does not speak TLS'));
  });

  test('with a certificate that nobody vouches for says how to trust it', async () => {
    const port = await listening(createTlsServer(SELF_SIGNED));
    expect(await sendTo(`https://127.0.0.1:${port}`)).toEqual(
      wrong(expect.stringMatching(/^the certificate is self-signed.*--ca-file$/)),
    );
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
