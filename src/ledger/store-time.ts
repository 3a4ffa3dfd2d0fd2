/**
 * The store's clock as it stands to this process's. Every answer of the store is some time on its way, each a different one:
 * what is dated by the store and counted from its arrival would come as unevenly as the answers do. The shortest way of late
 * is nearest to the truth.
 */
import type { Clock } from '../core/clock.js';

export interface StoreTime {
  /** An answer has arrived in which it was `storeNow` at the store. */
  heard(storeNow: number): void;
  /** When it is this time at the store: on this process's clock, and later by no more than the shortest way. */
  toLocal(storeTime: number): number;
}

/** Two clocks drift apart by about a millisecond in this time. */
const REMEMBERED_MS = 10_000;
/** No answer takes so long on the way that is used for slots: the store's clock was set back. */
const STEP_MS = 1_000;

export function createStoreTime(clock: Clock): StoreTime {
  /** This process's clock less the store's: the least of this stretch of time and of the one before. */
  let least = Number.POSITIVE_INFINITY;
  let leastBefore = Number.POSITIVE_INFINITY;
  let beganAt = clock.monotonic();
  const offset = () => Math.min(least, leastBefore);
  return {
    heard(storeNow) {
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
    toLocal: (storeTime) => storeTime + (Number.isFinite(offset()) ? offset() : 0),
  };
}
