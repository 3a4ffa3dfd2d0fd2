/**
 * Time as a seam: everything that waits or dates takes a clock, so that tests can turn one by hand.
 *
 * Two readings, because the wall clock may be set while the process runs: durations and waits read
 * `monotonic`; dates, and what is compared with dates, read `now`.
 */

export interface Clock {
  /** Milliseconds since 1970, UTC. Goes back, or leaps, when somebody sets the clock. */
  now(): number;
  /** Milliseconds since some moment of this process. Never set, never goes back. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds, or rejects with the signal's reason as soon as it is aborted.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  },
};
