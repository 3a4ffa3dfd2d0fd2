/**
 * How fast: when the rate of the shared pace falls and when it grows. Every change names the
 * version it was judged on, so that of many workers that see the same refusal only one lowers the
 * rate.
 */
import type { PaceChange, PaceState } from './ledger.js';
import type { PaceRefusal } from './outbox.js';

/** Published throughput of such services is 100 requests a second: stay below. */
export const REMOTE_RATE = 90;
const REMOTE_BURST = 10;
const SLOWEST_RATE = 0.2;
/** After a refusal the rate is this share of what was accepted in the last second. */
const AFTER_REFUSAL = 0.9;
/** Fewer accepted requests measure nothing: a single refusal may have come before any of them. */
const MEASURED_FROM = 5;
/** The pace after a first refusal of which nothing was measured: it grows in large steps. */
const UNMEASURED_RATE = 10;
const UNMEASURED_GROWTH = 4;
/** A faster pace limits nothing: it is lifted. */
const FASTEST_RATE = 2_000;
/** Additive increase: so much of the rate that was last refused, each second without a refusal. */
const GROWTH_SHARE = 0.005;
/** The same while the rate is far from any that was refused. */
const FAST_GROWTH_SHARE = 0.1;
/** So near to a refused rate growth is slow. */
const NEAR_REFUSED = 0.9;
/** A longer quiet is idleness and proves nothing: a waking worker must not start at a multiple. */
const LONGEST_QUIET_MS = 5_000;

function acceptedBy(pace: PaceState, newlyAccepted: number): number {
  return Math.max(pace.acceptedLastSecond, pace.acceptedThisSecond + newlyAccepted);
}

function changed({ version, burst }: PaceState, rate: number | null): PaceChange {
  return { ifVersion: version, rate, burst, floorMs: 0 };
}

/** True if a rate that just fell from `before` says nothing of what is accepted. */
function isUnmeasured(before: number | null, pace: PaceState): boolean {
  const accepted = acceptedBy(pace, 0);
  return before === null ? accepted < MEASURED_FROM : accepted === 0;
}

/**
 * The pace after a 429 for throughput. `newlyAccepted`: billed answers that came since `pace` was
 * seen, the ones beside the refusal: after a first burst they are all there is.
 */
export function slowDown(pace: PaceState, retryAfterMs: number | null, newlyAccepted = 0): PaceChange {
  const accepted = acceptedBy(pace, newlyAccepted);
  const isUnmeasured = pace.rate === null && accepted < MEASURED_FROM;
  const from = pace.rate === null ? accepted : Math.min(pace.rate, Math.max(accepted, pace.rate / 2));
  return {
    ifVersion: pace.version,
    rate: isUnmeasured ? UNMEASURED_RATE : Math.max(SLOWEST_RATE, from * AFTER_REFUSAL),
    burst: 1,
    // Without a hint one second clears a rolling one-second window.
    floorMs: retryAfterMs ?? 1_000,
  };
}

/** Raises the guess after a first refusal to what answers that were under way then prove. */
function raiseGuess(pace: PaceState, newlyAccepted: number, ceiling: number | null): PaceChange | null {
  if (pace.rate === null) return null;
  const rate = Math.min(acceptedBy(pace, newlyAccepted) * AFTER_REFUSAL, ceiling ?? Number.POSITIVE_INFINITY);
  return rate > pace.rate ? changed(pace, rate) : null;
}

/** The rate that was refused, in requests a second, or the state in {@link createPaceWatch}. */
export type RefusedRate = number | 'guess' | 'unmeasured';

/**
 * Returns the pace after `quietMs` without a refusal, or null. Growth is fast up to nine tenths of
 * the rate that was last refused, then slow: a refusal at a bad moment costs seconds, not minutes.
 */
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

/** How long answers come to slots given before the rate fell: they are given 1 s ahead. */
const ECHO_MS = 2_000;
/** How long answers to the burst before a first refusal may prove more than was guessed. */
const PROOF_MS = 3_000;

export type PaceWatch = ReturnType<typeof createPaceWatch>;

/**
 * What this process proposes for the shared pace, exchange by exchange: slower after a refusal,
 * faster after a while without one. It remembers since when it is quiet, that refusals of requests
 * sent before the rate fell say nothing new, and whether the rate is a guess:
 *
 *   unpaced     nothing was refused. Left by the first refusal.
 *   unmeasured  next to nothing had been accepted by then: the rate grows in large steps. Left by
 *               a refusal beside which something was accepted, or when it holds no request back.
 *   guessed     the rate comes from the answers so far. It is raised at once to what requests
 *               still under way prove, then grows fast. Left by the next refusal.
 *   known       a rate was refused: growth is fast far below it and slow near it.
 *
 * A rate that was lowered before this process came is taken for a guess: this process does not know
 * how good it is.
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
    /** `accepted`: billed answers since the state was seen; without one the pace stays. */
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
      // A low rate that another process set may be an unmeasured one.
      if (rate === undefined)
        refusedRate = pace.rate !== null && pace.rate <= UNMEASURED_RATE ? 'unmeasured' : 'guess';
      else if ((pace.rate ?? Number.POSITIVE_INFINITY) < (rate ?? Number.POSITIVE_INFINITY)) {
        loweredAt = now;
        quietSince = now;
        const wasMeasured = rate !== null && refusedRate !== 'unmeasured';
        if (!wasMeasured && isUnmeasured(rate, pace)) refusedRate = 'unmeasured';
        else refusedRate = rate ?? 'guess';
      } else if (refusedRate === 'unmeasured' && rate !== null && now - loweredAt < PROOF_MS) {
        // More answers than the new rate lets through: those of the burst, which measure it after
        // all.
        if (raiseGuess({ ...pace, rate }, 0, null) !== null) refusedRate = 'guess';
      }
      rate = pace.rate;
    },
  };
}

/** The pace a run begins with: `--rate`, else a remote service's default, or none on loopback. */
export function openingPace(rate: number | null, isLoopback: boolean) {
  if (rate !== null) return { rate: rate === 0 ? null : rate, burst: 1 };
  // Undefined keeps what earlier refusals taught.
  return isLoopback ? { rate: undefined, burst: 1 } : { rate: REMOTE_RATE, burst: REMOTE_BURST };
}
