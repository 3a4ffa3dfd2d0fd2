/** Beyond these, a long-lived worker forgets its oldest run. */
const RUNS_AT_MOST = 1_000;

/** Keeps a value for each of a worker's latest runs; `make` begins it. */
export function createRecentRuns<T>(make: (run: string) => T) {
  const runs = new Map<string, T>();
  return {
    of(run: string): T {
      const value = runs.get(run) ?? make(run);
      runs.delete(run);
      runs.set(run, value);
      const [oldest] = runs.keys();
      if (runs.size > RUNS_AT_MOST && oldest !== undefined) runs.delete(oldest);
      return value;
    },
    forget: (run: string) => void runs.delete(run),
  };
}
