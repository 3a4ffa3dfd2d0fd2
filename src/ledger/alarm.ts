import type { Clock } from '../core/clock.js';

/** Shared: creating the standard reason, with its stack, takes longer than everything else here. */
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
