/** Requests under way in this process, of all workers: who ends it must say the possible cost. */
const counts = new Set<() => number>();
let cutOff = 0;

/** Counts those of one more worker, until what is returned is called. */
export function countInFlight(count: () => number): () => void {
  counts.add(count);
  return () => counts.delete(count);
}

/** Adds requests that a worker cut off at its stop. */
export function addCutOff(requests: number): void {
  cutOff += requests;
}

/** The requests whose answers this process does not have if it ends now. */
export function unansweredRequests(): number {
  let requests = cutOff;
  for (const count of counts) requests += count();
  return requests;
}

/** What it means that a process ends without the answers to so many requests. */
export function unansweredText(requests: number): string {
  const many = requests === 1 ? '1 request was' : `${requests} requests were`;
  return `${many} in flight and may have been billed; they count as spent, and they may be sent again`;
}
