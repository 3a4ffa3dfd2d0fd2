/** Durations and waits read `monotonic`, because the wall clock may be set; dates read `now`. */
export interface Clock {
  /** Milliseconds since 1970, UTC. Jumps when the clock is set. */
  now(): number;
  /** Milliseconds since some moment of this process. Never set, never goes back. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const DAY_MS = 86_400_000;
const LAST_MOMENT = 8_640_000_000_000_000;

/** Whether it can be shown as a date: what an engine gives may be anything. */
export function isMoment(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_MOMENT;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, signal, true),
};

/** The same; its waits keep no process running. */
export const idleClock: Clock = { ...systemClock, sleep: (ms, signal) => sleep(ms, signal, false) };

/** As in `node:timers/promises`, which makes an error with its stack when a wait ends early. */
function sleep(ms: number, signal: AbortSignal | undefined, keepsRunning: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    if (!keepsRunning) timer.unref();
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
