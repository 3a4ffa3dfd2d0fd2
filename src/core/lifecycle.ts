/**
 * Releases are pushed beside each acquisition and run last in, first out. Each is tried, and the
 * first error is thrown.
 */

export type Release = () => unknown | Promise<unknown>;

export interface Releasers {
  push(release: Release): void;
  /**
   * Runs what was pushed, newest first. Safe to call twice. Throws the first error after all have
   * run.
   */
  releaseAll(): Promise<void>;
}

export function createReleasers(): Releasers {
  const releases: Release[] = [];
  return {
    push(release) {
      releases.push(release);
    },
    async releaseAll() {
      let first: { error: unknown } | undefined;
      for (let release = releases.pop(); release; release = releases.pop()) {
        try {
          await release();
        } catch (error) {
          first ??= { error };
        }
      }
      if (first) throw first.error;
    },
  };
}

/**
 * Runs `action` with a place to push releases; they run when it ends, however it ends.
 * An error of the action wins over an error of a release.
 */
export async function withReleasers<T>(action: (releasers: Releasers) => Promise<T>): Promise<T> {
  const releasers = createReleasers();
  let result: T;
  try {
    result = await action(releasers);
  } catch (error) {
    await releasers.releaseAll().catch(() => undefined);
    throw error;
  }
  await releasers.releaseAll();
  return result;
}

/**
 * Resolves with the promise, or with `undefined` after `ms` milliseconds. For closes that may hang.
 */
export async function withinDeadline<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

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
