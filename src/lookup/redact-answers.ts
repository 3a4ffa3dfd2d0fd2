/**
 * Takes the token out of what a service says: a service, or something in front of it, may echo it. Done where answers come in, so
 * that whatever is made of them (rows, reports, logs, traces, notifications) is without it.
 */

import { createRedact } from '../core/secrets.js';
import type { Brand } from './brand.js';
import type { Answer, Meaning } from './read-answer.js';

/** In a brand shorter ones may stand by chance, and brands are handed on as they came. */
const SHORTEST_IN_BRANDS = 16;

/** For answers to requests with this token. Pure. */
export function redactAnswers(token: string): (answer: Answer) => Answer {
  const redact = createRedact([token]);
  /** For a token of digits that stands as a number. */
  const redactNumbers = createRedact([token], '0');

  function redactBrand(meaning: Meaning & { type: 'matched' }): Meaning {
    const text = meaning.body.toString('utf8');
    if (redact(text) === text) return meaning;
    for (const redacted of [redact(text), redactNumbers(text)]) {
      const brand = parse(redacted);
      if (brand !== null) return { ...meaning, body: Buffer.from(redacted), brand };
    }
    const reason = 'the answer holds the token in a way in which it cannot be kept';
    return { type: 'failed', reason, sign: 'own' };
  }

  return (answer) => {
    const { meaning } = answer;
    if (meaning.type === 'matched')
      return token.length < SHORTEST_IN_BRANDS ? answer : { ...answer, meaning: redactBrand(meaning) };
    return 'reason' in meaning
      ? { ...answer, meaning: { ...meaning, reason: redact(meaning.reason) } }
      : answer;
  };
}

function parse(json: string): Brand | null {
  try {
    return JSON.parse(json) as Brand;
  } catch {
    return null;
  }
}
