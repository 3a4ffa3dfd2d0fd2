/** Requests under way, of each worker of this process: who ends it must say the possible cost. */
const counts: (() => number)[] = [];

/** Counts those of one more worker, until what is returned is called. */
export function countInFlight(count: () => number): () => void {
  const at = counts.push(count) - 1;
  return () => {
    counts[at] = () => 0;
  };
}

/** Adds requests that a worker cut off at its stop. */
export function addCutOff(requests: number): void {
  if (requests > 0) counts.push(() => requests);
}

/** A moment from which on `unansweredRequests` counts. */
export function requestsMark(): number {
  return counts.length;
}

/**
 * The requests whose answers this process does not have if it ends now, of workers after `mark`: a
 * process of tests runs several commands.
 */
export function unansweredRequests(mark: number): number {
  return counts.slice(mark).reduce((sum, count) => sum + count(), 0);
}

/** What it means that a process ends without the answers to so many requests. */
export function unansweredText(requests: number): string {
  const many = requests === 1 ? '1 request was' : `${requests} requests were`;
  return `${many} in flight and may have been billed; they count as spent, and they may be sent again`;
}
