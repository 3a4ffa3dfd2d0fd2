import { expect, test } from 'vitest';
import type { Answer } from '../../src/lookup/read-answer.js';
import { foreignReason, unprovenReason } from '../../src/worker/halt-reasons.js';

const answer = (meaning: Answer['meaning'], cost: Answer['cost']): Answer => ({
  meaning,
  cost,
  quota: null,
  usage: null,
  date: null,
});

test.each([foreignReason, unprovenReason])('%o says once what an answer cost', (reasonOf) => {
  const damaged = answer({ type: 'wasted', reason: 'answer damaged, was billed (cut off)' }, 'doubtful');
  expect(reasonOf(damaged)).toMatch(/was billed \(cut off\), /);
  expect(reasonOf(damaged)).not.toContain('may have been billed');
  const refused = answer({ type: 'failed', reason: 'the service answered 405', sign: 'object' }, 'billed');
  expect(reasonOf(refused)).toMatch(/answered 405, was billed, /);
});
