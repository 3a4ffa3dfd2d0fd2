/** Listening for HTTP, the same for the local service, the dashboard and the metrics. */
import type { Server } from 'node:http';
import { isIP } from 'node:net';
import { FailFileError } from './errors.js';
import { withinDeadline } from './lifecycle.js';
import { systemWords } from './system-error.js';

export type HttpListener = Awaited<ReturnType<typeof listenHttp>>;

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** What it is for, and what to do if taken: `dashboard`, `choose another --dashboard-port`. */
  readonly purpose: string;
  readonly todo: string;
}

/** Throws `FailFileError` (`service-unreachable`) when the server cannot listen there. */
export async function listenHttp(server: Server, address: ListenAddress) {
  const { host, purpose, todo } = address;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const what = `cannot listen on the address of the ${purpose}`;
      const subject = `${host}:${address.port} (${systemWords(cause)})`;
      reject(new FailFileError({ code: 'service-unreachable', what, subject, todo, cause }));
    });
    server.listen(address.port, host, resolve);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  return {
    port,
    /** `http://host:port`, without a slash at its end. */
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`,
    /** Accepts no new connections, lets answers finish for `graceMs`, then closes the rest. */
    async close(graceMs = 0): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      if (graceMs > 0) await withinDeadline(closed, graceMs);
      server.closeAllConnections();
      await closed;
    },
  };
}
