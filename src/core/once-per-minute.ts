/** Log lines about what strangers can cause in any number. */
import type { Clock } from './clock.js';

const EVERY_MS = 60_000;

/**
 * The first event is written at once, then one a minute, with the number of those between in
 * `unlogged`; it is absent when there were none.
 */
export function oncePerMinute<Facts extends object>(
  clock: Pick<Clock, 'monotonic'>,
  write: (facts: Facts, others: { readonly unlogged?: number }) => void,
): (facts: Facts) => void {
  let writtenAt = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  return (facts) => {
    const now = clock.monotonic();
    if (now - writtenAt < EVERY_MS) {
      unlogged += 1;
      return;
    }
    write(facts, unlogged === 0 ? {} : { unlogged });
    writtenAt = now;
    unlogged = 0;
  };
}
