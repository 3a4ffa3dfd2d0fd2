/** How work ends and waits: releases, fallbacks, deadlines, turns, processes. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

export type Release = () => unknown | Promise<unknown>;

export type Releasers = ReturnType<typeof createReleasers>;

/** Collects functions that release resources; push each one right after acquiring its resource. */
export function createReleasers() {
  const releases: Release[] = [];
  return {
    push: (release: Release): void => void releases.push(release),
    /** Runs them, newest first, then throws the first error. Safe to call twice. */
    async releaseAll(): Promise<void> {
      const errors: unknown[] = [];
      for (let release = releases.pop(); release; release = releases.pop()) {
        try {
          await release();
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length > 0) throw errors[0];
    },
  };
}

/** Runs `action`, then the releases that it pushed. Its error wins over one of a release. */
export async function withReleasers<T>(action: (releasers: Releasers) => Promise<T>): Promise<T> {
  return orRelease(async (releasers) => {
    const result = await action(releasers);
    await releasers.releaseAll();
    return result;
  });
}

/** Runs `action`; only if it fails, runs the releases that it pushed. Throws its error. */
export async function orRelease<T>(action: (releasers: Releasers) => Promise<T>): Promise<T> {
  const releasers = createReleasers();
  try {
    return await action(releasers);
  } catch (error) {
    await releasers.releaseAll().catch(() => undefined);
    throw error;
  }
}

/** Returns the result of `read`, or `otherwise` if it throws. */
export function attempt<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Resolves to true if the promise does, else to false. */
export function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

/**
 * Returns the result, or undefined after `ms` milliseconds. Waits one more turn of the event loop,
 * which reads what arrived while the process was suspended.
 */
export async function withinDeadline<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const settled = new AbortController();
  const { signal } = settled;
  try {
    return await Promise.race([
      promise,
      sleep(ms, undefined, { signal }).then(() => setImmediate(undefined)),
    ]);
  } finally {
    settled.abort();
  }
}

/** Keeps the process running until `work` settles, even if no open connection does. */
export async function keepRunning<T>(work: Promise<T>): Promise<T> {
  const hold = setInterval(() => undefined, LONGEST_TIMER_MS);
  try {
    return await work;
  } finally {
    clearInterval(hold);
  }
}

/** Node's longest timer; a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves when the signal is aborted, or at once if it already is. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** True if a process with this number runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Short, because other work may need many turns for one step, and each turn waits this long. */
const TURN_MS = 10;
/** Steps between two reads of the clock: a read takes as long as a short step. */
const STEPS = 16;

/** Lets other work run during a long loop, which awaits `next` whenever `isOver` returns true. */
export function createTurns() {
  let since = performance.now();
  let steps = 0;
  return {
    isOver(): boolean {
      steps += 1;
      return steps % STEPS === 0 && performance.now() - since >= TURN_MS;
    },
    async next(): Promise<void> {
      await setImmediate();
      since = performance.now();
    },
  };
}

/** Returns a signal that aborts with `others` or after `ms`. A listener saves the timer from GC. */
export function limitedTo(ms: number, ...others: readonly AbortSignal[]): AbortSignal {
  const timeOut = AbortSignal.timeout(ms);
  timeOut.addEventListener('abort', () => undefined, { once: true });
  return AbortSignal.any([...others, timeOut]);
}
