/**
 * The service that a command talks to: the one at `--base-url`, or with `--sample` the local one in this process, on
 * sample data and under a name of its own.
 */
import { isLoopbackUrl } from '../config/address-values.js';
import { readToken } from '../config/read-token.js';
import type { Settings } from '../config/settings.js';
import { NeverStartError } from '../errors.js';
import type { Releasers } from '../lifecycle.js';
import type { Log } from '../log.js';
import { type Client, createClient } from '../lookup/client.js';
import { createHttpSend } from '../lookup/http-send.js';
import { createServiceSend } from '../lookup/service-send.js';
import { type AccountNames, accountNames } from './account.js';
import { openSampleService } from './sample-service.js';
import { DEFAULT_OWN_DOMAIN, DEMO_TOKEN } from './serve.js';

export interface OpenedService extends AccountNames {
  readonly client: Client;
  readonly isLoopback: boolean;
  /** The service's own brand, for free requests; null when unknown. */
  readonly ownDomain: string | null;
}

export const SAMPLE_SERVICE = 'sample';

/** Throws NeverStartError when address or token are missing. */
export async function openService(
  settings: Settings,
  log: Log,
  releasers: Releasers,
): Promise<OpenedService> {
  if (settings.sample) {
    const service = await openSampleService(log);
    releasers.push(() => service.close());
    return {
      ...accountNames(SAMPLE_SERVICE, DEMO_TOKEN, null),
      client: createClient(createServiceSend(service), DEMO_TOKEN),
      isLoopback: true,
      ownDomain: DEFAULT_OWN_DOMAIN,
    };
  }
  const { baseUrl } = settings;
  const token = readToken(settings);
  if (baseUrl === null) throw missingService();
  if (token === null) throw missingToken();
  const http = createHttpSend({ baseUrl, connections: settings.concurrency, timeoutMs: settings.timeoutMs });
  releasers.push(() => http.close());
  return {
    ...accountNames(baseUrl, token, settings.account),
    client: createClient(http.send, token),
    isLoopback: isLoopbackUrl(baseUrl),
    ownDomain: settings.ownDomain,
  };
}

/** The names alone, for commands that send nothing. */
export function namesOf(settings: Settings): AccountNames {
  if (settings.baseUrl === null) throw missingService();
  const token = settings.account === null ? readToken(settings) : null;
  if (settings.account === null && token === null) throw missingToken();
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
