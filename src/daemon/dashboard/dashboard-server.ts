/**
 * Serves the dashboard: the page, its parts, the same as JSON, and Bull Board.
 */
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Hono } from 'hono';
import { isLoopbackHost } from '../../config/address-values.js';
import { type HttpListener, listenHttp } from '../../core/listen-http.js';
import type { DashboardView } from './dashboard-data.js';
import { createGate, type GateOptions } from './gate.js';
import type { QueueBoard } from './queue-board.js';
import { renderDashboard, renderParts } from './render-dashboard.js';
import { statusOf } from './status-json.js';
import { QUEUE_PATH } from './waiting-sections.js';

export interface DashboardServerOptions extends Omit<DashboardAppOptions, 'isLoopback' | 'addressOf'> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Throws `FailFileError` when the server cannot listen there. */
export async function serveDashboard(options: DashboardServerOptions): Promise<HttpListener> {
  const { host, port } = options;
  const app = createDashboardApp({
    ...options,
    isLoopback: isLoopbackHost(host),
    addressOf: (context) => getConnInfo(context).remote.address ?? '',
  });
  const todo = 'choose another --dashboard-port or --dashboard-host, or --no-dashboard';
  const server = createServer(getRequestListener(app.fetch, { hostname: 'localhost' }));
  return listenHttp(server, { host, port, purpose: 'dashboard', todo });
}

interface DashboardAppOptions extends GateOptions {
  readonly look: () => Promise<DashboardView>;
  /** The browser build of Chart.js, as text. */
  readonly chartLibrary: string;
  /** Opened when somebody looks into the queue for the first time. */
  readonly openBoard: () => Promise<QueueBoard>;
  /** Is called with bugs. */
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
  app.notFound((context) => context.text('not found; the dashboard is at /\n', 404));
  app.onError((error, context) => {
    onTrouble(error);
    return context.text('something went wrong; see the log\n', 500);
  });
  return app;
}
