/**
 * Keeps failed lookups for their runs as they come: what was paid for and will not be asked for again is not bought again by
 * whoever gets the chunk of a killed worker. Those that come together travel together; an engine that is away is waited for.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { LookupFailure, RunStore } from '../stores/run-store.js';

export interface FailureKeeper {
  /** Resolves when the failure is as durable as the engine promises. Rejects only after `close`. */
  keep(run: string, failure: LookupFailure): Promise<void>;
  /** Ends waiting for an engine that is away. */
  close(): void;
}

interface Waiting {
  readonly run: string;
  readonly failure: LookupFailure;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const RETRY_MS = 1_000;

export function createFailureKeeper(runs: Pick<RunStore, 'fail'>, clock: Clock, log: Log): FailureKeeper {
  let waiting: Waiting[] = [];
  let isFlushing = false;
  const closing = new AbortController();

  async function keepAll(run: string, batch: readonly Waiting[]): Promise<void> {
    const failures = batch.map(({ failure }) => failure);
    for (;;) {
      try {
        await runs.fail(run, failures);
        for (const each of batch) each.resolve();
        return;
      } catch (error) {
        log.error({ reason: errorText(error), failures: failures.length }, 'the engine keeps no failures');
        if (closing.signal.aborted) {
          for (const each of batch) each.reject(error);
          return;
        }
        await clock.sleep(RETRY_MS, closing.signal).catch(() => undefined);
      }
    }
  }

  async function flush(): Promise<void> {
    isFlushing = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      for (const run of new Set(batch.map((each) => each.run))) {
        await keepAll(
          run,
          batch.filter((each) => each.run === run),
        );
      }
    }
    isFlushing = false;
  }

  return {
    keep(run, failure) {
      return new Promise((resolve, reject) => {
        waiting.push({ run, failure, resolve, reject });
        if (!isFlushing) void flush();
      });
    },
    close() {
      closing.abort(new Error('closing'));
    },
  };
}
