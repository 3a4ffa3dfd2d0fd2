/** The client: one identifier, one request, one answer. An echoed token is removed here. */
import type { Identifier } from '../core/identifier.js';
import { createRedact } from '../core/secrets.js';
import { type AllowNsfw, lookupPath } from './protocol.js';
import { type Answer, type Meaning, parseObject, readAnswer } from './read-answer.js';
import type { Send } from './send.js';

interface LookupOptions {
  readonly allowNsfw: AllowNsfw;
  /** Statuses that are not billed besides 401, 403 and 429. */
  readonly freeStatuses: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface Client {
  /** Sends one request. Never rejects: a failure is an answer too. */
  lookup(identifier: Identifier, options: LookupOptions): Promise<Answer>;
}

/** The token stays in here. */
export function createClient(send: Send, token: string): Client {
  const authorization = `Bearer ${token}`;
  const redact = redactMeanings(token);
  return {
    async lookup(identifier, { allowNsfw, freeStatuses, signal }) {
      const result = await send({ path: lookupPath(identifier, allowNsfw), authorization, signal });
      const answer = readAnswer(result, freeStatuses, Date.now());
      const meaning = redact(answer.meaning);
      return meaning === answer.meaning ? answer : { ...answer, meaning };
    },
  };
}

/** In a brand shorter ones may stand by chance, and brands are handed on as they came. */
const SHORTEST_IN_BRANDS = 16;

function redactMeanings(token: string): (meaning: Meaning) => Meaning {
  const redact = createRedact([token]);
  /** For a token of digits that stands as a number. */
  const redactNumbers = createRedact([token], '0');
  return (meaning) => {
    if (meaning.type !== 'matched')
      return 'reason' in meaning ? { ...meaning, reason: redact(meaning.reason) } : meaning;
    const whole = meaning.text;
    if (token.length < SHORTEST_IN_BRANDS || redact(whole) === whole) return meaning;
    for (const text of [redact(whole), redactNumbers(whole)]) {
      const brand = parseObject(text);
      if (brand !== null) return { ...meaning, body: Buffer.from(text), text, brand };
    }
    const reason = 'the answer contains the token and cannot be stored without it';
    return { type: 'failed', reason, evidence: 'own' };
  };
}
