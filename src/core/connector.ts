/**
 * Connects to other hosts over HTTP. A proxy gets a tunnel, so that it cannot log, cache or repeat
 * requests. Undici's `ProxyAgent` (7.30) has no time limit for CONNECT, and retries a proxy that
 * hangs up without a pause.
 */
import type { LookupFunction, Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { attempt } from './lifecycle.js';
import { load } from './load.js';
import { ConnectionFault, systemFault } from './system-error.js';

export interface ProxyServer {
  /** `http://` or `https://`, perhaps with credentials: not for messages. */
  readonly address: string;
  /** The variable that names it, for messages. */
  readonly source: string;
}

export interface Network {
  /** Returns the proxy for an address (`https://host:port`); null for a direct connection. */
  readonly proxyFor: (address: string) => ProxyServer | null;
  /** PEM certificates to trust besides Node's own; null if the user gave none. */
  readonly extraCa: string | null;
  /** Presented to the service only; absent for other hosts. */
  readonly client?: ClientCertificate | null;
}

export const PLAIN_NETWORK: Network = { proxyFor: () => null, extraCa: null };

/** A certificate with its chain, and its key, in PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Returns TLS options that trust `pem` besides Node's roots (in Node 20 without those of
 * NODE_EXTRA_CA_CERTS) and present `client` to servers that ask for a certificate.
 */
export function trusting(
  pem: string | null,
  client: ClientCertificate | null = null,
): { readonly secureContext?: SecureContext } {
  if (pem === null && client === null) return {};
  const { createSecureContext } = load('node:tls') as typeof import('node:tls');
  const secureContext = createSecureContext(client ?? {});
  // The option `ca` would replace the roots; Node itself adds to a context in this way.
  if (pem !== null) secureContext.context.addCACert(pem);
  return { secureContext };
}

/** Returns undici's `connect`. `timeoutMs` limits tunnel and TLS; a proxy does its own `lookup`. */
export function createConnector(
  { proxyFor, extraCa, client = null }: Network,
  { timeoutMs: timeout, lookup }: { readonly timeoutMs: number; readonly lookup?: LookupFunction },
): buildConnector.connector {
  // This file alone: all of undici, with fetch and caches, takes three times as long to load.
  const build = load('undici/lib/core/connect.js') as typeof import('undici').buildConnector;
  const trust = trusting(extraCa);
  const connect = build({ timeout, ...trusting(extraCa, client), ...(lookup && { lookup }) });
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

/** Connects to `target` (`host:port`) through the proxy. Rejects with `ConnectionFault`. */
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
    const connecting = request({
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
    const timer = setTimeout(() => connecting.destroy(tooLong), timeoutMs);
    connecting.once('connect', ({ statusCode = 0 }, socket) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.on('error', () => undefined).destroy();
      reject(refusalOf(statusCode, proxy, target, username !== ''));
    });
    connecting.on('error', (error) => {
      clearTimeout(timer);
      if (error === tooLong) return reject(error);
      const { words, kind } = systemFault(error);
      reject(new ConnectionFault(`${proxy}: ${words}`, kind === 'no_http' ? 'lasting' : kind));
    });
    connecting.end();
  });
}

function refusalOf(status: number, proxy: string, target: string, hasUser: boolean): ConnectionFault {
  if (status === 407) {
    const refused = hasUser ? 'does not accept the user and password' : 'asks for a user and a password';
    const words = `${proxy} ${refused} (407); set them as http://user:password@HOST:PORT`;
    return new ConnectionFault(words, 'barred');
  }
  if (status >= 500 || status === 408 || status === 429)
    return new ConnectionFault(`${proxy} cannot connect to ${target} at the moment (${status})`, 'passing');
  const words =
    `${proxy} refuses to connect to ${target} (${status}); allow the host in the proxy, or name it ` +
    'in NO_PROXY';
  return new ConnectionFault(words, 'barred');
}

/** Decodes a part of an address; returns it unchanged if it has a stray `%`. */
export function decodedPart(text: string): string {
  return attempt(() => decodeURIComponent(text), text);
}
