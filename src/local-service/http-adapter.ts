/**
 * Serves a `Service` over HTTP with `node:http`, keep-alive: status, headers and body are the service's. Its own are only
 * the answers to what is no whole request: malformed, too large, too slow. They look like the service's errors, JSON and
 * `{}`. Requests carry no body; one that does is not read.
 */
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../core/clock.js';
import { type HttpListener, listenHttp } from '../core/listen-http.js';
import { jsonAnswer, type Service, type ServiceResponse } from './service-request.js';

/** Longer than the pools of clients keep a connection, so that none is closed under a request just sent. */
const KEEP_ALIVE_MS = 75_000;
/** How long answers under way may take when it closes. */
const CLOSE_MS = 2_000;
/** How long a request may take to arrive, and a new connection to begin one. */
const ARRIVAL_MS = 30_000;

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly clock?: Clock | undefined;
  /** Default 30 s. */
  readonly arrivalMs?: number | undefined;
}

/**
 * Listens on `host`; port 0 takes a free one. Closing leaves the service open. Throws `FailFileError` when the server
 * cannot listen there.
 */
export async function listen(service: Service, options: ListenOptions): Promise<HttpListener> {
  const { host, port, clock = systemClock, arrivalMs = ARRIVAL_MS } = options;
  let isClosing = false;
  const settings = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: arrivalMs,
    requestTimeout: arrivalMs,
    connectionsCheckingInterval: Math.ceil(arrivalMs / 6),
    // Node refuses a request without a Host with an empty body: it is refused below, like everything else.
    requireHostHeader: false,
  };
  const server = createServer(settings, (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const answer = (result: ServiceResponse) => send(response, result, isClosing);
    if (lacksHost(request)) {
      answer(jsonAnswer(400, clock.now()));
      return;
    }
    try {
      const result = service.handle({ method, path: url, authorization: request.headers.authorization });
      if (result instanceof Promise) result.then(answer, () => response.destroy());
      else answer(result);
    } catch {
      response.destroy();
    }
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refuse(socket, statusOf(error), clock);
  });
  server.on('checkExpectation', (_request, response) => send(response, jsonAnswer(417, clock.now()), true));
  server.on('connect', (_request, socket: Socket) => refuse(socket, 405, clock, { allow: 'GET, HEAD' }));
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

/** What Node's reader of requests says, as a status. */
function statusOf(error: NodeJS.ErrnoException): 400 | 408 | 431 {
  if (error.code === 'HPE_HEADER_OVERFLOW') return 431;
  return error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

/** RFC 9112, 3.2: a request of HTTP/1.1 without a Host is malformed. */
function lacksHost(request: IncomingMessage): boolean {
  return request.httpVersion === '1.1' && request.headers.host === undefined;
}

/** Ends a connection on which no request was read. One that never said a word is closed without one. */
function refuse(
  socket: Socket,
  status: number,
  clock: Clock,
  more: Readonly<Record<string, string>> = {},
): void {
  if (!socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const { headers, body } = jsonAnswer(status, clock.now(), { ...more, connection: 'close' });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', ''].join('\r\n');
  socket.end(head + body, () => socket.destroy());
}
