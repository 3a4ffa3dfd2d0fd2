/** A server that slow clients cannot occupy, with limits short enough to wait for. */
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createGuardedServer, listenHttp, SERVER_LIMITS, trustRequest } from '../../src/core/listen-http.js';

const LIMITS = { ...SERVER_LIMITS, connections: 5, headersMs: 300, strangerMs: 600 };

type Answer = (incoming: IncomingMessage, outgoing: ServerResponse) => void;
const readAll: Answer = (incoming, outgoing) => {
  incoming.resume().on('end', () => outgoing.end('all read'));
};

async function served(answer: Answer, limits: Partial<typeof LIMITS> = {}) {
  const server = createGuardedServer(answer, { ...LIMITS, ...limits });
  const listener = await listenHttp(server, { host: '127.0.0.1', port: 0, purpose: 'test', todo: '' });
  onTestFinished(() => listener.close());
  const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  /** A connection that has sent so much; `closed`: what it was answered. */
  const say = async (text: string): Promise<{ socket: Socket; closed: Promise<string> }> => {
    const socket = connect(listener.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    socket.on('error', () => undefined);
    const closed = new Promise<string>((resolve) => socket.once('close', () => resolve(heard)));
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    socket.write(text);
    return { socket, closed };
  };
  const ask = () =>
    new Promise<string>((resolve, reject) => {
      const asked = get(listener.url, { agent: false }, (answered) => {
        answered.setEncoding('utf8').once('data', resolve);
      });
      asked.on('error', reject);
    });
  return { open, say, ask };
}

it.each([
  ['nothing', ''],
  ['a part of the headers', 'GET / HTTP/1.1\r\nhost: a\r\n'],
  ['a part of the body', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nabc'],
  ['a body that never ends', 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n'],
])('a client that sends %s is closed', async (_, text) => {
  const { say } = await served(readAll);
  expect(await (await say(text)).closed).not.toContain('all read');
});

it.each([
  ['headers', 'GET / HTTP/1.1\r\nx: '],
  ['a body', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n'],
])('a client that sends %s bit by bit is closed all the same', async (_, text) => {
  const { say } = await served(readAll);
  const { socket, closed } = await say(text);
  const dripping = setInterval(() => socket.write('x'), 50);
  expect(await closed).not.toContain('all read');
  clearInterval(dripping);
});

it('a client that does not read its answer is closed', async () => {
  const { say } = await served((_incoming, outgoing) => void outgoing.end(Buffer.alloc(64 * 1_048_576)));
  const { socket, closed } = await say('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  socket.pause();
  // A paused socket sees the end only when it is read again.
  await expect.poll(() => socket.readableLength).toBeGreaterThan(0);
  setTimeout(() => socket.resume(), 1_500).unref();
  expect((await closed).length).toBeLessThan(64 * 1_048_576);
});

it('a trusted request may take longer', async () => {
  const { say } = await served((incoming, outgoing) => {
    trustRequest(incoming);
    readAll(incoming, outgoing);
  });
  const { socket, closed } = await say(
    'POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 20\r\n\r\n',
  );
  let sent = 0;
  const dripping = setInterval(() => {
    socket.write('x');
    sent += 1;
    if (sent === 20) clearInterval(dripping);
  }, 60);
  expect(await closed).toContain('all read');
});

it('with too many connections, a new one takes the place of the oldest', async () => {
  const { open, say, ask } = await served(readAll, { headersMs: 60_000, strangerMs: 60_000 });
  const first = await say('');
  for (let count = 0; count < 40; count += 1) await say('GET / HTTP/1.1\r\n');
  expect(await first.closed).toBe('');
  expect(await ask()).toBe('all read');
  expect(await open()).toBeLessThanOrEqual(5);
});

it('a trusted connection keeps its place', async () => {
  const { say, ask } = await served(
    (incoming, outgoing) => {
      if (incoming.url === '/trusted') trustRequest(incoming);
      readAll(incoming, outgoing);
    },
    { headersMs: 60_000, strangerMs: 60_000 },
  );
  const kept = await say(
    'POST /trusted HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 2\r\n\r\na',
  );
  await ask();
  for (let count = 0; count < 40; count += 1) await say('');
  kept.socket.write('b');
  expect(await kept.closed).toContain('all read');
});
