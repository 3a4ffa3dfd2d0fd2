/**
 * Serves `/metrics`, `/healthz` and `/readyz` over plain HTTP, and nothing else. There is no password: it listens on
 * loopback unless the settings say otherwise, and what it serves holds no token, brand or row.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type HttpListener, listenHttp } from '../core/listen-http.js';
import type { Metrics } from './metrics.js';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly metrics: Pick<Metrics, 'text' | 'contentType'>;
  /** null: this process can do its work; else why not, in a few words. */
  readonly whyNotReady: () => Promise<string | null>;
}

interface Page {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

/** Throws `FailFileError` when the server cannot listen there. */
export async function serveMetrics(options: MetricsServerOptions): Promise<HttpListener> {
  const { host, port } = options;
  const server = createServer((request, response) => {
    answer(request, options).then(
      (page) => send(response, page, request.method === 'HEAD'),
      () => response.destroy(),
    );
  });
  const todo = 'choose another --metrics-port or --metrics-host';
  return listenHttp(server, { host, port, purpose: 'metrics', todo });
}

async function answer(request: IncomingMessage, options: MetricsServerOptions): Promise<Page> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return words(405, 'only GET is answered');
  switch ((request.url ?? '/').split('?')[0]) {
    case '/metrics':
      return { status: 200, type: options.metrics.contentType, text: await options.metrics.text() };
    case '/healthz':
      return words(200, 'alive');
    case '/readyz': {
      const whyNot = await options.whyNotReady();
      return whyNot === null ? words(200, 'ready') : words(503, whyNot);
    }
    default:
      return words(404, 'here are /metrics, /healthz and /readyz');
  }
}

function words(status: number, text: string): Page {
  return { status, type: 'text/plain; charset=utf-8', text: `${text}\n` };
}

function send(response: ServerResponse, { status, type, text }: Page, isHead: boolean): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  });
  response.end(isHead ? undefined : text);
}
