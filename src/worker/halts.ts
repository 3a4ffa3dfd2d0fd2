/**
 * Runs that this process must not ask for any more. A halt is remembered for as long as the run's own process needs to take its
 * chunks back; a chunk that comes later is of a run that was allowed to go on (`--on-limit wait`), by a process that
 * cannot tell this one. What still holds then, the ledger or the service says again.
 */
import type { Clock } from '../core/clock.js';
import type { RunHalt } from '../stores/run-store.js';

/** The run looks three times a second, and parks for half a minute at least. */
const REMEMBERED_MS = 10_000;

export class Halts {
  readonly #clock: Clock;
  readonly #halts = new Map<string, { readonly halt: RunHalt; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(run: string): RunHalt | undefined {
    const known = this.#halts.get(run);
    if (known === undefined || this.#clock.monotonic() < known.until) return known?.halt;
    this.#halts.delete(run);
    return undefined;
  }

  set(run: string, halt: RunHalt): void {
    this.#halts.set(run, { halt, until: this.#clock.monotonic() + REMEMBERED_MS });
  }

  /** The run may be asked for again. */
  forget(run: string): void {
    this.#halts.delete(run);
  }
}
