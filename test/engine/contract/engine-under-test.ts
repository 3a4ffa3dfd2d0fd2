/**
 * What a contract suite needs to run against one engine: a way to open it on an empty store, with the store's
 * clock moved by as much as the test says. Which server or folder lies below is the caller's.
 */
import type { Clock } from '../../../src/core/clock.js';
import type { Engine } from '../../../src/engine/engine.js';

export interface EngineUnderTest {
  readonly engine: Engine;
  /** Lets go of everything that `open` acquired, the engine included. */
  close(): Promise<void>;
}

interface EngineUnderTestOptions {
  /** Added to the store's own clock by every operation; read anew for each one. Milliseconds, a whole number. */
  readonly clockOffsetMs: () => number;
  /** What the daily purge waits with; absent: this machine's clock. */
  readonly upkeepClock?: Clock;
}

/** Opens an engine on a store that holds nothing. Each suite opens one and keeps to names of its own. */
export type OpenEngineUnderTest = (options: EngineUnderTestOptions) => Promise<EngineUnderTest>;

/** The store's time, turned by hand and only forward. */
export interface TurnedClock {
  readonly offsetMs: () => number;
  advance(ms: number): void;
}

export function createTurnedClock(): TurnedClock {
  let offsetMs = 0;
  return {
    offsetMs: () => offsetMs,
    advance(ms) {
      offsetMs += ms;
    },
  };
}
