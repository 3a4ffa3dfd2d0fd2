/**
 * The `send` seam: one GET goes out, one result comes back, through a socket (`http-send.ts`) or to
 * the local service in this process (`createServiceSend`). `read-answer.ts` says what an answer
 * means.
 */
import type { FaultKind } from '../core/system-error.js';

export interface SendRequest {
  /** Path and query, beginning with `/`. */
  readonly path: string;
  readonly authorization: string;
  /** Aborts the request; the result is then `no_answer`. */
  readonly signal?: AbortSignal | undefined;
}

export type SendResult =
  | {
      readonly type: 'answer';
      readonly status: number;
      /** Lower-case names; of a repeated header the first value. */
      readonly headers: Readonly<Record<string, string | undefined>>;
      readonly body: Buffer;
      /** The body was longer than the cap, or the connection ended before it was whole. */
      readonly damage: 'too_large' | 'cut_off' | null;
    }
  | {
      readonly type: 'no_answer';
      /** Whether any byte of the request may have left: if not, nothing can have been billed. */
      readonly wasSent: boolean;
      readonly reason: string;
      /** What kind of fault it is, where more is known than its reason says. */
      readonly fault?: FaultKind;
    };

/** Never rejects. */
export type Send = (request: SendRequest) => Promise<SendResult>;

/** What `createServiceSend` needs of the local service. */
interface InProcessService {
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

/** Sends to a service in this process, without a socket: for `--sample` and the demonstration. */
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
