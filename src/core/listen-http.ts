/** HTTP servers: how they listen, and how they keep slow clients from occupying them. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { RunError } from './errors.js';
import { withinDeadline } from './lifecycle.js';
import type { Phrase } from './phrase.js';
import { systemWords } from './system-error.js';

export type HttpListener = Awaited<ReturnType<typeof listenHttp>>;

export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** What the server is for, such as `dashboard`. */
  readonly purpose: string;
  /** What to do if the port is taken. */
  readonly todo: Phrase;
}

/** Listens on an address. Throws `service-unreachable` if the server cannot listen there. */
export async function listenHttp(server: Server, address: ListenAddress) {
  const { host, purpose, todo } = address;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) => {
      const what = `cannot listen on the address of the ${purpose}`;
      const subject = `${host}:${address.port} (${systemWords(cause)})`;
      reject(new RunError({ code: 'service-unreachable', what, subject, todo, cause }));
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

export const SERVER_LIMITS = {
  /** A browser holds six. A process often has 1,024 descriptors for everything. */
  connections: 200,
  /** From the connection, or the first byte of a request, to the end of its headers. */
  headersMs: 10_000,
  /** For a whole request that is not trusted, and its answer. */
  strangerMs: 20_000,
  /** Longest silence of a trusted request. */
  silenceMs: 120_000,
  /** For a whole trusted request: a large file may take hours. */
  requestMs: 6 * 3_600_000,
};

const trusted = new WeakSet<Socket>();

/** Trusts a request, for example one with the right password: it may take its time. */
export function trustRequest({ socket }: IncomingMessage, { silenceMs } = SERVER_LIMITS): void {
  trusted.add(socket);
  socket.setTimeout(silenceMs);
}

/** Creates a server that slow clients cannot occupy: untrusted connections end soon or give way. */
export function createGuardedServer(listener: RequestListener, limits = SERVER_LIMITS): Server {
  const { connections, headersMs, strangerMs, requestMs } = limits;
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: Math.max(requestMs, headersMs),
    connectionsCheckingInterval: Math.min(1_000, headersMs),
  });
  server.setTimeout(strangerMs);
  /** Oldest first. */
  const open = new Set<Socket>();
  server.on('connection', (socket) => {
    if (open.size >= connections) {
      const longest = [...open].find((each) => !trusted.has(each)) ?? socket;
      open.delete(longest);
      longest.destroy();
      if (longest === socket) return;
    }
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.on('request', (incoming, outgoing) => {
    const { socket } = incoming;
    // Each request of a connection must be trusted anew.
    trusted.delete(socket);
    const timer = setTimeout(() => {
      if (!trusted.has(socket)) socket.destroy();
    }, strangerMs);
    timer.unref();
    outgoing.once('close', () => {
      clearTimeout(timer);
      trusted.delete(socket);
    });
    listener(incoming, outgoing);
  });
  return server;
}
