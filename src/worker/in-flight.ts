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
