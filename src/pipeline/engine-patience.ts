/**
 * Patience with an engine that is away for a moment: a restart or a failover does not end a run.
 */
import { type ErrorCode, errorText, FailFileError } from '../errors.js';
import type { Log } from '../log.js';

const PATIENCE_MS = 120_000;
const TRY_AGAIN_MS = 1_000;

/** Tries again for two minutes. Throws at once what does not pass by itself, and after a stop. */
export async function patiently<T>(
  { log, stop }: { readonly log: Log; readonly stop: AbortSignal },
  action: () => Promise<T>,
): Promise<T> {
  const givesUpAt = Date.now() + PATIENCE_MS;
  let isAway = false;
  for (;;) {
    try {
      const answer = await action();
      if (isAway) log.info('the engine answers again');
      return answer;
    } catch (error) {
      if (stop.aborted || Date.now() >= givesUpAt || isForGood(error)) throw error;
      if (!isAway) log.warn({ reason: errorText(error) }, 'the engine does not answer; trying again');
      isAway = true;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** What does not pass by itself: the run is no longer known, an answer cannot be kept, or whoever holds the engine serves others. */
const FOR_GOOD: ReadonlySet<string> = new Set<ErrorCode>(['engine-unfit', 'engine-held']);

function isForGood(error: unknown): boolean {
  return error instanceof FailFileError && FOR_GOOD.has(error.code);
}
