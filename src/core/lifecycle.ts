/** How things end and wait: releases, failures with an answer, deadlines, turns, processes. */
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';

export type Release = () => unknown | Promise<unknown>;

export type Releasers = ReturnType<typeof createReleasers>;

/** Releases, pushed beside each acquisition. */
export function createReleasers() {
  const releases: Release[] = [];
  return {
    push: (release: Release): void => void releases.push(release),
    /** Runs them, newest first. Safe to call twice. Throws the first error after all have run. */
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

/** Runs `action` and then what it pushed. Its own error wins over an error of a release. */
export async function withReleasers<T>(action: (releasers: Releasers) => Promise<T>): Promise<T> {
  return orRelease(async (releasers) => {
    const result = await action(releasers);
    await releasers.releaseAll();
    return result;
  });
}

/** Runs `action`, and what it pushed only when it fails; its own error wins. */
export async function orRelease<T>(action: (releasers: Releasers) => Promise<T>): Promise<T> {
  const releasers = createReleasers();
  try {
    return await action(releasers);
  } catch (error) {
    await releasers.releaseAll().catch(() => undefined);
    throw error;
  }
}

/** The result of `read`, or `otherwise` when it throws. */
export function attempt<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Whether it resolves. Never rejects. */
export function succeeds(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => true,
    () => false,
  );
}

/**
 * The promise, or `undefined` after `ms` milliseconds and a turn of the event loop: after a
 * standstill of the process it reads first what has arrived meanwhile. For closes that may hang.
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

/** Keeps the process running until `work` settles; forgotten connections alone do not. */
export async function keepRunning<T>(work: Promise<T>): Promise<T> {
  const hold = setInterval(() => undefined, LONGEST_TIMER_MS);
  try {
    return await work;
  } finally {
    clearInterval(hold);
  }
}

/** Node's longest timer; longer ones ring at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves when the signal is aborted; at once when it is. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Whether a process of this number runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** Others have steps of many turns: what they do within seconds takes this long many times. */
const TURN_MS = 10;
/** Steps between two looks at the clock, which take as long as a short step. */
const STEPS = 16;

/** For long loops beside which others must go on: when `isOver`, await `next`. */
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

/** Aborted with one of `others`, or after `ms`. Node collects a time-out that nobody listens to. */
export function limitedTo(ms: number, ...others: readonly AbortSignal[]): AbortSignal {
  const timeOut = AbortSignal.timeout(ms);
  timeOut.addEventListener('abort', () => undefined, { once: true });
  return AbortSignal.any([...others, timeOut]);
}
