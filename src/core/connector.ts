/**
 * How this process reaches other hosts over HTTP: directly or through a proxy, and whom it trusts.
 *
 * Through a proxy everything goes in a tunnel (CONNECT), http addresses too: what a proxy is never
 * shown as a request it can neither log, cache nor send again. Undici's `ProxyAgent` is not used:
 * it does not time CONNECT, and asks a proxy that hangs up again in a loop without a pause (7.30:
 * some 4,000 times a second).
 */
import { createRequire } from 'node:module';
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { ConnectionFault, systemFault } from './system-error.js';

export interface ProxyServer {
  /** `http://` or `https://`, with credentials where it wants them: for no message. */
  readonly address: string;
  /** The variable that names it, for messages. */
  readonly source: string;
}

export interface Network {
  /** The proxy for an address (`https://host:port`); null: it is reached directly. */
  readonly proxyFor: (address: string) => ProxyServer | null;
  /** Certificates in PEM that are trusted besides Node's own; null: none. */
  readonly extraCa: string | null;
}

/** Without proxies and further certificates. */
export const PLAIN_NETWORK: Network = { proxyFor: () => null, extraCa: null };

/** What is loaded when it is needed: commands that only look start sooner. */
const load = createRequire(import.meta.url);

/**
 * Options for `tls.connect`: `pem` is trusted besides Node's own roots. Those of
 * NODE_EXTRA_CA_CERTS are not among these once something is added (Node 20), so `pem` holds them.
 */
export function trusting(pem: string | null): { readonly secureContext?: SecureContext } {
  if (pem === null) return {};
  const { createSecureContext } = load('node:tls') as typeof import('node:tls');
  const secureContext = createSecureContext();
  // The option `ca` would take the place of the roots; this is how Node itself adds to a context.
  secureContext.context.addCACert(pem);
  return { secureContext };
}

/** For `connect` of undici. `timeoutMs`: for each, tunnel and TLS. `lookup`: for direct ways. */
export function createConnector(
  { proxyFor, extraCa }: Network,
  { timeoutMs: timeout, lookup }: { readonly timeoutMs: number; readonly lookup?: LookupFunction },
): buildConnector.connector {
  const undici = load('undici') as typeof import('undici');
  const trust = trusting(extraCa);
  const connect = undici.buildConnector({ timeout, ...trust, ...(lookup && { lookup }) });
  return (options, callback) => {
    const { protocol, hostname, host = hostname } = options;
    const proxy = proxyFor(`${protocol}//${host}`);
    if (proxy === null) return connect(options, callback);
    const port = options.port || (protocol === 'https:' ? '443' : '80');
    const target = `${host.replace(/:\d+$/, '')}:${port}`;
    openTunnel(proxy, target, timeout, trust).then(
      (socket) => {
        if (protocol === 'https:') connect({ ...options, httpSocket: socket }, callback);
        else callback(null, socket.setNoDelay(true));
      },
      (error: Error) => callback(error, null),
    );
  };
}

/** A connection to `target` (`host:port`) through the proxy. Rejects with `ConnectionFault`. */
function openTunnel(
  { address, source }: ProxyServer,
  target: string,
  timeoutMs: number,
  trust: ReturnType<typeof trusting>,
): Promise<Socket> {
  const { protocol, hostname, host, port, username, password } = new URL(address);
  const isTls = protocol === 'https:';
  const { request } = load(isTls ? 'node:https' : 'node:http') as typeof import('node:https');
  const credentials = Buffer.from(`${decodedPart(username)}:${decodedPart(password)}`).toString('base64');
  const proxy = `the proxy ${host} (${source})`;
  return new Promise((resolve, reject) => {
    const asking = request({
      method: 'CONNECT',
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port || (isTls ? 443 : 80),
      path: target,
      agent: false,
      headers: {
        host: target,
        'proxy-connection': 'keep-alive',
        ...(username !== '' && { 'proxy-authorization': `Basic ${credentials}` }),
      },
      ...trust,
    });
    const tooLong = new ConnectionFault(`${proxy} did not answer in time`, 'passing');
    const timer = setTimeout(() => asking.destroy(tooLong), timeoutMs);
    asking.once('connect', ({ statusCode = 0 }, socket) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.on('error', () => undefined).destroy();
      reject(refusalOf(statusCode, proxy, target));
    });
    asking.on('error', (error) => {
      clearTimeout(timer);
      if (error === tooLong) return reject(error);
      const { words, kind } = systemFault(error);
      reject(new ConnectionFault(`${proxy}: ${words}`, kind === 'no_http' ? 'lasting' : kind));
    });
    asking.end();
  });
}

/** What a proxy's answer to CONNECT means where it is not 2xx. */
function refusalOf(status: number, proxy: string, target: string): ConnectionFault {
  if (status === 407) {
    const words = `${proxy} wants another user and password (407); write them as http://user:password@HOST:PORT`;
    return new ConnectionFault(words, 'barred');
  }
  if (status >= 500 || status === 408 || status === 429)
    return new ConnectionFault(`${proxy} cannot connect to ${target} just now (${status})`, 'passing');
  const words = `${proxy} refuses to connect to ${target} (${status}); it has to allow it, or NO_PROXY to name it`;
  return new ConnectionFault(words, 'barred');
}

/** Part of an address as it is meant; with a stray `%` as it stands. */
export function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
