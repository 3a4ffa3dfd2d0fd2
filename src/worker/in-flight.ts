/** Requests under way in this process, of all workers: who ends it must say the possible cost. */
const counts = new Set<() => number>();

/** Counts those of one more worker, until what is returned is called. */
export function countInFlight(count: () => number): () => void {
  counts.add(count);
  return () => counts.delete(count);
}

/** The requests in flight when a process quits now, in one sentence; empty for none. */
export function inFlightWarning(): string {
  let requests = 0;
  for (const count of counts) requests += count();
  if (requests === 0) return '';
  const many = requests === 1 ? '1 request was' : `${requests} requests were`;
  return `quit at once: ${many} in flight and may have been billed; they count as spent`;
}
