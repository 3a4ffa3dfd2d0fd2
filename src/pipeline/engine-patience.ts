/**
 * Patience with an engine that is away for a moment: a restart or a failover does not end a run.
 */
import { FailFileError } from '../errors.js';
import type { Log } from '../log.js';

const PATIENCE_MS = 120_000;
const TRY_AGAIN_MS = 1_000;

/** Tries again for two minutes. Throws at once what does not pass by itself, and after a stop. */
export async function patiently<T>(
  { log, stop }: { readonly log: Log; readonly stop: AbortSignal },
  action: () => Promise<T>,
): Promise<T> {
  const givesUpAt = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await action();
    } catch (error) {
      if (stop.aborted || Date.now() >= givesUpAt || isForGood(error)) throw error;
      log.warn({ err: error }, 'the engine does not answer; trying again');
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** An engine that answers, but no longer knows the run or cannot keep what it is given, is not away. */
function isForGood(error: unknown): boolean {
  return error instanceof FailFileError && error.code === 'engine-unfit';
}
