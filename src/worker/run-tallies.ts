/**
 * Reports to each run how far this worker is with it, also within a chunk: a slow service answers a chunk in minutes, and people
 * look at the progress every second. A report is the sum so far, under a name of its own: made twice, because an answer of the
 * engine was lost, it counts once, and one that failed is part of the next.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import { NO_TALLY, type RunStore, type Tally } from '../stores/run-store.js';
import type { Asked } from './ask.js';

const REPORT_EVERY_MS = 1_000;
/** A worker that stays forgets the oldest beyond these; should such a run go on, its sum begins anew under another name. */
const RUNS_AT_MOST = 200;

/** One for each worker. */
export class RunTallies {
  readonly #runs: Pick<RunStore, 'addTally'>;
  readonly #clock: Clock;
  readonly #tallies = new Map<string, RunTally>();

  constructor(runs: Pick<RunStore, 'addTally'>, clock: Clock) {
    this.#runs = runs;
    this.#clock = clock;
  }

  of(run: string): RunTally {
    const tally = this.#tallies.get(run) ?? new RunTally(this.#runs, run, this.#clock);
    this.#tallies.delete(run);
    this.#tallies.set(run, tally);
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size > RUNS_AT_MOST && oldest !== undefined) this.#tallies.delete(oldest);
    return tally;
  }
}

export class RunTally {
  readonly #runs: Pick<RunStore, 'addTally'>;
  readonly #run: string;
  readonly #clock: Clock;
  readonly #part = randomBytes(8).toString('hex');
  #sum: Tally = NO_TALLY;
  #reported: Tally = NO_TALLY;
  #reportedAt: number;
  #reporting: Promise<void> = Promise.resolve();

  constructor(runs: Pick<RunStore, 'addTally'>, run: string, clock: Clock) {
    this.#runs = runs;
    this.#run = run;
    this.#clock = clock;
    this.#reportedAt = clock.monotonic();
  }

  add(counts: Partial<Tally>): void {
    const next = { ...this.#sum };
    for (const [name, count] of Object.entries(counts)) next[name as keyof Tally] += count;
    if (Object.values(counts).some((count) => count > 0)) this.#sum = next;
  }

  /** Adds what became of one identifier, and reports when the last report is a second old. Never throws. */
  addAsked({ result: { type }, requests, billed }: Asked): void {
    this.add({
      requests,
      billed,
      matched: type === 'matched' ? 1 : 0,
      notFound: type === 'not_found' ? 1 : 0,
    });
    if (this.#clock.monotonic() - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#reportedAt = this.#clock.monotonic();
    void this.flush().catch(() => undefined);
  }

  /** Reports what is left to report. Throws engine trouble. */
  flush(): Promise<void> {
    const flushed = this.#reporting.then(() => this.#report());
    this.#reporting = flushed.catch(() => undefined);
    return flushed;
  }

  async #report(): Promise<void> {
    const sum = this.#sum;
    if (sum === this.#reported) return;
    this.#reportedAt = this.#clock.monotonic();
    await this.#runs.addTally(this.#run, this.#part, sum);
    this.#reported = sum;
  }
}
