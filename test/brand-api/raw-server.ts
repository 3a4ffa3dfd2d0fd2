/** A server that speaks bytes: it records every request, and the test decides what is sent back. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { vi } from 'vitest';
import { listenAnew } from '../support/listen-anew.js';

export interface Arrived {
  readonly path: string;
  /** The head as received, without the empty line. */
  readonly head: string;
  readonly connection: number;
}

export type RawServer = Awaited<ReturnType<typeof createRawServer>>;

export type Respond = (socket: Socket, request: Arrived, index: number) => void;

export async function createRawServer(respond: Respond) {
  const arrived: Arrived[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = connections;
    connections += 1;
    sockets.add(socket);
    let text = '';
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data) => {
      text += data.toString('latin1');
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const head = text.slice(0, end);
        text = text.slice(end + 4);
        const request = { path: head.split(' ')[1] ?? '', head, connection };
        arrived.push(request);
        respond(socket, request, arrived.length - 1);
      }
    });
  });
  const port = await listenAnew(server);
  return {
    url: `http://127.0.0.1:${port}`,
    arrived: arrived as readonly Arrived[],
    get connections() {
      return connections;
    },
    /** How often each path arrived. */
    countOf: (path: string) => arrived.filter((request) => request.path === path).length,
    /** Resolves once this many requests have arrived. */
    untilArrived: (count: number) =>
      vi.waitUntil(() => arrived.length >= count, { interval: 1, timeout: 20_000 }),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A complete answer with its length. */
export function answerText(body: string | Buffer, headers: Record<string, string> = {}, status = '200 OK') {
  const bytes = Buffer.from(body);
  const lines = Object.entries({ 'content-length': String(bytes.length), ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`), bytes]);
}
