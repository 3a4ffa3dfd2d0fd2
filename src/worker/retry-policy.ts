/** When to ask again: after a blip inside the job, after a longer fault from the queue. Pure. */

/** After an outage of this length, waiting for the service ends. */
export const HOPELESS_MS = 1_800_000;

/** Requests in a row for one identifier before its job is parked. */
export const QUICK_TRIES = 3;

/** Waits before the second and third request, in ms; up to half is added, to spread workers. */
const QUICK_WAITS_MS = [100, 500] as const;

/** Waits before each later attempt, in ms. After the last one the lookup has failed. */
const PARK_MS = [2_000, 5_000, 15_000, 30_000, 60_000] as const;

/** The longest Retry-After that a job waits for. */
const HOLD_AT_MOST_MS = 1_500;

/** Returns the wait before the next quick try; null to park. `tries` requests have been made. */
export function quickRetryMs(tries: number, retryAfterMs: number | null, random: number): number | null {
  if (tries >= QUICK_TRIES) return null;
  if (retryAfterMs !== null && retryAfterMs > HOLD_AT_MOST_MS) return null;
  const base = QUICK_WAITS_MS[tries - 1] ?? 500;
  return Math.max(base * (1 + random / 2), retryAfterMs ?? 0);
}

/** Returns how long to park after `attempts` rounds without an answer; null to give up. */
export function parkMs(attempts: number, retryAfterMs: number | null): number | null {
  const wait = PARK_MS[attempts - 1];
  return wait === undefined ? null : Math.max(wait, retryAfterMs ?? 0);
}

/** Wait before a key that another worker has claimed is tried again. */
export const BUSY_RETRY_MS = 400;
