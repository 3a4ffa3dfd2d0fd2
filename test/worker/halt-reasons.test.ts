import { expect, test } from 'vitest';
import type { Answer } from '../../src/lookup/read-answer.js';
import { sayFailure } from '../../src/words/say-reason.js';
import { notTheServiceReason, untrustedReason } from '../../src/worker/halt-reasons.js';

const answer = (meaning: Answer['meaning'], cost: Answer['cost']): Answer => ({
  meaning,
  cost,
  quota: null,
  usage: null,
  date: null,
});

test.each([notTheServiceReason, untrustedReason])('%o mentions the cost of an answer once', (reasonOf) => {
  const damaged = answer(
    { type: 'unusable', reason: 'answer damaged, was billed (cut off)' },
    'maybe_billed',
  );
  expect(sayFailure(reasonOf(damaged))).toMatch(/was billed \(cut off\), /);
  expect(sayFailure(reasonOf(damaged))).not.toContain('may have been billed');
  const refused = answer(
    { type: 'failed', reason: 'the service answered 405', evidence: 'object' },
    'billed',
  );
  expect(sayFailure(reasonOf(refused))).toMatch(/answered 405, was billed, /);
});

test.each([204, 404] as const)(
  'a %i from an untrusted address is called by its number, and "not found" once the address is trusted',
  (status) => {
    const reason = untrustedReason(
      answer(
        { type: 'not_found', status, retryLater: false, evidence: 'object' },
        status === 204 ? 'free' : 'billed',
      ),
    );
    expect(sayFailure(reason)).toContain(
      `the service answered ${status}, ${status === 204 ? 'not billed' : 'was billed'}`,
    );
    expect(reason).toMatchObject({ saysNotFound: true });
  },
);
