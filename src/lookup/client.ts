/**
 * The client: one identifier, one request, one answer. No waiting, no retry policy, no account keeping; those
 * are `quota/`'s and `resolve/`'s.
 */

import type { Identifier } from '../core/identifier.js';
import { type Answer, readAnswer } from './read-answer.js';
import { redactAnswers } from './redact-answers.js';
import { type AllowNsfw, lookupPath } from './routes.js';
import type { Send } from './send.js';

interface LookupOptions {
  readonly allowNsfw: AllowNsfw;
  /** Statuses that are not billed besides 401, 403 and 429. */
  readonly freeStatuses: readonly string[];
  readonly signal?: AbortSignal | undefined;
  /** The service's own brand is asked for, which is free whatever the answer is. */
  readonly isOwnBrand?: boolean;
}

export interface Client {
  /** Asks once. Never rejects: trouble is an answer too. */
  lookup(identifier: Identifier, options: LookupOptions): Promise<Answer>;
}

/** The token stays in here. */
export function createClient(send: Send, token: string): Client {
  const authorization = `Bearer ${token}`;
  const redact = redactAnswers(token);
  return {
    async lookup(identifier, { allowNsfw, freeStatuses, signal, isOwnBrand }) {
      const result = await send({ path: lookupPath(identifier, allowNsfw), authorization, signal });
      const answer = redact(readAnswer(result, freeStatuses, Date.now()));
      return isOwnBrand ? { ...answer, cost: 'free' } : answer;
    },
  };
}
