/** How a worker stops: within a deadline, and so that nothing paid is lost. */
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { ChunkContext } from './resolve-chunk.js';

/** A chunk whose requests have ended finishes within this time, or the engine does not answer. */
const IDLE_MS = 2_000;
const LOOK_MS = 100;
/** A deadline that rings later: the process stood still, and gets some of the time back. */
const LATE_MS = 1_000;
const GIVEN_BACK_MS = 5_000;

/** What ends the work, in this order; `abort` only what the deadline overtakes. */
interface WorkEnds {
  readonly stop: () => void;
  readonly closed: () => Promise<unknown>;
  readonly abort: () => void;
}

/** Ends the work, then records and settles what has arrived: little later than the deadline. */
export async function endWorker(context: ChunkContext, log: Log, deadlineMs: number, work: WorkEnds) {
  const { worker, engine, governor, gauge, clock } = context;
  const endsAt = clock.monotonic() + deadlineMs;
  const left = () => Math.max(0, endsAt - clock.monotonic());
  work.stop();
  const closed = work.closed();
  if (!(await closesInTime(closed, left(), context))) {
    work.abort();
    // What arrived while the process stood still is stored and settled first.
    const stoodStill = clock.monotonic() - endsAt > LATE_MS;
    const givenBackMs = stoodStill ? Math.min(deadlineMs, GIVEN_BACK_MS) : 0;
    // Without requests under way there is nothing that could still end.
    if (stoodStill || gauge.inFlight > 0) await withinDeadline(closed, Math.max(givenBackMs, 1_000));
  }
  await withinDeadline(governor.recorded(), Math.max(left(), 1_000));
  await governor.close(Math.max(Math.min(left(), 5_000), 500));
  const cutOff = gauge.cutOff + gauge.inFlight;
  if (cutOff > 0) {
    countInFlight(() => cutOff);
    log.warn({ requests: cutOff }, unansweredText(cutOff));
  }
  await withinDeadline(engine.outcomes.deregister(worker), 1_000).catch(() => undefined);
}

/** False at the deadline, or when the queue waits for the engine. */
async function closesInTime(closed: Promise<unknown>, withinMs: number, { gauge, clock }: ChunkContext) {
  const watching = new AbortController();
  const idle = async (): Promise<boolean> => {
    // No request was under way for a while.
    for (let idleMs = 0; idleMs < IDLE_MS; idleMs = gauge.inFlight > 0 ? 0 : idleMs + LOOK_MS) {
      await clock.sleep(LOOK_MS, watching.signal).catch(() => undefined);
      if (watching.signal.aborted) break;
    }
    return false;
  };
  const first = Promise.race([closed.then(() => true), idle()]);
  const isClosed = await withinDeadline(first, withinMs);
  watching.abort(new Error('closed'));
  return isClosed === true;
}

/** Requests under way, of each worker of this process: what ends it must name their cost. */
const counts = new Map<number, () => number>();
let next = 0;

/** Counts those of one more worker, until the result is called. */
export function countInFlight(count: () => number): () => void {
  const key = next;
  next += 1;
  counts.set(key, count);
  return () => counts.delete(key);
}

/** Returns the moment from which on `unansweredRequests` counts. */
export const requestsMark = (): number => next;

/** Returns the requests since then whose answers are lost if this process ends now. */
export function unansweredRequests(mark: number): number {
  return [...counts].reduce((sum, [key, count]) => (key < mark ? sum : sum + count()), 0);
}

/** What it means that a process ends without the answers to so many requests. */
export function unansweredText(requests: number): string {
  const many = requests === 1 ? '1 request was' : `${requests} requests were`;
  return `${many} in flight and may have been billed; they count as spent, and they may be sent again`;
}
