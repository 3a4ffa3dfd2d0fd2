/** Serves a `Service` over HTTP. It answers itself only what is not a whole request. */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../core/clock.js';
import { type HttpListener, type ListenAddress, listenHttp } from '../core/listen-http.js';
import { type HeaderFields, jsonAnswer, type Service, type ServiceResponse } from './service-request.js';

/** Longer than the pools of clients keep one, so that none is closed under a request just sent. */
const KEEP_ALIVE_MS = 75_000;
const CLOSE_MS = 2_000;
/** The status for a request that Node cannot read; else 400. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export interface ListenOptions extends Pick<ListenAddress, 'host' | 'port'> {
  readonly clock?: Clock | undefined;
  /** How long a request may take to arrive, and a new connection to begin one. Default 30 s. */
  readonly arrivalMs?: number | undefined;
}

/** Closing leaves the service open. Throws `RunError` when the server cannot listen there. */
export async function listen(service: Service, options: ListenOptions): Promise<HttpListener> {
  const { host, port, clock = systemClock, arrivalMs = 30_000 } = options;
  let isClosing = false;
  const settings = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: arrivalMs,
    requestTimeout: arrivalMs,
    connectionsCheckingInterval: Math.ceil(arrivalMs / 6),
    // Node refuses a request without a Host with an empty body: it is refused below, as all others.
    requireHostHeader: false,
  };
  /** The newest answer on each connection: it goes out after all others. */
  const newest = new WeakMap<Socket, ServerResponse>();
  /** Connections that end with an answer that is on its way: nothing after it is answered. */
  const ending = new WeakSet<Socket>();
  const refusal = (status: number, headers?: HeaderFields) => jsonAnswer(status, clock.now(), headers);
  const respond = (request: IncomingMessage, response: ServerResponse, status = refusalOf(request)) => {
    const { method = 'GET', url: path = '/', headers, socket } = request;
    if (ending.has(socket)) return;
    newest.set(socket, response);
    const answer = async () =>
      status === null
        ? service.handle({ method, path, authorization: headers.authorization })
        : refusal(status);
    answer().then(
      (result) => {
        const isLast = isClosing && newest.get(socket) === response;
        if (isLast) ending.add(socket);
        send(response, result, isLast);
      },
      () => response.destroy(),
    );
  };
  const server = createServer(settings, (request, response) => respond(request, response));
  /** Before the earlier answers it would pass for one of them, whose request was billed. */
  const refuseLast = (socket: Socket, status: number, headers?: HeaderFields) => {
    const answer = refusal(status, { ...headers, connection: 'close' });
    const earlier = newest.get(socket);
    if (earlier === undefined || earlier.writableFinished) refuse(socket, answer);
    else earlier.once('close', () => refuse(socket, answer));
  };
  // Node's word to go on would stand within the answer before it. Without that word Node closes the
  // connection after the answer.
  server.on('checkContinue', (request, response) => {
    respond(request, response);
    ending.add(request.socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseLast(socket, STATUSES[error.code ?? ''] ?? 400);
  });
  // The last one it is not: the request after it may have been read and billed.
  server.on('checkExpectation', (request, response) => respond(request, response, 417));
  server.on('connect', (_request, socket: Socket) => refuseLast(socket, 405, { allow: 'GET, HEAD' }));
  const todo = 'choose another --port or --host';
  const listener = await listenHttp(server, { host, port, purpose: 'local service', todo });
  return {
    ...listener,
    close() {
      isClosing = true;
      return listener.close(CLOSE_MS);
    },
  };
}

/** The status for a request that Node reads and HTTP/1.1 does not allow; null: it is fine. */
function refusalOf({ httpVersion, headers }: IncomingMessage): number | null {
  if (httpVersion === '1.0') return null;
  // RFC 9112, 3.2: a request of HTTP/1.1 without a Host is malformed.
  if (httpVersion === '1.1') return headers.host === undefined ? 400 : null;
  return 505;
}

function send(response: ServerResponse, result: ServiceResponse, isLast: boolean): void {
  if (isLast) response.setHeader('connection', 'close');
  if (result.cut === 'before-headers') {
    response.destroy();
    return;
  }
  response.writeHead(result.status, result.headers);
  if (result.cut === 'in-body') response.write(result.body, () => response.destroy());
  else response.end(result.body);
}

/** Ends a connection on which no request was read; one on which nothing came without an answer. */
function refuse(socket: Socket, { status, headers, body }: ServiceResponse): void {
  if (!socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', ''].join('\r\n');
  socket.end(head + body, () => socket.destroy());
}
