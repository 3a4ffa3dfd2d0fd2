/**
 * Keeps failed lookups for their runs as they come: what was paid for and will not be asked for
 * again is not bought again by whoever gets the chunk of a killed worker. Those that come together
 * travel together; an unavailable engine is waited for.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { LookupFailure, RunStore } from '../stores/run-store.js';

const RETRY_MS = 1_000;

export function createFailureKeeper(runs: Pick<RunStore, 'fail'>, clock: Clock, log: Log) {
  const closing = new AbortController();
  /** Failures that wait for an earlier call, by run. */
  const waiting = new Map<string, { readonly failures: LookupFailure[]; readonly kept: Promise<void> }>();
  let last: Promise<void> = Promise.resolve();

  async function keepAll(run: string, failures: readonly LookupFailure[]): Promise<void> {
    for (;;) {
      try {
        return await runs.fail(run, failures);
      } catch (error) {
        log.error({ reason: errorText(error), failures: failures.length }, 'the engine records no failures');
        if (closing.signal.aborted) throw error;
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    }
  }

  return {
    /** Resolves when the failure is as durable as the engine promises. Rejects only once closed. */
    keep(run: string, failure: LookupFailure): Promise<void> {
      const known = waiting.get(run);
      known?.failures.push(failure);
      if (known) return known.kept;
      const failures = [failure];
      const kept = last.then(() => {
        waiting.delete(run);
        return keepAll(run, failures);
      });
      waiting.set(run, { failures, kept });
      last = kept.catch(() => undefined);
      return kept;
    },
    /** Ends waiting for an engine that is unavailable. */
    close: () => closing.abort(new Error('closing')),
  };
}
