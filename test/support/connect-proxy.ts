/** A company's proxy that tunnels every host to one port, and keeps every byte that passes. */
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { COMPANY_TLS } from './company-ca.js';
import { listenForTest } from './listen-anew.js';

export type ConnectProxy = Awaited<ReturnType<typeof startConnectProxy>>;

export async function startConnectProxy(
  leadsTo: number,
  {
    behaviour = 'tunnel',
    isTls = false,
  }: { behaviour?: 'tunnel' | 'hang' | 'close' | number; isTls?: boolean } = {},
) {
  const targets: string[] = [];
  const credentials: (string | undefined)[] = [];
  const bytes: Buffer[] = [];
  const sockets = new Set<Socket>();
  let plain = 0;
  const server = isTls ? createTlsServer(COMPANY_TLS) : createServer();
  server.on('request', (_, response) => {
    plain += 1;
    response.writeHead(501).end();
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    targets.push(request.url ?? '');
    credentials.push(request.headers['proxy-authorization']);
    client.on('error', () => undefined);
    if (behaviour === 'hang') return;
    if (behaviour === 'close') {
      client.end();
      return;
    }
    if (behaviour !== 'tunnel') {
      client.end(`HTTP/1.1 ${behaviour} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const service = connect(leadsTo, '127.0.0.1', () =>
      client.write('HTTP/1.1 200 Connection established\r\n\r\n'),
    );
    service.on('error', () => client.destroy());
    service.on('close', () => client.destroy());
    client.on('close', () => service.destroy());
    client.on('data', (data: Buffer) => bytes.push(data));
    service.on('data', (data: Buffer) => bytes.push(data));
    client.pipe(service).pipe(client);
  });
  return {
    port: await listenForTest(server),
    /** The target of each CONNECT. */
    targets,
    /** The `Proxy-Authorization` of each. */
    credentials,
    /** Requests other than CONNECT, which it could read. */
    get plain() {
      return plain;
    },
    /** All bytes that passed, in both directions. */
    seen: () => Buffer.concat(bytes).toString('latin1'),
    /** Ends all tunnels. */
    cut() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
