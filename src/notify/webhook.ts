/** Posts a message to a webhook: signed, repeated after a passing failure, given up in time. */
import { createHmac, randomUUID } from 'node:crypto';
import { systemClock } from '../core/clock.js';
import { createConnector, type Network, PLAIN_NETWORK } from '../core/connector.js';
import { limitedTo } from '../core/lifecycle.js';
import { systemFault } from '../core/system-error.js';

interface WebhookMessage {
  /** May hold a secret, so no error of this file contains it. */
  readonly url: string;
  readonly content: unknown;
  /** null for a message without signature. */
  readonly secret: string | null;
  /** Lets receivers recognise a repeated message. Default: a new id. */
  readonly id?: string;
}

export const WEBHOOK_TERMS = {
  clock: systemClock,
  waitsMs: [500, 1_500],
  totalMs: 10_000,
  /** For one try, so that a receiver that hangs leaves time for the next try. */
  tryMs: 4_000,
  network: PLAIN_NETWORK,
};

/** The limit of `fetch` for a connection; `tryMs` may end it earlier. */
const CONNECT_MS = 10_000;

/** Passing failures: time-out, too many requests, and errors of the receiver. */
const PASSING_STATUS = /^(408|429|5\d\d)$/;

/** Posts until the answer is 2xx, following no redirect. Throws the last failure. */
export async function postWebhook(
  { url, content, secret, id: given = randomUUID() }: WebhookMessage,
  { clock, waitsMs, totalMs, tryMs, network }: Readonly<typeof WEBHOOK_TERMS> = WEBHOOK_TERMS,
): Promise<void> {
  const deadline = limitedTo(totalMs);
  const id = `msg_${given}`;
  const body = JSON.stringify(content);
  for (const waitMs of [...waitsMs, null]) {
    const headers = signatureHeaders({ id, sentAt: clock.now(), body }, secret);
    const signal = limitedTo(tryMs, deadline);
    const failure = await postOnce(url, body, headers, { signal, network });
    if (failure === null) return;
    const isLast = !failure.isPassing || waitMs === null || deadline.aborted;
    if (!isLast) await clock.sleep(waitMs, deadline).catch(() => undefined);
    if (isLast || deadline.aborted) throw new Error(failure.what);
  }
}

/** Returns the status of a HEAD, which no receiver takes for a notice. Throws without an answer. */
export async function tryWebhook(url: string, network: Network): Promise<number> {
  const signal = limitedTo(WEBHOOK_TERMS.tryMs);
  try {
    return await statusOf(url, { method: 'HEAD', signal }, network);
  } catch (error) {
    throw new Error(failureOf(error, signal).what);
  }
}

/** Returns null if the receiver accepted the message. */
async function postOnce(
  url: string,
  body: string,
  given: Record<string, string>,
  { signal, network }: { signal: AbortSignal; network: Network },
) {
  const headers = { 'content-type': 'application/json', ...given };
  try {
    const status = await statusOf(url, { method: 'POST', headers, body, signal }, network);
    if (status >= 200 && status < 300) return null;
    return { what: `answered with ${status}`, isPassing: PASSING_STATUS.test(String(status)) };
  } catch (error) {
    return failureOf(error, signal);
  }
}

function failureOf(error: unknown, signal: AbortSignal) {
  if (signal.aborted) return { what: 'no answer in time', isPassing: true };
  const { words, kind } = systemFault(error);
  return { what: `could not be reached (${words})`, isPassing: kind !== 'lasting' && kind !== 'barred' };
}

interface WebhookRequest {
  readonly method: 'POST' | 'HEAD';
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

async function statusOf(url: string, { headers, ...rest }: WebhookRequest, network: Network) {
  // Few processes need it.
  const { Agent, request } = await import('undici');
  const dispatcher = new Agent({ connect: createConnector(network, { timeoutMs: CONNECT_MS }) });
  try {
    const answer = await request(url, {
      ...rest,
      dispatcher,
      headers: { 'user-agent': 'brand-enrich', ...headers },
    });
    answer.body.on('error', () => undefined).destroy();
    return answer.statusCode;
  } finally {
    await dispatcher.destroy();
  }
}

const BASE64_SECRET = 'whsec_';

/**
 * Returns the headers of Standard Webhooks, without a signature if `secret` is null. All tries
 * share one `id`. A secret after `whsec_` is base64; any other is used as bytes.
 */
export function signatureHeaders(
  { id, sentAt, body }: { id: string; sentAt: number; body: string },
  secret: string | null,
): Record<string, string> {
  const timestamp = String(Math.floor(sentAt / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const key = secret.startsWith(BASE64_SECRET)
    ? Buffer.from(secret.slice(BASE64_SECRET.length), 'base64')
    : Buffer.from(secret, 'utf8');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}
