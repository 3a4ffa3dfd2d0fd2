/**
 * What this process proposes for the shared pace, exchange by exchange: slower after a refusal, faster after a while
 * without one. The arithmetic is `pace.ts`'s; here is remembered since when it is quiet, and that refusals of
 * requests sent before the rate fell say nothing new.
 */
import type { PaceChange, PaceState } from './ledger.js';
import type { PaceRefusal } from './mailbox.js';
import { slowDown, speedUp } from './pace.js';

/** Requests that were sent before the rate fell are still being answered for so long. */
const ECHO_MS = 1_000;

export interface PaceWatch {
  /** The service refused a request as too many. */
  refused(now: number): void;
  /**
   * The change to propose now; null: none. `accepted`: billed answers since the state was seen; without one nothing is
   * proven and the pace does not grow. `maxRate`: it grows no further, null: without end.
   */
  propose(
    pace: PaceState,
    refusal: PaceRefusal | null,
    accepted: number,
    maxRate: number | null,
    now: number,
  ): PaceChange | null;
  /** The pace as the ledger answered it. */
  learn(pace: PaceState, now: number): void;
}

export function createPaceWatch(startedAt: number): PaceWatch {
  let rate: number | null | undefined;
  let loweredAt = Number.NEGATIVE_INFINITY;
  let quietSince = startedAt;
  return {
    refused(now) {
      quietSince = now;
    },
    propose(pace, refusal, accepted, maxRate, now) {
      if (refusal !== null) {
        const { retryAfterMs } = refusal;
        if (now - loweredAt >= ECHO_MS) return slowDown(pace, retryAfterMs, accepted);
        if (retryAfterMs === null) return null;
        return { ifVersion: pace.version, rate: pace.rate, burst: pace.burst, floorMs: retryAfterMs };
      }
      if (accepted === 0) return null;
      const change = speedUp(pace, now - quietSince, maxRate);
      if (change !== null) quietSince = now;
      return change;
    },
    learn(pace, now) {
      const isKnown = rate !== undefined;
      if (isKnown && (pace.rate ?? Number.POSITIVE_INFINITY) < (rate ?? Number.POSITIVE_INFINITY)) {
        loweredAt = now;
        quietSince = now;
      }
      rate = pace.rate;
    },
  };
}
