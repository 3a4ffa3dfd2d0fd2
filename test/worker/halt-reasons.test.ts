import { expect, test } from 'vitest';
import type { Answer } from '../../src/lookup/read-answer.js';
import { foreignReason, isUnprovenReason, unprovenReason } from '../../src/worker/halt-reasons.js';

const answer = (meaning: Answer['meaning'], cost: Answer['cost']): Answer => ({
  meaning,
  cost,
  quota: null,
  usage: null,
  date: null,
});

test.each([foreignReason, unprovenReason])('%o mentions the cost of an answer once', (reasonOf) => {
  const damaged = answer({ type: 'wasted', reason: 'answer damaged, was billed (cut off)' }, 'doubtful');
  expect(reasonOf(damaged)).toMatch(/was billed \(cut off\), /);
  expect(reasonOf(damaged)).not.toContain('may have been billed');
  const refused = answer({ type: 'failed', reason: 'the service answered 405', sign: 'object' }, 'billed');
  expect(reasonOf(refused)).toMatch(/answered 405, was billed, /);
});

test.each([204, 404] as const)(
  'a %i from an unproven address is called by its number, and "not found" once the address is proven',
  (status) => {
    const reason = unprovenReason(
      answer(
        { type: 'not_found', status, retryLater: false, sign: 'object' },
        status === 204 ? 'free' : 'billed',
      ),
    );
    expect(reason).toContain(
      `the service answered ${status}, ${status === 204 ? 'not billed' : 'was billed'}`,
    );
    expect([isUnprovenReason(reason, true), isUnprovenReason(reason, false)]).toEqual([true, true]);
  },
);
