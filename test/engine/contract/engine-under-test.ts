/** What a contract suite needs: an engine on an empty store whose clock the test moves. */
import { afterAll, beforeAll } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import type { Engine } from '../../../src/engine/engine.js';

export interface EngineUnderTest {
  readonly engine: Engine;
  /** Releases everything that `open` acquired, the engine included. */
  close(): Promise<void>;
}

interface EngineUnderTestOptions {
  /** Added to the store's clock, read for each operation. Milliseconds, a whole number. */
  readonly clockOffsetMs: () => number;
  /** The clock on which the daily purge waits; absent: that of this machine. */
  readonly upkeepClock?: Clock;
}

/** Opens an engine on an empty store. Each suite opens one and uses names of its own. */
export type OpenEngineUnderTest = (options: EngineUnderTestOptions) => Promise<EngineUnderTest>;

/** The store's time, moved by the test and only forward. */
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

/** The engine of a suite, open from its first test to its last, and its store's clock. */
export function engineOfSuite(open: OpenEngineUnderTest) {
  const clock = createTurnedClock();
  let subject: EngineUnderTest;
  beforeAll(async () => {
    subject = await open({ clockOffsetMs: clock.offsetMs });
  });
  afterAll(() => subject.close());
  return {
    clock,
    get engine() {
      return subject.engine;
    },
  };
}
