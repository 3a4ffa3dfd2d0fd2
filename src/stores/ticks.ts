/**
 * Ticks: what a cron expression gives rise to, as jobs of a queue of their own. A clock makes the next tick when a worker takes
 * the current one, so ticks that were missed are not made up: the one that was due is late. What a tick is for is its taker's.
 */
import type { Job, Queue, Worker } from 'bullmq';

/** The payload of a tick: names only, what they stand for lies with whoever set the clock. */
export interface TickData {
  /** Of the clock. */
  readonly name: string;
  /** What the clock was set for; one that is set anew under the same name has another. */
  readonly id: string;
  /** When its work was begun (milliseconds since 1970); absent: nobody has begun. */
  readonly begunAt?: number;
}

export type TickJob = Job<TickData, void, 'tick'>;
export type TickQueue = Queue<TickData, void, 'tick'>;
export type TickWorker = Worker<TickData, void, 'tick'>;
/** Three parameters, so that BullMQ hands over the signal that a lost lock aborts. */
export type TickProcessor = (job: TickJob, token?: string, signal?: AbortSignal) => Promise<void>;

interface Clockwork {
  readonly name: string;
  /** When its next tick is due, milliseconds since 1970; in the past when nobody took it yet. */
  readonly nextAt: number | null;
}

/** Clocks by queue and name. */
export interface TickStore {
  list(queue: string): Promise<Clockwork[]>;
  /** Sets a clock, in place of an earlier one. `cron` and `tz` as `cron-parser` reads them. */
  set(queue: string, cron: string, tz: string, data: TickData): Promise<void>;
  /** Takes a clock away with the tick that is due next. False when there is none. */
  remove(queue: string, name: string): Promise<boolean>;
  /** One tick at once, beside the clock. */
  addNow(queue: string, data: TickData): Promise<void>;
}

/** When a tick was due, milliseconds since 1970; null for one that was added by hand. */
export function dueAtOf(job: Pick<TickJob, 'opts'>): number | null {
  return job.opts.prevMillis ?? null;
}
