/**
 * The service that a command talks to: the one at `--base-url`, or with `--sample` the local one in this process, on
 * sample data and under a name of its own.
 */
import { isLoopbackUrl } from '../config/address-values.js';
import { readToken } from '../config/secrets.js';
import type { Settings } from '../config/settings.js';
import { NeverStartError } from '../core/errors.js';
import type { Releasers } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { type Client, createClient } from '../lookup/client.js';
import { createHttpSend } from '../lookup/send.js';
import { type AccountNames, accountName, accountNames } from './account.js';

export interface OpenedService extends AccountNames {
  /** A client for the service of a run; null for one that the token must not go to. */
  readonly clientFor: (service: string) => Client | null;
  readonly isLoopback: boolean;
  /** The service's own brand, for free requests; null when unknown. */
  readonly ownDomain: string | null;
}

const SAMPLE_SERVICE = 'sample';

/** Throws NeverStartError when address or token are missing. */
export async function openService(
  settings: Settings,
  log: Log,
  releasers: Releasers,
): Promise<OpenedService> {
  if (settings.sample) {
    const { openSampleService } = await import('./sample.js');
    const { DEFAULT_OWN_DOMAIN, DEMO_TOKEN } = await import('../local-service/serve.js');
    const { sendTo } = await import('../local-service/service-request.js');
    const service = await openSampleService(log);
    releasers.push(() => service.close());
    const client = createClient(sendTo(service), DEMO_TOKEN);
    return {
      ...accountNames(SAMPLE_SERVICE, DEMO_TOKEN, null),
      clientFor: (name) => (name === SAMPLE_SERVICE ? client : null),
      isLoopback: true,
      ownDomain: DEFAULT_OWN_DOMAIN,
    };
  }
  const { baseUrl } = settings;
  const token = readToken(settings);
  if (baseUrl === null) throw missingService();
  if (token === null) throw missingToken();
  return {
    ...accountNames(baseUrl, token, settings.account),
    clientFor: openClients(settings, token, releasers),
    isLoopback: isLoopbackUrl(baseUrl),
    ownDomain: settings.ownDomain,
  };
}

/**
 * Clients by service, made when a run needs one. The token goes to `--base-url` alone when that is said; a worker
 * without it follows the runs of its token, to https and loopback addresses only unless `--allow-http`.
 */
export function openClients(
  settings: Settings,
  token: string,
  releasers: Releasers,
): (service: string) => Client | null {
  const clients = new Map<string, Client>();
  const opened: ReturnType<typeof createHttpSend>[] = [];
  // Pushed here and not where one is opened: what uses them, and is opened in between, is released before them.
  releasers.push(() => Promise.all(opened.map((http) => http.close())));
  return (service) => {
    const known = clients.get(service);
    if (known) return known;
    const isAllowed =
      settings.baseUrl === null
        ? service.startsWith('https://') || isLoopbackUrl(service) || settings.allowHttp
        : service === settings.baseUrl;
    if (!isAllowed || !URL.canParse(service)) return null;
    const http = createHttpSend({
      baseUrl: service,
      connections: settings.concurrency,
      timeoutMs: settings.timeoutMs,
    });
    opened.push(http);
    const client = createClient(http.send, token);
    clients.set(service, client);
    return client;
  };
}

/** The account's name alone, for commands that send nothing. Throws NeverStartError when nothing names it. */
export function accountOf(settings: Settings): string {
  if (settings.account !== null) return settings.account;
  if (settings.baseUrl === null) throw missingService();
  const token = readToken(settings);
  if (token === null) throw missingToken();
  return accountName(settings.baseUrl, token, null);
}

/** Service and account, null where the settings do not name them: looking is possible without. */
export function knownNames(settings: Settings): AccountNames | null {
  if (settings.baseUrl === null) return null;
  const token = readToken(settings);
  if (token === null && settings.account === null) return null;
  return accountNames(settings.baseUrl, token, settings.account);
}

function missingService(): NeverStartError {
  return new NeverStartError({
    code: 'usage-service-missing',
    subject: '--base-url',
    todo: 'name the service with --base-url or BRAND_API_URL, or try --sample',
  });
}

function missingToken(): NeverStartError {
  return new NeverStartError({
    code: 'usage-token-missing',
    subject: 'BRAND_API_TOKEN',
    todo: 'set it, or name a file with --token-file',
  });
}
