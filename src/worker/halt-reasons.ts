/** Why a run stops asking, in the words of its rows and its report. `handle-answer.ts` decides when. */
import { countOf } from '../core/figures.js';
import type { Answer } from '../lookup/read-answer.js';
import type { RunHalt } from '../stores/run-store.js';

/** Damaged or lost answers in a row that end a run: each was, or may have been, billed. */
export const WASTED_AT_MOST = 20;

export function unreached(reason: string): RunHalt {
  return { why: 'unreachable', sentence: `the service was not reached for a minute: ${reason}` };
}

/** A misspelt host, or a certificate that is not trusted: waiting would not help. */
export function unreachableForGood(reason: string): RunHalt {
  return { why: 'unreachable', sentence: `the service cannot be reached: ${reason}` };
}

/** Nothing listens at an address that never answered: more likely a wrong port than an outage. */
export function refused(reason: string): RunHalt {
  return {
    why: 'unreachable',
    sentence: `the service cannot be reached: ${reason}, and never did anything there`,
  };
}

/** A login page or a proxy in front answers everything with 200, and each answer is paid for. */
export function useless(answers: number, reason: string): RunHalt {
  return { why: 'useless', sentence: `${answers} answers in a row were of no use: ${reason}` };
}

/** Unproven answers, without a good one, after which a run asks whether the address is right. */
export const UNPROVEN_AT_MOST = 5;

const SAID_NOTHING_FOUND = /^the service answered (?:204|404)/;
const NOT_BELIEVED =
  'not believed: the address never gave a good answer, and this one has neither a usage header nor an error code';

/** What the rows say of such an answer, as long as nobody can believe it. */
export function unprovenReason(answer: Answer): string {
  return `${saidWithCost(answer)}, ${NOT_BELIEVED}`;
}

/**
 * Whether a row's reason is an {@link unprovenReason} that still holds. Once the address is proven,
 * a 204 or 404 becomes a "not found", and any other refusal counts as the service's own; `hasGood`:
 * the run has answers that can be believed.
 */
export function isUnprovenReason(reason: string, hasGood: boolean): boolean {
  return reason.endsWith(NOT_BELIEVED) && (!hasGood || SAID_NOTHING_FOUND.test(reason));
}

/** What the rows say of an answer that did not come from the service. */
export function foreignReason(answer: Answer): string {
  return `${saidWithCost(answer)}, by something that is not the service: no usage header, no error code, no JSON object`;
}

export function unproven(service: string): RunHalt {
  return {
    why: 'useless',
    sentence: `is the address right? ${service} never gave a good answer, and refused everything that it was asked, without a usage header or an error code; --allow-unknown goes on where the list is known to be unknown`,
  };
}

export function foreign(service: string, answer: Answer): RunHalt {
  return {
    why: 'useless',
    sentence: `is the address right? ${service} never gave a good answer; this one has neither a usage header nor an error code nor a JSON object: ${said(answer)}`,
  };
}

function said({ meaning }: Answer): string {
  if ('reason' in meaning) return meaning.reason;
  return meaning.type === 'not_found' ? `the service answered ${meaning.status}` : 'the service answered';
}

/** A damaged answer, or one that is no brand, says itself what it cost. */
function saidWithCost(answer: Answer): string {
  const { meaning, cost } = answer;
  if (meaning.type === 'wasted' || (meaning.type === 'failed' && meaning.isNoBrand)) return said(answer);
  return `${said(answer)}, ${{ billed: 'was billed', doubtful: 'may have been billed', free: 'not billed' }[cost]}`;
}

/** For rows: two requests of a lookup may have been billed, and neither got an answer. */
export const DOUBTFUL_REASON =
  'not asked again: two requests for it may have been billed, and their answers were lost with killed workers or connections';

/** All was asked that this run may ask. */
export function doubtful(identifiers: number): RunHalt {
  const what = countOf(identifiers, 'identifier');
  return {
    why: 'doubtful',
    sentence: `of ${what} two requests may have been billed whose answers were lost; a run asks no more often than that`,
  };
}

export function throttled(patienceMs: number): RunHalt {
  return {
    why: 'throttled',
    sentence: `the service refused every request as too many for ${Math.round(patienceMs / 1_000)} s`,
  };
}

const OVERSTATED = '--plan or --overage-budget say more than the account has';

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
