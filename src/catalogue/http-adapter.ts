/**
 * Serves a `Service` over HTTP with `node:http`, keep-alive, and nothing of its own: status, headers and body are the
 * service's. Requests carry no body; one that does is not read.
 */
import { createServer, type ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { FailFileError } from '../errors.js';
import { withinDeadline } from '../lifecycle.js';
import type { Service, ServiceResponse } from './handle.js';

export interface Listener {
  readonly port: number;
  /** `http://host:port`, without a slash at its end. */
  readonly url: string;
  /** Takes no new connections, lets answers under way finish for two seconds, and lets go. The service stays open. */
  close(): Promise<void>;
}

/** Longer than the pools of clients keep a connection, so that none is closed under a request just sent. */
const KEEP_ALIVE_MS = 75_000;
const CLOSE_MS = 2_000;

/** Listens on `host`; port 0 takes a free one. Throws `FailFileError` when the port cannot be had. */
export async function listen(
  service: Service,
  options: { readonly host: string; readonly port: number },
): Promise<Listener> {
  const { host, port } = options;
  let isClosing = false;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const answer = (result: ServiceResponse) => send(response, result, isClosing);
    try {
      const result = service.handle({ method, path: url, authorization: request.headers.authorization });
      if (result instanceof Promise) result.then(answer, () => response.destroy());
      else answer(result);
    } catch {
      response.destroy();
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new FailFileError({
          code: 'service-unreachable',
          what: 'the address cannot be listened on',
          subject: `${host}:${port}`,
          todo: 'choose another --port or --host',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    port: boundPort,
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${boundPort}`,
    async close() {
      isClosing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await withinDeadline(closed, CLOSE_MS);
      server.closeAllConnections();
      await closed;
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
