/**
 * Reports each run's progress, also within a chunk, which can take minutes. A report is the sum so
 * far under a name of its own: repeated it counts once, and a failed one is part of the next.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import type { RunStore } from '../engine/run-calls.js';
import { NO_TALLY, type Tally } from '../engine/stores/run-store.js';
import type { Asked } from './asked.js';
import { createRecentRuns } from './recent-runs.js';

const REPORT_EVERY_MS = 1_000;

export type RunTallies = ReturnType<typeof createRunTallies>;
export type RunTally = ReturnType<typeof createTally>;

/** Keeps a sum for each recent run; a forgotten run gets one with a new name. */
export function createRunTallies(runs: Pick<RunStore, 'addTally'>, clock: Clock) {
  return createRecentRuns((run) => createTally(runs, run, clock));
}

function createTally(runs: Pick<RunStore, 'addTally'>, run: string, clock: Clock) {
  const part = randomBytes(8).toString('hex');
  const sum: Record<keyof Tally, number> = { ...NO_TALLY };
  let changes = 0;
  let reported = 0;
  let reportedAt = clock.monotonic();
  let reporting: Promise<void> = Promise.resolve();

  function add(name: keyof Tally, count: number): void {
    if (count === 0) return;
    sum[name] += count;
    changes += 1;
  }

  /** Reports what is not reported yet. Throws engine errors. */
  function flush(): Promise<void> {
    const flushed = reporting.then(async () => {
      const current = changes;
      if (current === reported) return;
      reportedAt = clock.monotonic();
      await runs.addTally(run, part, { ...sum });
      reported = current;
    });
    reporting = flushed.catch(() => undefined);
    return flushed;
  }

  return {
    add,
    flush,
    /**
     * Adds an identifier's result. Reports the first answer, by which other workers trust the
     * address, and when the last report is a second old. Never throws.
     */
    addAsked({ result: { type }, requests, billed }: Asked): void {
      const before = sum.matched + sum.notFound;
      add('requests', requests);
      add('billed', billed);
      if (type === 'matched') add('matched', 1);
      else if (type === 'not_found') add('notFound', 1);
      const isFirst = before === 0 && sum.matched + sum.notFound > 0;
      if (!isFirst && clock.monotonic() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = clock.monotonic();
      void flush().catch(() => undefined);
    },
  };
}
