/** Why a run stops, in the words of its rows and its report. `handle-answer.ts` decides when. */
import { countOf } from '../core/figures.js';
import type { Answer } from '../lookup/read-answer.js';
import type { RunHalt } from '../stores/run-store.js';

/** Damaged or lost answers in a row that end a run: each was, or may have been, billed. */
export const WASTED_AT_MOST = 20;

export function unreached(reason: string): RunHalt {
  return { why: 'unreachable', sentence: `the service was unreachable for a minute: ${reason}` };
}

/** A misspelt host, or a certificate that is not trusted: waiting would not help. */
export function unreachableForGood(reason: string): RunHalt {
  return { why: 'unreachable', sentence: `the service cannot be reached: ${reason}` };
}

/** Nothing listens at an address that never answered: more likely a wrong port than an outage. */
export function refused(reason: string): RunHalt {
  return {
    why: 'unreachable',
    sentence: `the service cannot be reached: ${reason}, and this address has never answered`,
  };
}

/** A login page or a proxy in front answers everything with 200, and each answer is paid for. */
export function useless(answers: number, reason: string): RunHalt {
  return { why: 'useless', sentence: `${answers} answers in a row were unusable: ${reason}` };
}

/** Unproven answers, without a good one, after which a run asks whether the address is right. */
export const UNPROVEN_AT_MOST = 5;

const SAID_NOTHING_FOUND = /^the service answered (?:204|404)/;
const NOT_BELIEVED =
  'not believed: the address never gave a good answer, and this one has neither a usage header nor an error code';

/** The text in rows for such an answer, until it is trusted. */
export function unprovenReason(answer: Answer): string {
  return `${meaningWithCost(answer)}, ${NOT_BELIEVED}`;
}

/**
 * Whether a row's reason is an {@link unprovenReason} that still holds. Once the address is proven,
 * a 204 or 404 becomes a "not found", and any other refusal counts as the service's own; `hasGood`:
 * the run has answers that can be believed.
 */
export function isUnprovenReason(reason: string, hasGood: boolean): boolean {
  return reason.endsWith(NOT_BELIEVED) && (!hasGood || SAID_NOTHING_FOUND.test(reason));
}

/** The text in rows for an answer that did not come from the service. */
export function foreignReason(answer: Answer): string {
  return `${meaningWithCost(answer)}, but not from the service: no usage header, no error code, no JSON object`;
}

export function unproven(service: string): RunHalt {
  return {
    why: 'useless',
    sentence: `is the address right? ${service} has never given a good answer and refused every request without a usage header or an error code; if the brands are known to be unknown to the service, use --allow-unknown`,
  };
}

export function foreign(service: string, answer: Answer): RunHalt {
  return {
    why: 'useless',
    sentence: `is the address right? ${service} has never given a good answer; this one has no usage header, no error code and no JSON object: ${meaningOf(answer)}`,
  };
}

function meaningOf({ meaning }: Answer): string {
  if ('reason' in meaning) return meaning.reason;
  return meaning.type === 'not_found' ? `the service answered ${meaning.status}` : 'the service answered';
}

/** A damaged answer, or one that is no brand, says itself what it cost. */
function meaningWithCost(answer: Answer): string {
  const { meaning, cost } = answer;
  if (meaning.type === 'wasted' || (meaning.type === 'failed' && meaning.isNoBrand)) return meaningOf(answer);
  return `${meaningOf(answer)}, ${{ billed: 'was billed', doubtful: 'may have been billed', free: 'not billed' }[cost]}`;
}

/** For rows: two requests of a lookup may have been billed, and neither got an answer. */
export const DOUBTFUL_REASON =
  'not retried: two requests may have been billed, and their answers were lost with killed workers or connections';

/** All was asked that this run may ask. */
export function doubtful(identifiers: number): RunHalt {
  const what = countOf(identifiers, 'identifier');
  return {
    why: 'doubtful',
    sentence: `for ${what}, two requests may have been billed and their answers were lost; a run does not retry more often`,
  };
}

export function throttled(patienceMs: number): RunHalt {
  return {
    why: 'throttled',
    sentence: `the service refused every request as too many for ${Math.round(patienceMs / 1_000)} s`,
  };
}

const OVERSTATED = '--plan or --overage-budget is higher than in the account';

/** The service refuses for quota where budget and plan would let us go on. */
export function overstated({ usage, quota }: { readonly usage: number; readonly quota: number }): RunHalt {
  return {
    why: 'limit',
    sentence: `the service refuses every request at a usage of ${usage} and a quota of ${quota}: ${OVERSTATED}`,
  };
}

/** Whether {@link overstated} stopped a run: it needs other advice than a limit that is used up. */
export function isOverstated({ sentence }: RunHalt): boolean {
  return sentence.endsWith(OVERSTATED);
}
