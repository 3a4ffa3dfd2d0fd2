/** A client that sends nothing, and returns the given answers in turn, over and over. */
import type { Client } from '../../src/brand-api/client.js';
import type { Answer } from '../../src/brand-api/read-answer.js';

export function answering(...answers: readonly Pick<Answer, 'meaning' | 'cost'>[]): Client {
  let at = 0;
  return {
    async lookup() {
      const answer = answers[at % answers.length];
      at += 1;
      if (!answer) throw new Error('no answer is left');
      return { ...answer, quota: null, usage: null, date: null };
    },
  };
}
