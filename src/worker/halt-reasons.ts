/** The facts of halts and failures that an answer leads to. `judge.ts` decides when. */
import type { Answer } from '../lookup/read-answer.js';
import type { FailureReason, RunHalt } from '../stores/run-reasons.js';

/** Damaged or lost answers in a row that end a run: each was, or may have been, billed. */
export const UNUSABLE_AT_MOST = 20;

/** Untrusted answers, without a good one, after which a run asks whether the address is right. */
export const UNTRUSTED_AT_MOST = 5;

/** Why the row of such an answer failed, until it is trusted. */
export function untrustedReason(answer: Answer): FailureReason {
  const saysNotFound = answer.meaning.type === 'not_found';
  return { code: 'unproven', text: meaningWithCost(answer), saysNotFound };
}

/** Why the row of an answer that did not come from the service failed. */
export function notTheServiceReason(answer: Answer): FailureReason {
  return { code: 'foreign', text: meaningWithCost(answer) };
}

export function untrusted(service: string): RunHalt {
  return { why: 'useless', useless: { how: 'unproven', service } };
}

export function notTheService(service: string, answer: Answer): RunHalt {
  return { why: 'useless', useless: { how: 'foreign', service, answer: meaningOf(answer) } };
}

function meaningOf({ meaning }: Answer): string {
  if ('reason' in meaning) return meaning.reason;
  return meaning.type === 'not_found' ? `the service answered ${meaning.status}` : 'the service answered';
}

/** A damaged answer, or one that is not a brand, says itself what it cost. */
function meaningWithCost(answer: Answer): string {
  const { meaning, cost } = answer;
  if (meaning.type === 'unusable' || (meaning.type === 'failed' && meaning.isNoBrand))
    return meaningOf(answer);
  return `${meaningOf(answer)}, ${{ billed: 'was billed', maybe_billed: 'may have been billed', free: 'not billed' }[cost]}`;
}
