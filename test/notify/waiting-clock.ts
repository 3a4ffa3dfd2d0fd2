/** A clock on which a test ends every sleep. The short waits within one webhook do not count. */
export function createWaitingClock(start: number) {
  let now = start;
  const waits: number[] = [];
  const sleepers = new Set<() => void>();
  const watchers = new Set<() => void>();
  return {
    now: () => now,
    monotonic: () => now,
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
      if (ms < 5_000 || signal?.aborted) return Promise.resolve();
      waits.push(ms);
      for (const look of watchers) look();
      return new Promise((resolve) => {
        sleepers.add(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    },
    waits,
    /** Resolves when `count` sleeps have begun in all. */
    untilSlept: (count: number) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (waits.length >= count) resolve();
        };
        watchers.add(look);
        look();
      }),
    wake() {
      for (const resolve of sleepers) resolve();
      sleepers.clear();
    },
    advance(ms: number) {
      now += ms;
    },
  };
}
