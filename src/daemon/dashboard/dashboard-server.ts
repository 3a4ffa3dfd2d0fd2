/**
 * Listens for the dashboard. What it answers is `dashboard-app.ts`'s.
 */
import { isIP } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import { isLoopbackHost } from '../../config/address-values.js';
import { FailFileError } from '../../core/errors.js';
import { systemWords } from '../../core/system-error.js';
import { createDashboardApp, type DashboardAppOptions } from './dashboard-app.js';

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
