/**
 * Merging sorted runs into one order with a heap of readers: smallest group, then largest score, then smallest
 * sequence. What becomes of the entries is up to who takes them.
 */
import { RunReader, type StoredRun } from './sort-run.js';

/** Takes the current entry of a reader and says true, or false to be asked again after a pause. It may not keep the entry. */
export type TakeEntry = (entry: RunReader) => boolean;

/** Whether `a` comes before `b`. */
function isBefore(a: RunReader, b: RunReader): boolean {
  if (a.group !== b.group) return a.group < b.group;
  if (a.score !== b.score) return a.score > b.score;
  return a.sequence < b.sequence;
}

/**
 * Gives the entries of all runs to `take`, in order, and pauses with a `yield` each time it refuses one: so the caller
 * works in batches, since an `await` per line would cost more than its merge.
 * @param readBytes size of each run's read buffer.
 */
export async function* mergeRuns(
  runs: readonly StoredRun[],
  readBytes: number,
  take: TakeEntry,
): AsyncGenerator<void> {
  const heap: RunReader[] = [];
  for (const run of runs) {
    const reader = new RunReader(run, readBytes);
    if (await reader.refill()) heap.push(reader);
  }
  for (let at = (heap.length >> 1) - 1; at >= 0; at--) siftDown(heap, at);
  for (let top = heap[0]; top; top = heap[0]) {
    while (!take(top)) yield;
    if (!top.advance() && !(await top.refill())) {
      const last = heap.pop();
      if (last && last !== top) heap[0] = last;
    }
    siftDown(heap, 0);
  }
}

function siftDown(heap: RunReader[], from: number): void {
  const moved = heap[from];
  if (!moved) return;
  let at = from;
  for (;;) {
    let child = 2 * at + 1;
    let first = heap[child];
    if (!first) break;
    const second = heap[child + 1];
    if (second && isBefore(second, first)) {
      first = second;
      child++;
    }
    if (!isBefore(first, moved)) break;
    heap[at] = first;
    at = child;
  }
  heap[at] = moved;
}
