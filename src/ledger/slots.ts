/** A missed slot is not sent late: a process that was held up would send all of them at once. */
import type { Clock } from '../core/clock.js';
import type { LedgerState } from './ledger.js';

/** Timers may be late by so much before a slot counts as missed. */
const LATE_MS = 10;

export type Slots = ReturnType<typeof createSlots>;

export function createSlots(clock: Clock) {
  const storeTime = createStoreTime(clock);
  const waits = new Set<AbortController>();

  async function sleepUntil(at: number, signal: AbortSignal): Promise<void> {
    const wait = new AbortController();
    const onAbort = () => wait.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    waits.add(wait);
    try {
      // A timer counts from the last turn of the event loop, which may be some milliseconds ago.
      while (clock.monotonic() < at) await clock.sleep(at - clock.monotonic(), wait.signal);
    } finally {
      waits.delete(wait);
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    /**
     * Resolves when the slot has come that an answer of the ledger gave, in `waitMs` on the store's
     * clock: true, or false when it was missed by more than a slot's length. To be called when the
     * answer arrives. Rejects with the reason of the signal or of `close`.
     */
    async await(
      waitMs: number,
      { now, pace: { rate } }: Pick<LedgerState, 'now' | 'pace'>,
      signal: AbortSignal,
    ): Promise<boolean> {
      storeTime.heard(now);
      if (waitMs <= 0) return true;
      const at = storeTime.toLocal(now + waitMs);
      await sleepUntil(at, signal);
      return rate === null || clock.monotonic() - at <= Math.max(LATE_MS, 1_000 / rate);
    },
    /** Ends every wait. */
    close(reason: unknown): void {
      for (const wait of waits) wait.abort(reason);
    },
  };
}

/** Two clocks drift apart by about a millisecond in this time. */
const REMEMBERED_MS = 10_000;
/** No answer takes so long on the way that is used for slots: the store's clock was set back. */
const STEP_MS = 1_000;

/**
 * The store's clock as this process sees it. Each answer of the store takes another time to arrive:
 * what the store dates and we count from its arrival would come as unevenly as the answers do. The
 * shortest recent delay is nearest to the truth.
 */
export function createStoreTime(clock: Clock) {
  /** This process's clock minus the store's: the least of this stretch of time and the last. */
  let least = Number.POSITIVE_INFINITY;
  let leastBefore = Number.POSITIVE_INFINITY;
  let beganAt = clock.monotonic();
  const offset = () => Math.min(least, leastBefore);
  return {
    /** An answer has arrived in which it was `storeNow` at the store. */
    heard(storeNow: number): void {
      const now = clock.monotonic();
      const seen = now - storeNow;
      if (seen > offset() + STEP_MS) {
        least = seen;
        leastBefore = seen;
        beganAt = now;
      } else if (now - beganAt >= REMEMBERED_MS) {
        leastBefore = least;
        least = seen;
        beganAt = now;
      } else least = Math.min(least, seen);
    },
    /** This store time on this process's clock, later by no more than the shortest delay. */
    toLocal: (storeTime: number) => storeTime + (Number.isFinite(offset()) ? offset() : 0),
  };
}
