/** The client: one request and one answer for each identifier. Removes the token from answers. */
import type { Identifier } from '../core/identifier.js';
import { createRedact } from '../core/secrets.js';
import { type AllowNsfw, lookupPath } from './protocol.js';
import { type Answer, type Meaning, parseObject, readAnswer } from './read-answer.js';
import type { Send } from './send.js';

interface LookupOptions {
  readonly allowNsfw: AllowNsfw;
  /** Statuses that are free in addition to 401, 403 and 429. */
  readonly freeStatuses: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface Client {
  /** Sends one request. Never rejects: failures are answers. */
  lookup(identifier: Identifier, options: LookupOptions): Promise<Answer>;
}

/** Returns a client that sends the token only as a header, and redacts it in answers. */
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

/** A brand may contain the text of a shorter token by chance, and is then stored as it came. */
const SHORTEST_IN_BRANDS = 16;

function redactMeanings(token: string): (meaning: Meaning) => Meaning {
  const redact = createRedact([token]);
  /** Keeps JSON valid if the token consists of digits and the brand contains that number. */
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
