/**
 * Runs that this process must not ask for any more. A halt is remembered for as long as the run's
 * own process needs to take its chunks back; a chunk that comes later is of a run that was allowed
 * to go on (`--on-limit wait`), by a process that cannot notify this one. What still holds then,
 * the ledger or the service says again.
 */
import type { Clock } from '../core/clock.js';
import type { RunHalt } from '../stores/run-reasons.js';

/** The run looks three times a second, and parks for half a minute at least. */
const REMEMBERED_MS = 10_000;

export type Halts = ReturnType<typeof createHalts>;

export function createHalts(clock: Clock) {
  const halts = new Map<string, { readonly halt: RunHalt; readonly until: number }>();
  return {
    get(run: string): RunHalt | undefined {
      const known = halts.get(run);
      if (known === undefined || clock.monotonic() < known.until) return known?.halt;
      halts.delete(run);
      return undefined;
    },
    set: (run: string, halt: RunHalt) =>
      void halts.set(run, { halt, until: clock.monotonic() + REMEMBERED_MS }),
    forget: (run: string) => void halts.delete(run),
  };
}
