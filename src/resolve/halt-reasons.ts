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
  return { why: 'unreachable', sentence: `${WASTED_AT_MOST} answers in a row were of no use: ${reason}` };
}

export function throttled(patienceMs: number): RunHalt {
  return {
    why: 'throttled',
    sentence: `the service refused every request as too many for ${Math.round(patienceMs / 1_000)} s`,
  };
}
