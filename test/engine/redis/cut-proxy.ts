/**
 * A TCP proxy between a client and Redis that can lose answers: it passes requests on, and cuts the
 * connection instead of passing the next answer back.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export interface CutProxy {
  readonly port: number;
  /** Swallows the next answer of Redis and cuts its connection. Resolves when that has happened. */
  cutNextAnswer(): Promise<void>;
  /** Passes no more answers back while connections stay open: a server that hangs. */
  hang(): void;
  close(): Promise<void>;
}

export async function startCutProxy(redisPort: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let onCut: (() => void) | undefined;
  let hangs = false;
  const server = createServer((client) => {
    const redis = connect(redisPort, '127.0.0.1');
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        redis.destroy();
      });
    }
    client.on('data', (bytes) => redis.write(bytes));
    redis.on('data', (bytes) => {
      if (hangs) return;
      if (onCut === undefined) {
        client.write(bytes);
        return;
      }
      const cut = onCut;
      onCut = undefined;
      client.destroy();
      redis.destroy();
      cut();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    port: address.port,
    cutNextAnswer: () =>
      new Promise((resolve) => {
        onCut = resolve;
      }),
    hang() {
      hangs = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
