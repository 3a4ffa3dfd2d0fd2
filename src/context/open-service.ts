/** A command's service: the one at `--base-url`, or with `--sample` a local one in this process. */
import { createHash } from 'node:crypto';
import { isLoopbackUrl } from '../config/address-values.js';
import { networkOf } from '../config/network.js';
import { readToken } from '../config/secrets.js';
import type { Settings } from '../config/settings.js';
import { NeverStartError } from '../core/errors.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { type Client, createClient } from '../lookup/client.js';
import { createHttpSend, type HttpSend } from '../lookup/send.js';
import type { AccountNames, RunService } from '../run/enrich-request.js';

/** A client for the service of a run; null for one that the token must not go to. */
export type ClientFor = (service: string) => Client | null;

export interface OpenedService extends RunService {
  readonly clientFor: ClientFor;
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
    const { client, token, ownDomain } = await openSampleClient(log, releasers);
    return {
      ...accountNames(SAMPLE_SERVICE, token, null),
      clientFor: (name) => (name === SAMPLE_SERVICE ? client : null),
      isLoopback: true,
      ownDomain,
    };
  }
  const { baseUrl, token } = addressAndToken(settings);
  return {
    ...accountNames(baseUrl, token, settings.account),
    clientFor: openClients(settings, token, releasers),
    isLoopback: isLoopbackUrl(baseUrl),
    ownDomain: settings.ownDomain,
  };
}

/**
 * Clients by service, made when needed. The token goes to `--base-url` alone where that is said; a
 * worker without it follows the runs of its token, to https and loopback addresses only unless
 * `--allow-http`.
 */
export function openClients(settings: Settings, token: string, releasers: Releasers): ClientFor {
  const clients = new Map<string, Client>();
  const opened: HttpSend[] = [];
  const network = networkOf(settings);
  // Pushed here and not where one is opened, so that they are released after their users.
  releasers.push(() => Promise.all(opened.map((http) => http.close())));
  return (service) => {
    const known = clients.get(service);
    if (known) return known;
    const isAllowed =
      settings.baseUrl === null
        ? service.startsWith('https://') || isLoopbackUrl(service) || settings.allowHttp
        : service === settings.baseUrl;
    if (!isAllowed || !URL.canParse(service)) return null;
    const { concurrency: connections, timeoutMs } = settings;
    const http = createHttpSend({ baseUrl: service, connections, timeoutMs, network });
    opened.push(http);
    const client = createClient(http.send, token);
    clients.set(service, client);
    return client;
  };
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
    const todo = 'name the service with --base-url or BRAND_API_URL, or try --sample';
    throw new NeverStartError({ code: 'usage-service-missing', subject: '--base-url', todo });
  }
  if (token !== null) return { baseUrl, token };
  const todo = 'set it, or name a file with --token-file';
  throw new NeverStartError({ code: 'usage-token-missing', subject: 'BRAND_API_TOKEN', todo });
}

/** The account's name: as given, or made of service and token. */
export function accountName(service: string, token: string | null, account: string | null): string {
  return account ?? `key-${sha256(`${service}\n${token ?? ''}`).slice(0, 16)}`;
}

/** The queue shared by runs and workers of one token (or `--account`), for any service. */
export function queueName(token: string | null, account: string | null): string {
  return `lookups-${sha256(account === null ? `token ${token ?? ''}` : `account ${account}`).slice(0, 12)}`;
}

/** `token` null only where `--account` names the account. */
export function accountNames(service: string, token: string | null, account: string | null): AccountNames {
  return { account: accountName(service, token, account), service, queueName: queueName(token, account) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
