import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Time as a seam: everything that waits or dates takes a clock, so that tests can turn one by hand.
 *
 * Two readings, because the wall clock may be set while the process runs: durations and waits read
 * `monotonic`; dates, and what is compared with dates, read `now`.
 */
export interface Clock {
  /** Milliseconds since 1970, UTC. Jumps when the clock is set. */
  now(): number;
  /** Milliseconds since some moment of this process. Never set, never goes back. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    await sleep(ms, undefined, { signal }).catch(() => Promise.reject(signal?.reason));
  },
};

/** The same; its waits keep no process running. */
export const idleClock: Clock = {
  ...systemClock,
  async sleep(ms, signal) {
    await sleep(ms, undefined, { signal, ref: false }).catch(() => Promise.reject(signal?.reason));
  },
};
