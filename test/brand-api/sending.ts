/** A sender and a server of the test, both closed at its end. */
import { onTestFinished } from 'vitest';
import { createHttpSend, type HttpSendOptions, type SendResult } from '../../src/brand-api/send.js';
import { createRawServer, type Respond } from './raw-server.js';

/** No answer or error may contain it. */
export const TOKEN = 'tok_Zx81-secret';
/** Longer than anything takes on this machine, where a test does not want to reach the time-out. */
const PATIENCE_MS = 20_000;

export type Sending = Awaited<ReturnType<typeof createSending>>;

export async function createSending(
  answer: Respond | string | Buffer,
  some: Partial<HttpSendOptions> & { prefix?: string } = {},
) {
  const { prefix = '', ...options } = some;
  const respond: Respond = (socket) => socket.write(answer as string | Buffer);
  const server = await createRawServer(typeof answer === 'function' ? answer : respond);
  const sender = createHttpSend({
    baseUrl: server.url + prefix,
    connections: 4,
    timeoutMs: PATIENCE_MS,
    ...options,
  });
  onTestFinished(async () => {
    await sender.close();
    await server.close();
  });
  return {
    server,
    sender,
    send: (path: string, signal?: AbortSignal): Promise<SendResult> =>
      sender.send({ path, authorization: `Bearer ${TOKEN}`, signal }),
  };
}

/** The parts of a result that a test compares. */
export function partsOf(result: SendResult): Record<string, unknown> {
  return result.type === 'answer'
    ? { status: result.status, body: result.body.toString(), incomplete: result.incomplete }
    : { wasSent: result.wasSent };
}
