/**
 * Serves the dashboard: the page, its parts, the same as JSON, and Bull Board.
 */
import { isIP } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Hono } from 'hono';
import { isLoopbackHost } from '../../config/address-values.js';
import { FailFileError } from '../../core/errors.js';
import { systemWords } from '../../core/system-error.js';
import type { DashboardView } from './dashboard-data.js';
import { createGate, type GateOptions } from './gate.js';
import type { QueueBoard } from './queue-board.js';
import { renderDashboard, renderParts } from './render-dashboard.js';
import { statusOf } from './status-json.js';
import { QUEUE_PATH } from './waiting-sections.js';

export interface DashboardServer {
  /** `http://host:port/`. */
  readonly url: string;
  close(): Promise<void>;
}

export interface DashboardServerOptions extends Omit<DashboardAppOptions, 'isLoopback' | 'addressOf'> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Throws `FailFileError` when the port cannot be had. */
export async function serveDashboard(options: DashboardServerOptions): Promise<DashboardServer> {
  const { host, port } = options;
  const app = createDashboardApp({
    ...options,
    isLoopback: isLoopbackHost(host),
    addressOf: (context) => getConnInfo(context).remote.address ?? '',
  });
  const server = createAdaptorServer({ fetch: app.fetch, hostname: 'localhost' });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new FailFileError({
          code: 'service-unreachable',
          what: 'the address for the dashboard cannot be listened on',
          subject: `${host}:${port} (${systemWords(cause)})`,
          todo: 'choose another --dashboard-port or --dashboard-host, or --no-dashboard',
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${boundPort}/`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
    },
  };
}

interface DashboardAppOptions extends GateOptions {
  readonly look: () => Promise<DashboardView>;
  /** The browser build of Chart.js, as text. */
  readonly chartLibrary: string;
  /** Opened when somebody looks into the queue for the first time. */
  readonly openBoard: () => Promise<QueueBoard>;
  /** Is told of bugs. */
  readonly onTrouble: (error: Error) => void;
}

function createDashboardApp(options: DashboardAppOptions): Hono {
  const { look, chartLibrary, openBoard, onTrouble } = options;
  const app = createGate(options);

  app.get('/', async (context) => {
    const page = renderDashboard(await look(), chartLibrary);
    context.header('content-security-policy', page.policy);
    return context.html(page.html);
  });
  app.get('/parts', async (context) => {
    context.header('content-security-policy', "default-src 'none'");
    return context.html(renderParts(await look()));
  });
  app.get('/status.json', async (context) => {
    context.header('content-security-policy', "default-src 'none'");
    return context.json(statusOf(await look()));
  });
  app.get(QUEUE_PATH, (context) => context.redirect(`${QUEUE_PATH}/`, 301));
  app.all(`${QUEUE_PATH}/*`, async (context) => {
    const board = await openBoard();
    return board.answer(context.req.raw);
  });
  app.notFound((context) => context.text('nothing here; the dashboard is at /\n', 404));
  app.onError((error, context) => {
    onTrouble(error);
    return context.text('this did not work; the log says why\n', 500);
  });
  return app;
}
