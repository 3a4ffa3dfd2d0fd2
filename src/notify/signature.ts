/**
 * The signature of a webhook, as the Standard Webhooks specification has it (version 1.0, symmetric signatures), so that
 * receivers can verify it with a library they have: HMAC-SHA256 over `id.timestamp.body`, in base64.
 */
import { createHmac } from 'node:crypto';

export interface SignedMessage {
  /** The same over all tries of one message: receivers tell a repeated one by it. */
  readonly id: string;
  /** Milliseconds since 1970; travels in seconds. */
  readonly sentAt: number;
  readonly body: string;
}

const BASE64_SECRET = 'whsec_';

/**
 * The headers `webhook-id`, `webhook-timestamp` and `webhook-signature`; without the last when there is no secret. A secret that begins with
 * `whsec_` goes on in base64, any other one is taken as the bytes of its text.
 */
export function signatureHeaders(message: SignedMessage, secret: string | null): Record<string, string> {
  const { id, sentAt, body } = message;
  const timestamp = String(Math.floor(sentAt / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

function keyOf(secret: string): Buffer {
  return secret.startsWith(BASE64_SECRET)
    ? Buffer.from(secret.slice(BASE64_SECRET.length), 'base64')
    : Buffer.from(secret, 'utf8');
}
