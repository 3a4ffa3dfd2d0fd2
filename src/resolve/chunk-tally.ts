/**
 * Tells the run how far a chunk is while it is worked on: a slow service answers a chunk in minutes, and people look
 * at the progress every second.
 */
import type { Clock } from '../clock.js';
import type { RunStore, Tally } from '../runs/run-store.js';
import type { Asked } from './ask.js';

export interface ChunkTally {
  add(counts: Partial<Tally>): void;
  /** Adds what became of one identifier, and reports when the last report is a second old. Never throws. */
  addAsked(asked: Asked): void;
  /** Reports what is left to report. Throws engine trouble. */
  flush(): Promise<void>;
}

const REPORT_EVERY_MS = 1_000;
const NOTHING: Tally = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

export function createChunkTally(runs: Pick<RunStore, 'addTally'>, run: string, clock: Clock): ChunkTally {
  let tally: Tally = NOTHING;
  let reportedAt = clock.now();
  let reporting: Promise<void> = Promise.resolve();

  function add(counts: Partial<Tally>): void {
    const sum = { ...tally };
    for (const [name, count] of Object.entries(counts)) sum[name as keyof Tally] += count;
    tally = sum;
  }

  async function report(): Promise<void> {
    const counts = tally;
    if (Object.values(counts).every((count) => count === 0)) return;
    tally = NOTHING;
    reportedAt = clock.now();
    try {
      await runs.addTally(run, counts);
    } catch (error) {
      add(counts);
      throw error;
    }
  }

  return {
    add,
    addAsked({ result, requests, billed }) {
      add({
        requests,
        billed,
        matched: result.type === 'matched' ? 1 : 0,
        notFound: result.type === 'not_found' ? 1 : 0,
      });
      if (clock.now() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = clock.now();
      // What could not be reported is added again and goes with the next report.
      reporting = reporting.then(report).catch(() => undefined);
    },
    async flush() {
      await reporting;
      await report();
    },
  };
}
