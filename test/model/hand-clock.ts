/** A clock that stands until a test turns it; each sleeper finishes before the next one wakes. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { Clock } from '../../src/core/clock.js';

/** 2030-01-15, 12:00 UTC: far from every turn of month, day and hour. */
const HAND_CLOCK_START = Date.UTC(2030, 0, 15, 12);

/** What one event in this process leads to is over after so many turns of the event loop. */
const TURNS = 12;

export interface HandClock extends Clock {
  /** Passes `ms` and wakes due sleepers one by one. Resolves when no work is pending. */
  advance(ms: number): Promise<void>;
  /** The same, but nothing wakes before all of it has passed: a process that stalled. */
  leap(ms: number): Promise<void>;
  /** Sets the wall clock by this much; no time passes. */
  set(ms: number): void;
  /** Runs all pending work that needs no time. */
  rest(): Promise<void>;
  /** When current sleeps are due, earliest first, in milliseconds from now. */
  readonly dueInMs: readonly number[];
}

interface Sleeper {
  readonly at: number;
  wake(): void;
}

export function createHandClock(start = HAND_CLOCK_START): HandClock {
  let now = start;
  let wall = 0;
  const sleepers = new Set<Sleeper>();

  async function rest(): Promise<void> {
    for (let turn = 0; turn < TURNS; turn += 1) await turnOfLoop();
  }

  function nextDue(): Sleeper | undefined {
    let next: Sleeper | undefined;
    for (const sleeper of sleepers) if (next === undefined || sleeper.at < next.at) next = sleeper;
    return next;
  }

  async function wakeUntil(end: number): Promise<void> {
    for (let next = nextDue(); next && next.at <= end; next = nextDue()) {
      now = Math.max(now, next.at);
      sleepers.delete(next);
      next.wake();
      await rest();
    }
  }

  return {
    now: () => now + wall,
    monotonic: () => now,
    set(ms) {
      wall += ms;
    },
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(signal.reason);
          return;
        }
        const onAbort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const sleeper: Sleeper = {
          at: now + Math.max(0, ms),
          wake() {
            signal?.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
      });
    },
    async advance(ms) {
      await rest();
      const end = now + ms;
      await wakeUntil(end);
      now = end;
    },
    async leap(ms) {
      await rest();
      now += ms;
      await wakeUntil(now);
    },
    rest,
    get dueInMs() {
      return [...sleepers].map(({ at }) => at - now).sort((one, other) => one - other);
    },
  };
}
