/**
 * Names that runs and workers must agree on without talking: account, service and queue.
 */
import { createHash } from 'node:crypto';

export interface AccountNames {
  /** Of the ledger: `--account`, else made of service and token, from which the token cannot be found. */
  readonly account: string;
  /** Identity of the service: its base URL. */
  readonly service: string;
  /** Chunks of one token go to workers that hold it, never to others. */
  readonly queueName: string;
}

/** The account's name: as given, or made of service and token. */
export function accountName(service: string, token: string | null, account: string | null): string {
  return account ?? `key-${sha256(`${service}\n${token ?? ''}`).slice(0, 16)}`;
}

/** The queue that runs and workers of one token (or one `--account`) share, whatever the service. */
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
