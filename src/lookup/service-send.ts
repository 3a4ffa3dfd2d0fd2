/**
 * Sends to a service in this process, without a socket: for the demonstration and for `--sample`.
 */
import type { Send } from './send.js';

/** The one method of the local service that is needed here. */
export interface InProcessService {
  handle(request: {
    method: string;
    path: string;
    authorization: string | undefined;
  }): InProcessAnswer | Promise<InProcessAnswer>;
}

interface InProcessAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function createServiceSend(service: InProcessService): Send {
  return async (request) => {
    const { status, headers, body } = await service.handle({
      method: 'GET',
      path: request.path,
      authorization: request.authorization,
    });
    const lowered: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) lowered[name.toLowerCase()] = value;
    return { type: 'answer', status, headers: lowered, body, damage: null };
  };
}
