/**
 * Keeps failed lookups for their runs as they come: what was paid for and will not be asked for again is not bought again by
 * whoever gets the chunk of a killed worker. Those that come together travel together; an engine that is away is waited for.
 */
import type { Clock } from '../core/clock.js';
import { errorText } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { LookupFailure, RunStore } from '../stores/run-store.js';

interface Waiting {
  readonly run: string;
  readonly failure: LookupFailure;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const RETRY_MS = 1_000;

export class FailureKeeper {
  readonly #runs: Pick<RunStore, 'fail'>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #closing = new AbortController();
  #waiting: Waiting[] = [];
  #isFlushing = false;

  constructor(runs: Pick<RunStore, 'fail'>, clock: Clock, log: Log) {
    this.#runs = runs;
    this.#clock = clock;
    this.#log = log;
  }

  /** Resolves when the failure is as durable as the engine promises. Rejects only after `close`. */
  keep(run: string, failure: LookupFailure): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ run, failure, resolve, reject });
      if (!this.#isFlushing) void this.#flush();
    });
  }

  /** Ends waiting for an engine that is unavailable. */
  close(): void {
    this.#closing.abort(new Error('closing'));
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      for (const run of new Set(batch.map((each) => each.run))) {
        const ofRun = batch.filter((each) => each.run === run);
        await this.#keepAll(run, ofRun);
      }
    }
    this.#isFlushing = false;
  }

  async #keepAll(run: string, batch: readonly Waiting[]): Promise<void> {
    const failures = batch.map(({ failure }) => failure);
    for (;;) {
      try {
        await this.#runs.fail(run, failures);
        for (const each of batch) each.resolve();
        return;
      } catch (error) {
        this.#log.error(
          { reason: errorText(error), failures: failures.length },
          'the engine keeps no failures',
        );
        if (this.#closing.signal.aborted) {
          for (const each of batch) each.reject(error);
          return;
        }
        await this.#clock.sleep(RETRY_MS, this.#closing.signal).catch(() => undefined);
      }
    }
  }
}
