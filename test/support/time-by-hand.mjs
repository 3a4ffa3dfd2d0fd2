/**
 * Lets time pass faster for a command, by hand: its waits end, its durations grow. Dates, timers
 * and the engine's time stay. In a process that preloads this file, SIGUSR2 passes a second.
 */
import { systemClock } from '../../dist/src/core/clock.js';

const { monotonic, sleep } = systemClock;
let aheadMs = 0;
let passing = new AbortController();

const clockByHand = {
  monotonic: () => monotonic() + aheadMs,
  /** @type {typeof sleep} */
  async sleep(ms, signal) {
    const at = clockByHand.monotonic() + ms;
    let leftMs = ms;
    do {
      const { signal: passed } = passing;
      await sleep(leftMs, signal ? AbortSignal.any([signal, passed]) : passed).catch(() => undefined);
      signal?.throwIfAborted();
      leftMs = at - clockByHand.monotonic();
    } while (leftMs > 0);
  },
};

/** For the commands of this process, until the returned function is called. */
export function takeTime() {
  Object.assign(systemClock, clockByHand);
  return () => Object.assign(systemClock, { monotonic, sleep });
}

/** @param {number} ms */
export function passTime(ms) {
  aheadMs += ms;
  passing.abort();
  passing = new AbortController();
}

if (process.argv[1]?.endsWith('/cli.js')) {
  takeTime();
  process.on('SIGUSR2', () => passTime(1_000));
}
