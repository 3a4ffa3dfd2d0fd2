/** Stops a worker within a deadline, without losing paid answers. */
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import type { ChunkContext } from './resolve-chunk.js';

/** A chunk whose requests have ended finishes within this time if the engine answers. */
const IDLE_MS = 2_000;
const LOOK_MS = 100;
/** Past a deadline by this much, the process stood still, and gets some time back. */
const LATE_MS = 1_000;
const GIVEN_BACK_MS = 5_000;

/** Ends the work, in this order; `abort` only if the deadline comes first. */
interface WorkEnds {
  readonly stop: () => void;
  readonly closed: () => Promise<unknown>;
  readonly abort: () => void;
}

/** Ends the work, then records and settles what has arrived, soon after the deadline. */
export async function endWorker(context: ChunkContext, log: Log, deadlineMs: number, work: WorkEnds) {
  const { worker, engine, governor, gauge, clock } = context;
  const endsAt = clock.monotonic() + deadlineMs;
  const left = () => Math.max(0, endsAt - clock.monotonic());
  work.stop();
  const closed = work.closed();
  if (!(await closesInTime(closed, left(), context))) {
    work.abort();
    // Answers that arrived while the process stood still are stored and settled first.
    const stoodStill = clock.monotonic() - endsAt > LATE_MS;
    const givenBackMs = stoodStill ? Math.min(deadlineMs, GIVEN_BACK_MS) : 0;
    // Without requests in flight, nothing more can end.
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

/** Returns false at the deadline, or when the queue waits for the engine. */
async function closesInTime(closed: Promise<unknown>, withinMs: number, { gauge, clock }: ChunkContext) {
  const watching = new AbortController();
  const idle = async (): Promise<boolean> => {
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

/** Requests in flight of each worker of this process, whose cost its last message must name. */
const counts = new Map<number, () => number>();
let next = 0;

/** Counts requests of one more worker, until the returned function is called. */
export function countInFlight(count: () => number): () => void {
  const key = next;
  next += 1;
  counts.set(key, count);
  return () => counts.delete(key);
}

/** Returns a mark, from which on {@link unansweredRequests} counts. */
export const requestsMark = (): number => next;

/** Returns the requests since `mark` whose answers are lost if this process ends now. */
export function unansweredRequests(mark: number): number {
  return [...counts].reduce((sum, [key, count]) => (key < mark ? sum : sum + count()), 0);
}

/** Says what a process leaves open if it ends without the answers to this many requests. */
export function unansweredText(requests: number): string {
  const many = requests === 1 ? '1 request was' : `${requests} requests were`;
  return `${many} in flight and may have been billed; they count as spent, and they may be sent again`;
}
