/**
 * Waiting for a slot of the shared pace. A slot that was missed is not sent late: a process that was held up would
 * otherwise send all that it slept through in one bunch.
 */
import type { Clock } from '../clock.js';

/** Timers may be late by so much before a slot counts as missed. */
const LATE_MS = 10;

export interface Slots {
  /**
   * Resolves when the slot in `waitMs` has come: true, or false when it was missed by more than a slot's length
   * (`rate` slots a second; null: slots cannot be missed). Rejects with the reason of the signal or of `close`.
   */
  await(waitMs: number, rate: number | null, signal: AbortSignal): Promise<boolean>;
  /** Ends every wait. */
  close(reason: unknown): void;
}

export function createSlots(clock: Clock): Slots {
  const waits = new Set<AbortController>();
  return {
    async await(waitMs, rate, signal) {
      if (waitMs <= 0) return true;
      const slotAt = clock.now() + waitMs;
      const wait = new AbortController();
      const onAbort = () => wait.abort(signal.reason);
      if (signal.aborted) onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      waits.add(wait);
      try {
        await clock.sleep(waitMs, wait.signal);
      } finally {
        waits.delete(wait);
        signal.removeEventListener('abort', onAbort);
      }
      return rate === null || clock.now() - slotAt <= Math.max(LATE_MS, 1_000 / rate);
    },
    close(reason) {
      for (const wait of waits) wait.abort(reason);
    },
  };
}
