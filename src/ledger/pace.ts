/**
 * Decides when the shared pace falls and grows. Each change names the version it was judged by, so
 * that only one of many workers that see a refusal lowers the rate.
 */
import type { PaceChange, PaceState } from './ledger.js';
import type { PaceRefusal } from './outbox.js';

/** Such services publish a throughput of 100 requests a second: stay below. */
export const REMOTE_RATE = 90;
const REMOTE_BURST = 10;
const SLOWEST_RATE = 0.2;
/** After a refusal, the new rate is this share of the accepted one. */
const AFTER_REFUSAL = 0.9;
/** Fewer accepted requests measure nothing: the refusal may have come before them. */
const MEASURED_FROM = 5;
/** The rate after a first refusal that measured nothing; it grows in large steps. */
const UNMEASURED_RATE = 10;
const UNMEASURED_GROWTH = 4;
/** A faster pace limits nothing, so it is lifted. */
const FASTEST_RATE = 2_000;
/** Slow growth in each second without a refusal, as a share of the rate. */
const GROWTH_SHARE = 0.005;
/** Fast growth, while the rate is far from a refused one. */
const FAST_GROWTH_SHARE = 0.1;
/** Growth is fast up to this share of a refused rate: a chance refusal costs only seconds. */
const NEAR_REFUSED = 0.9;
/** A longer quiet is idleness and proves nothing: a waking worker must not leap to a multiple. */
const LONGEST_QUIET_MS = 5_000;

function acceptedBy(pace: PaceState, newlyAccepted: number): number {
  return Math.max(pace.acceptedLastSecond, pace.acceptedThisSecond + newlyAccepted);
}

function changed({ version, burst }: PaceState, rate: number | null): PaceChange {
  return { ifVersion: version, rate, burst, floorMs: 0 };
}

/** True if a rate that just fell from `before` measures nothing. */
function isUnmeasured(before: number | null, pace: PaceState): boolean {
  const accepted = acceptedBy(pace, 0);
  return before === null ? accepted < MEASURED_FROM : accepted === 0;
}

/** Returns the pace after a 429 for throughput. `newlyAccepted`: billed answers since `pace`. */
export function slowDown(pace: PaceState, retryAfterMs: number | null, newlyAccepted = 0): PaceChange {
  const accepted = acceptedBy(pace, newlyAccepted);
  const isUnmeasured = pace.rate === null && accepted < MEASURED_FROM;
  const from = pace.rate === null ? accepted : Math.min(pace.rate, Math.max(accepted, pace.rate / 2));
  return {
    ifVersion: pace.version,
    rate: isUnmeasured ? UNMEASURED_RATE : Math.max(SLOWEST_RATE, from * AFTER_REFUSAL),
    burst: 1,
    // Without Retry-After, one second clears a rolling one-second window.
    floorMs: retryAfterMs ?? 1_000,
  };
}

/** Raises the guess after a first refusal to the rate that answers under way have proven. */
function raiseGuess(pace: PaceState, newlyAccepted: number, ceiling: number | null): PaceChange | null {
  if (pace.rate === null) return null;
  const rate = Math.min(acceptedBy(pace, newlyAccepted) * AFTER_REFUSAL, ceiling ?? Number.POSITIVE_INFINITY);
  return rate > pace.rate ? changed(pace, rate) : null;
}

/** The refused rate in requests a second, or a state of {@link createPaceWatch}. */
export type RefusedRate = number | 'guess' | 'unmeasured';

/** Returns the faster pace after `quietMs` without a refusal, or null. */
export function speedUp(
  pace: PaceState,
  quietMs: number,
  ceiling: number | null,
  refusedRate: RefusedRate = pace.rate ?? 'guess',
): PaceChange | null {
  if (pace.rate === null || quietMs < 1_000) return null;
  if (ceiling !== null && pace.rate >= ceiling) return null;
  const rate = Math.min(grown(pace.rate, quietMs, refusedRate), ceiling ?? Number.POSITIVE_INFINITY);
  return changed(pace, rate > FASTEST_RATE && ceiling === null ? null : rate);
}

function grown(rate: number, quietMs: number, refusedRate: RefusedRate): number {
  if (refusedRate === 'unmeasured') return rate * UNMEASURED_GROWTH;
  const seconds = Math.min(quietMs, LONGEST_QUIET_MS) / 1_000;
  const fastUntil = refusedRate === 'guess' ? Number.POSITIVE_INFINITY : refusedRate * NEAR_REFUSED;
  const slowly = rate + Math.max(0.05, rate * GROWTH_SHARE) * seconds;
  const fast = Math.min(rate * (1 + FAST_GROWTH_SHARE * seconds), fastUntil);
  return Math.max(slowly, fast);
}

/** How long answers still belong to slots from before the rate fell, given up to 1 s ahead. */
const ECHO_MS = 2_000;
/** How long answers to the burst before a first refusal may prove a higher rate. */
const PROOF_MS = 3_000;

export type PaceWatch = ReturnType<typeof createPaceWatch>;

/**
 * Proposes changes of the shared pace for this process: slower after a refusal, faster after a
 * quiet while. Refusals of requests from before the rate fell change nothing. The states:
 *
 *   unpaced     nothing was refused, until the first refusal
 *   unmeasured  almost nothing was accepted before the refusal: the rate grows in large steps,
 *               until a refusal beside accepted requests, or until it holds no request back
 *   guessed     the rate comes from answers: it rises at once to what requests under way prove,
 *               then fast, until the next refusal. A rate from before this process is a guess
 *   known       a rate was refused: growth is fast far below it and slow near it
 */
export function createPaceWatch(startedAt: number) {
  let rate: number | null | undefined;
  let loweredAt = Number.NEGATIVE_INFINITY;
  let refusedRate: RefusedRate = 'guess';
  let quietSince = startedAt;
  return {
    refused(now: number): void {
      quietSince = now;
    },
    /** Returns a change or null. Without `accepted` billed answers since `pace`, the rate stays. */
    propose(
      pace: PaceState,
      refusal: PaceRefusal | null,
      accepted: number,
      maxRate: number | null,
      now: number,
    ): PaceChange | null {
      if (refusal !== null) {
        const { retryAfterMs } = refusal;
        if (now - loweredAt >= ECHO_MS) return slowDown(pace, retryAfterMs, accepted);
        if (retryAfterMs === null) return null;
        return { ...changed(pace, pace.rate), floorMs: retryAfterMs };
      }
      if (accepted === 0) return null;
      const isGuess = typeof refusedRate !== 'number' && now - loweredAt < PROOF_MS;
      const proven = isGuess ? raiseGuess(pace, accepted, maxRate) : null;
      if (proven !== null) return proven;
      const change = speedUp(pace, now - quietSince, maxRate, refusedRate);
      if (change !== null) quietSince = now;
      return change;
    },
    learn(pace: PaceState, now: number): void {
      // Another process may have set a low rate without a measurement.
      if (rate === undefined)
        refusedRate = pace.rate !== null && pace.rate <= UNMEASURED_RATE ? 'unmeasured' : 'guess';
      else if ((pace.rate ?? Number.POSITIVE_INFINITY) < (rate ?? Number.POSITIVE_INFINITY)) {
        loweredAt = now;
        quietSince = now;
        const wasMeasured = rate !== null && refusedRate !== 'unmeasured';
        if (!wasMeasured && isUnmeasured(rate, pace)) refusedRate = 'unmeasured';
        else refusedRate = rate ?? 'guess';
      } else if (refusedRate === 'unmeasured' && rate !== null && now - loweredAt < PROOF_MS) {
        // More answers than the new rate allows come from the burst, and measure it after all.
        if (raiseGuess({ ...pace, rate }, 0, null) !== null) refusedRate = 'guess';
      }
      rate = pace.rate;
    },
  };
}

/** Returns a run's first pace: `--rate`, else a remote service's default, unpaced on loopback. */
export function openingPace(rate: number | null, isLoopback: boolean) {
  if (rate !== null) return { rate: rate === 0 ? null : rate, burst: 1 };
  // Undefined keeps what earlier refusals taught.
  return isLoopback ? { rate: undefined, burst: 1 } : { rate: REMOTE_RATE, burst: REMOTE_BURST };
}
