/**
 * Tells each run how far this worker is with it, also within a chunk: a slow service answers a chunk in minutes, and people
 * look at the progress every second. What is told is the sum so far, under a name of its own: told twice, because an
 * answer of the engine was lost, it counts once, and what could not be told goes with the next report.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { NO_TALLY, type RunStore, type Tally } from '../stores/run-store.js';
import type { Asked } from './ask.js';

export interface RunTally {
  add(counts: Partial<Tally>): void;
  /** Adds what became of one identifier, and reports when the last report is a second old. Never throws. */
  addAsked(asked: Asked): void;
  /** Reports what is left to report. Throws engine trouble. */
  flush(): Promise<void>;
}

export interface RunTallies {
  of(run: string): RunTally;
}

const REPORT_EVERY_MS = 1_000;
/** A worker that stays forgets the oldest beyond these; should such a run go on, its sum begins anew under another name. */
const RUNS_AT_MOST = 200;

/** One for each worker. */
export function createRunTallies(runs: Pick<RunStore, 'addTally'>, clock: Clock): RunTallies {
  const tallies = new Map<string, RunTally>();
  return {
    of(run) {
      const tally = tallies.get(run) ?? createRunTally(runs, run, clock);
      tallies.delete(run);
      tallies.set(run, tally);
      const [oldest] = tallies.keys();
      if (tallies.size > RUNS_AT_MOST && oldest !== undefined) tallies.delete(oldest);
      return tally;
    },
  };
}

function createRunTally(runs: Pick<RunStore, 'addTally'>, run: string, clock: Clock): RunTally {
  const part = randomBytes(8).toString('hex');
  let sum: Tally = NO_TALLY;
  let told: Tally = NO_TALLY;
  let reportedAt = clock.monotonic();
  let reporting: Promise<void> = Promise.resolve();

  function add(counts: Partial<Tally>): void {
    const next = { ...sum };
    let isMore = false;
    for (const [name, count] of Object.entries(counts)) {
      next[name as keyof Tally] += count;
      isMore ||= count > 0;
    }
    if (isMore) sum = next;
  }

  async function report(): Promise<void> {
    const telling = sum;
    if (telling === told) return;
    reportedAt = clock.monotonic();
    await runs.addTally(run, part, telling);
    told = telling;
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
      if (clock.monotonic() - reportedAt < REPORT_EVERY_MS) return;
      reportedAt = clock.monotonic();
      reporting = reporting.then(report).catch(() => undefined);
    },
    flush() {
      const flushed = reporting.then(report);
      reporting = flushed.catch(() => undefined);
      return flushed;
    },
  };
}
