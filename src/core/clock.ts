/** The time. Durations use `monotonic`, because people set the wall clock; dates use `now`. */
export interface Clock {
  /** Milliseconds since 1970, UTC. Jumps when the clock is set. */
  now(): number;
  /** Milliseconds since a fixed moment of this process. Never set, never goes back. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or rejects with the signal's reason once it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const DAY_MS = 86_400_000;
const LAST_MOMENT = 8_640_000_000_000_000;

/** True if the value can be shown as a date; an engine may return anything. */
export function isMoment(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_MOMENT;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, signal, true),
};

/** Like {@link systemClock}, but its waits do not keep the process running. */
export const idleClock: Clock = { ...systemClock, sleep: (ms, signal) => sleep(ms, signal, false) };

/** Unlike `sleep` of `node:timers/promises`, captures no stack trace when a wait is aborted. */
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
