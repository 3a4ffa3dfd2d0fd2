/** When a governor acts: the alarm for its next exchange, and the slots of the pace. */
import type { Clock } from '../core/clock.js';
import type { LedgerState } from './ledger.js';

/** Shared: making a new stack takes longer than everything else here. */
const CANCELLED = new Error('another time was set');

export type Alarm = ReturnType<typeof createAlarm>;

/** Creates an alarm that rings once, at the earliest of the times it was set to. */
export function createAlarm(clock: Clock, ring: () => void) {
  let set: { readonly at: number; cancel(): void } | null = null;

  return {
    /** Rings within `ms` milliseconds; for 0, after this turn of the event loop. */
    ringWithin(ms: number): void {
      const at = clock.monotonic() + ms;
      if (set !== null && set.at <= at) return;
      set?.cancel();
      const mine = { at, cancel: (): void => undefined };
      const goOff = () => {
        // A wait that is over can still be cancelled before its turn comes.
        if (set !== mine) return;
        set = null;
        ring();
      };
      set = mine;
      if (ms <= 0) {
        // A microtask would be too early: all requests of this turn belong together.
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

/** Timers may be this late before a slot counts as missed. */
const LATE_MS = 10;

export type Slots = ReturnType<typeof createSlots>;

/** Waits for slots. A missed slot is given anew, or a delayed process would send all at once. */
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
      // A timer counts from the last turn of the event loop, some milliseconds ago.
      while (clock.monotonic() < at) await clock.sleep(at - clock.monotonic(), wait.signal);
    } finally {
      waits.delete(wait);
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    /**
     * Waits for a slot that the ledger gave: true if in time, false if missed by more than its
     * length. Rejects with the reason of the signal or of `close`.
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
/** No answer takes this long: a larger step means that the store's clock was set back. */
const STEP_MS = 1_000;

/** The store's clock as seen here, by the shortest recent delay, because delays are uneven. */
export function createStoreTime(clock: Clock) {
  /** The least difference of this process's clock to the store's, in this stretch and the last. */
  let least = Number.POSITIVE_INFINITY;
  let leastBefore = Number.POSITIVE_INFINITY;
  let beganAt = clock.monotonic();
  const offset = () => Math.min(least, leastBefore);
  return {
    follow(storeNow: number): void {
      const now = clock.monotonic();
      const difference = now - storeNow;
      if (difference > offset() + STEP_MS) {
        least = difference;
        leastBefore = difference;
        beganAt = now;
      } else if (now - beganAt >= REMEMBERED_MS) {
        leastBefore = least;
        least = difference;
        beganAt = now;
      } else least = Math.min(least, difference);
    },
    /** Returns a time on this process's clock, late by the shortest delay at most. */
    toLocal: (storeTime: number) => storeTime + (Number.isFinite(offset()) ? offset() : 0),
  };
}
