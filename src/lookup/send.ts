/**
 * The `send` seam: one GET goes out, one result comes back. Two halves: `http-send.ts` (a socket) and
 * `service-send.ts` (the local service in this process). What an answer means is `read-answer.ts`'s.
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
