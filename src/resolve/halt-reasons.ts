/**
 * Why a run stops asking, as its rows and its report tell it. When one of these holds is `ask.ts`'s and the quota's.
 */
import type { RunHalt } from '../runs/run-store.js';

/** Damaged or lost answers in a row, none good between them, that end a run: each was or may have been billed. */
export const WASTED_AT_MOST = 20;

export function unreached(reason: string): RunHalt {
  return { why: 'unreachable', sentence: `the service was not reached for a minute: ${reason}` };
}

/** A misspelt host, or a certificate that is not trusted: waiting would not help. */
export function unreachableForGood(reason: string): RunHalt {
  return { why: 'unreachable', sentence: `the service cannot be reached: ${reason}` };
}

/** A login page or a proxy before the service answers everything with 200 and is paid for each time. */
export function useless(reason: string): RunHalt {
  return { why: 'useless', sentence: `${WASTED_AT_MOST} answers in a row were of no use: ${reason}` };
}

/** 404s from an address that never gave a good answer, after which a run asks whether the address is right. */
export const UNPROVEN_AT_MOST = 5;

/** What the rows say of such a 404, as long as nobody can believe it. */
export const UNPROVEN_REASON =
  'answered 404, was billed, not believed: the address never gave a good answer, and this one has neither a usage header nor an error code';

export const FOREIGN_REASON =
  'answered 404, was billed, by something that is not the service: no usage header, no error code, no JSON object';

export function unproven(service: string): RunHalt {
  return {
    why: 'useless',
    sentence: `is the address right? ${service} never gave a good answer, and said 404 without a usage header or an error code to everything it was asked; --allow-unknown goes on where the list is known to be unknown`,
  };
}

export function foreign(service: string): RunHalt {
  return {
    why: 'useless',
    sentence: `is the address right? ${service} never gave a good answer, and said 404 with neither a usage header nor an error code nor a JSON object`,
  };
}

/** What the rows say of a lookup of which two requests may have been billed and none was answered. */
export const DOUBTFUL_REASON =
  'not asked again: two requests for it may have been billed, and their answers were lost with killed workers or connections';

/** All was asked that this run may ask. */
export function doubtful(identifiers: number): RunHalt {
  const what = identifiers === 1 ? 'one identifier' : `${identifiers.toLocaleString('en-US')} identifiers`;
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

/** Whether a run was stopped by {@link overstated}: other advice helps then than with a limit that is used up. */
export function isOverstated({ sentence }: RunHalt): boolean {
  return sentence.endsWith(OVERSTATED);
}
