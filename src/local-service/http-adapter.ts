/** Serves a `Service` over HTTP, and answers requests that are not whole. */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../core/clock.js';
import { type HttpListener, type ListenAddress, listenHttp } from '../core/listen-http.js';
import { type HeaderFields, jsonAnswer, type Service, type ServiceResponse } from './service-request.js';

/** Longer than clients keep a connection, so that none closes under a request just sent. */
const KEEP_ALIVE_MS = 75_000;
const CLOSE_MS = 2_000;
/** Statuses for requests that Node cannot read; 400 for any other reason. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

export interface ListenOptions extends Pick<ListenAddress, 'host' | 'port'> {
  readonly clock?: Clock | undefined;
  /** How long a request may take to arrive, or a new connection to begin one. Default 30 s. */
  readonly arrivalMs?: number | undefined;
}

/** Listens for requests. Closing leaves the service open. Throws `RunError` if it cannot listen. */
export async function listen(service: Service, options: ListenOptions): Promise<HttpListener> {
  const { host, port, clock = systemClock, arrivalMs = 30_000 } = options;
  let isClosing = false;
  const settings = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: arrivalMs,
    requestTimeout: arrivalMs,
    connectionsCheckingInterval: Math.ceil(arrivalMs / 6),
    // Node would refuse a request without a Host with an empty body; `refusalOf` refuses it like
    // others.
    requireHostHeader: false,
  };
  /** The newest answer of each connection, which is sent after all others. */
  const newest = new WeakMap<Socket, ServerResponse>();
  /** Connections that end with an answer under way: later requests get no answer. */
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
  /** Waits for earlier answers: before them it would pass for the answer of a billed request. */
  const refuseLast = (socket: Socket, status: number, headers?: HeaderFields) => {
    const answer = refusal(status, { ...headers, connection: 'close' });
    const earlier = newest.get(socket);
    if (earlier === undefined || earlier.writableFinished) refuse(socket, answer);
    else earlier.once('close', () => refuse(socket, answer));
  };
  // Node's `100 Continue` would stand within the answer before it. Without it, Node closes the
  // connection after the answer.
  server.on('checkContinue', (request, response) => {
    respond(request, response);
    ending.add(request.socket);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuseLast(socket, STATUSES[error.code ?? ''] ?? 400);
  });
  // Not the last answer: the next request may be read and billed already.
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

/** Returns the status for a request that HTTP/1.1 forbids and Node reads; null for a valid one. */
function refusalOf({ httpVersion, headers }: IncomingMessage): number | null {
  if (httpVersion === '1.0') return null;
  // RFC 9112, 3.2: a request of HTTP/1.1 must have a Host.
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

/** Ends a connection without a request: with an answer only if something was received. */
function refuse(socket: Socket, { status, headers, body }: ServiceResponse): void {
  if (!socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', ''].join('\r\n');
  socket.end(head + body, () => socket.destroy());
}
