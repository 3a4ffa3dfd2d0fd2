/** A command's service: the one at `--base-url`, or with `--sample` a local one in this process. */
import { createHash } from 'node:crypto';
import { isLoopbackUrl } from '../config/address-values.js';
import { networkOf } from '../config/network.js';
import { readToken } from '../config/secrets.js';
import { SERVICE_ADDRESS, TOKEN } from '../config/setting-rules.js';
import type { Settings } from '../config/settings.js';
import { NeverStartError } from '../core/errors.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { phrase } from '../core/phrase.js';
import { type Client, createClient } from '../lookup/client.js';
import { createHttpSend } from '../lookup/send.js';
import type { AccountNames, RunService } from '../run/enrich-request.js';

export interface OpenedService extends RunService {
  /** Asks this service, with its token. No other address ever gets the token. */
  readonly client: Client;
}

const SAMPLE_SERVICE = 'sample';

/** Throws NeverStartError when address or token are missing. */
export async function openService(
  settings: Settings,
  log: Log,
  releasers: Releasers,
): Promise<OpenedService> {
  if (settings.sample) {
    const { openSampleClient } = await import('./sample.js');
    const { client, token } = await openSampleClient(log, releasers);
    return {
      ...accountNames(SAMPLE_SERVICE, token, null),
      client,
      isLoopback: true,
      // A quota that lasts for any file: there is nothing to look for.
      ownDomain: null,
    };
  }
  const { baseUrl, token } = addressAndToken(settings);
  return {
    ...accountNames(baseUrl, token, settings.account),
    client: openClient(settings, baseUrl, token, releasers),
    isLoopback: isLoopbackUrl(baseUrl),
    ownDomain: settings.ownDomain,
  };
}

/** A client with sockets of its own, for the pair of an address and its token. */
export function openClient(settings: Settings, baseUrl: string, token: string, releasers: Releasers): Client {
  const { concurrency: connections, timeoutMs } = settings;
  const http = createHttpSend({ baseUrl, connections, timeoutMs, network: networkOf(settings) });
  releasers.push(() => http.close());
  return createClient(http.send, token);
}

/** The account's name, for commands that send nothing. Throws NeverStartError without a name. */
export function accountOf(settings: Settings): string {
  if (settings.account !== null) return settings.account;
  const { baseUrl, token } = addressAndToken(settings);
  return accountName(baseUrl, token, null);
}

/** Service and account, null where the settings do not name them: looking is possible without. */
export function knownNames(settings: Settings): AccountNames | null {
  if (settings.baseUrl === null) return null;
  const token = readToken(settings);
  if (token === null && settings.account === null) return null;
  return accountNames(settings.baseUrl, token, settings.account);
}

function addressAndToken(settings: Settings): { readonly baseUrl: string; readonly token: string } {
  const { baseUrl } = settings;
  const token = readToken(settings);
  if (baseUrl === null) {
    const todo = phrase`name the service with ${SERVICE_ADDRESS}, or try ${{ setting: 'sample' }}`;
    throw new NeverStartError({
      code: 'usage-service-missing',
      subject: phrase`${{ setting: 'baseUrl' }}`,
      todo,
    });
  }
  if (token !== null) return { baseUrl, token };
  const todo = phrase`set it, or name a file with ${{ setting: 'tokenFile' }}`;
  throw new NeverStartError({ code: 'usage-token-missing', subject: phrase`${TOKEN}`, todo });
}

/** The account's name: as given, or made of service and token. */
function accountName(service: string, token: string | null, account: string | null): string {
  return account ?? `key-${sha256(`${service}\n${token ?? ''}`).slice(0, 16)}`;
}

/**
 * The queue shared by the runs and workers of one service and token (or `--account`). Whoever has
 * another service or token never sees their chunks.
 */
function queueName(service: string, token: string | null, account: string | null): string {
  const whose = account === null ? `token ${token ?? ''}` : `account ${account}`;
  return `lookups-${sha256(`${service}\n${whose}`).slice(0, 12)}`;
}

/** `token` null only where `--account` names the account. */
export function accountNames(service: string, token: string | null, account: string | null): AccountNames {
  const queue = queueName(service, token, account);
  return { account: accountName(service, token, account), service, queueName: queue };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
