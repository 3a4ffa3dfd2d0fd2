/** A command's service: the one at `--base-url`, or with `--sample` a local one in this process. */
import { createHash } from 'node:crypto';
import { type Client, createClient } from '../brand-api/client.js';
import type { RequestDispatcher } from '../brand-api/protocol.js';
import { createHttpSend } from '../brand-api/send.js';
import { createConnector, type Network } from '../core/connector.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { AccountNames, RunService } from '../run/enrich-request.js';
import { isLoopbackUrl } from '../settings/address-values.js';
import { clientCertificateOf, networkOf } from '../settings/network.js';
import { readToken } from '../settings/secrets.js';
import type { Settings } from '../settings/settings.js';

export interface OpenedService extends RunService {
  /** A client of this service; no other address ever gets its token. */
  readonly client: Client;
}

const SAMPLE_SERVICE = 'sample';

/** Opens the service. Throws ConfigError if the file of the token cannot be used. */
export async function openService(
  settings: Settings,
  log: Log,
  releasers: Releasers,
  dispatcher?: RequestDispatcher,
): Promise<OpenedService> {
  if (settings.sample) {
    const { openSampleClient } = await import('./sample.js');
    const { client, token } = await openSampleClient(log, releasers);
    return {
      ...accountNames(SAMPLE_SERVICE, token, null),
      client,
      isLoopback: true,
      // The sample quota lasts for any file, so nobody has to read it.
      ownDomain: null,
    };
  }
  const { baseUrl, token } = addressAndToken(settings);
  return {
    ...accountNames(baseUrl, token, settings.account),
    client: openClient(settings, baseUrl, token, releasers, dispatcher),
    isLoopback: isLoopbackUrl(baseUrl),
    ownDomain: settings.ownDomain,
  };
}

/** Opens a client with its own sockets, for an address and its token. */
export function openClient(
  settings: Settings,
  baseUrl: string,
  token: string,
  releasers: Releasers,
  dispatcher?: RequestDispatcher,
): Client {
  const { concurrency: connections, timeoutMs } = settings;
  const network = serviceNetwork(settings);
  const http = createHttpSend({ baseUrl, connections, timeoutMs, network, dispatcher });
  releasers.push(() => http.close());
  return createClient(http.send, token);
}

const serviceNetwork = (settings: Settings): Network => ({
  ...networkOf(settings),
  client: clientCertificateOf(settings),
});

/** Connects to the service, TLS included, and sends nothing. Rejects with what failed. */
export async function connectOnce(settings: Settings, baseUrl: string): Promise<void> {
  const { protocol, hostname, host, port } = new URL(baseUrl);
  const connect = createConnector(serviceNetwork(settings), settings);
  await new Promise<void>((resolve, reject) => {
    connect({ protocol, hostname, host, port }, (error, socket) => {
      socket?.on('error', () => undefined).destroy();
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Returns the name of the account, for commands that send nothing. */
export function accountOf(settings: Settings): string {
  if (settings.account !== null) return settings.account;
  const { baseUrl, token } = addressAndToken(settings);
  return accountNames(baseUrl, token, null).account;
}

/** Returns service and account; null if the settings do not name them. */
export function knownNames(settings: Settings): AccountNames | null {
  if (settings.baseUrl === null) return null;
  const token = readToken(settings);
  if (token === null && settings.account === null) return null;
  return accountNames(settings.baseUrl, token, settings.account);
}

function addressAndToken(settings: Settings): { readonly baseUrl: string; readonly token: string } {
  const { baseUrl } = settings;
  const token = readToken(settings);
  if (baseUrl !== null && token !== null) return { baseUrl, token };
  throw new Error('the rules of settings let a command without service or token through');
}

/**
 * Returns the account's name, and the queue that only runs and workers of one service and token (or
 * `--account`) share. `token`: null only with an `account`.
 */
export function accountNames(service: string, token: string | null, account: string | null): AccountNames {
  const whose = account === null ? `token ${token ?? ''}` : `account ${account}`;
  return {
    account: account ?? `key-${sha256(`${service}\n${token ?? ''}`).slice(0, 16)}`,
    service,
    queueName: `lookups-${sha256(`${service}\n${whose}`).slice(0, 12)}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
