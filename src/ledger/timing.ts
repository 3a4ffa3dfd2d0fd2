/** When a governor acts: the alarm for its next exchange, and the slots of the pace. */
import type { Clock } from '../core/clock.js';
import type { LedgerState } from './ledger.js';

/** Shared: the stack of a new reason takes longer to make than everything else here. */
const CANCELLED = new Error('another time was set');

export type Alarm = ReturnType<typeof createAlarm>;

/** An alarm on the clock: it rings once, at the earliest of the times it was set to. */
export function createAlarm(clock: Clock, ring: () => void) {
  let set: { readonly at: number; cancel(): void } | null = null;

  return {
    /** Rings in `ms` milliseconds at the latest; 0: after this turn of the event loop. */
    ringWithin(ms: number): void {
      const at = clock.monotonic() + ms;
      if (set !== null && set.at <= at) return;
      set?.cancel();
      const mine = { at, cancel: (): void => undefined };
      const goOff = () => {
        // A wait may be over and yet be cancelled before its turn comes.
        if (set !== mine) return;
        set = null;
        ring();
      };
      set = mine;
      if (ms <= 0) {
        // A microtask would be too early: all requests of this turn of the loop belong together.
        const immediate = setImmediate(goOff);
        mine.cancel = () => clearImmediate(immediate);
      } else {
        const cancelling = new AbortController();
        mine.cancel = () => cancelling.abort(CANCELLED);
        clock.sleep(ms, cancelling.signal).then(goOff, () => undefined);
      }
    },
    clear(): void {
      set?.cancel();
      set = null;
    },
  };
}

/** Timers may be late by so much before a slot counts as missed. */
const LATE_MS = 10;

export type Slots = ReturnType<typeof createSlots>;

/** A missed slot is timed anew: a process that was held up would send all at once. */
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
     * Waits for the slot that an answer of the ledger gave when it arrived: true, or false when it
     * was missed by more than a slot's length. Rejects with the reason of the signal or of `close`.
     */
    await(
      waitMs: number,
      { now, pace: { rate } }: Pick<LedgerState, 'now' | 'pace'>,
      signal: AbortSignal,
    ): true | Promise<boolean> {
      storeTime.follow(now);
      if (waitMs <= 0) return true;
      const at = storeTime.toLocal(now + waitMs);
      const isInTime = () => rate === null || clock.monotonic() - at <= Math.max(LATE_MS, 1_000 / rate);
      return sleepUntil(at, signal).then(isInTime);
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
 * The store's clock as this process sees it. Slots counted from the arrival of answers would be as
 * uneven as their delays. The shortest recent delay is nearest to the truth.
 */
export function createStoreTime(clock: Clock) {
  /** This process's clock minus the store's: the least in this stretch of time and the last. */
  let least = Number.POSITIVE_INFINITY;
  let leastBefore = Number.POSITIVE_INFINITY;
  let beganAt = clock.monotonic();
  const offset = () => Math.min(least, leastBefore);
  return {
    follow(storeNow: number): void {
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
    /** On this process's clock, later by no more than the shortest delay. */
    toLocal: (storeTime: number) => storeTime + (Number.isFinite(offset()) ? offset() : 0),
  };
}
