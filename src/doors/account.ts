/**
 * Names that runs and workers must agree on without talking: account, service and queue.
 */
import { createHash } from 'node:crypto';
import { serviceTag } from '../outcomes/key.js';

export interface AccountNames {
  /** Of the ledger: `--account`, else made of the token and the service, from which the token cannot be told. */
  readonly account: string;
  /** Identity of the service: its base URL. */
  readonly service: string;
  /** Chunks of one account go to workers that hold its token, never to others. */
  readonly queueName: string;
}

/** `token` null only where `--account` names the account. */
export function accountNames(baseUrl: string, token: string | null, account: string | null): AccountNames {
  const name = account ?? `key-${sha256(`${baseUrl}\n${token ?? ''}`).slice(0, 16)}`;
  return {
    account: name,
    service: baseUrl,
    queueName: `lookups-${serviceTag(baseUrl)}-${sha256(name).slice(0, 8)}`,
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
