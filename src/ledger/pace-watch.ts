/**
 * What this process proposes for the shared pace, exchange by exchange: slower after a refusal, faster after a while
 * without one. The arithmetic is `pace.ts`'s; here is remembered since when it is quiet, that refusals of
 * requests sent before the rate fell say nothing new, and whether the rate is a guess:
 *
 *   unpaced     nothing was refused. Left by the first refusal.
 *   unmeasured  next to nothing had been accepted by then: the rate is tried out in large steps. Left by a refusal
 *               beside which something was accepted, or when nobody is held back any more.
 *   guessed     the rate is made of what had been answered by then. It is raised at once to what answers of requests that
 *               were still under way prove, then grows fast. Left by the next refusal.
 *   known       a rate was refused: growth is fast far below it and slow near it.
 *
 * A rate that was lowered before this process came is taken for a guess: nobody remembers how good it is.
 */
import type { PaceChange, PaceState } from './ledger.js';
import type { PaceRefusal } from './outbox.js';
import { isUnmeasured, mayBeUnmeasured, type RefusedRate, raiseGuess, slowDown, speedUp } from './pace.js';

/** So long requests are answered whose slots were given before the rate fell: the ledger gives them a second ahead. */
const ECHO_MS = 2_000;
/** How long answers to the burst before a first refusal may prove more than was guessed. */
const PROOF_MS = 3_000;

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
  let refusedRate: RefusedRate = 'guess';
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
      const isGuess = typeof refusedRate !== 'number' && now - loweredAt < PROOF_MS;
      const proven = isGuess ? raiseGuess(pace, accepted, maxRate) : null;
      if (proven !== null) return proven;
      const change = speedUp(pace, now - quietSince, maxRate, refusedRate);
      if (change !== null) quietSince = now;
      return change;
    },
    learn(pace, now) {
      if (rate === undefined) refusedRate = mayBeUnmeasured(pace) ? 'unmeasured' : 'guess';
      else if ((pace.rate ?? Number.POSITIVE_INFINITY) < (rate ?? Number.POSITIVE_INFINITY)) {
        loweredAt = now;
        quietSince = now;
        const wasMeasured = rate !== null && refusedRate !== 'unmeasured';
        if (!wasMeasured && isUnmeasured(rate, pace)) refusedRate = 'unmeasured';
        else refusedRate = rate ?? 'guess';
      } else if (refusedRate === 'unmeasured' && rate !== null && now - loweredAt < PROOF_MS) {
        // More answers than the new rate lets through: those of the burst, which measure it after all.
        if (raiseGuess({ ...pace, rate }, 0, null) !== null) refusedRate = 'guess';
      }
      rate = pace.rate;
    },
  };
}
