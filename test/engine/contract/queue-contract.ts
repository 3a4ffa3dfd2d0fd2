/**
 * What every engine's queue must do, told once and run against each engine.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EngineUnderTest, OpenEngineUnderTest } from './engine-under-test.js';
import { createTurnedClock } from './engine-under-test.js';

export function describeQueue(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: queue`, () => {
    const clock = createTurnedClock();
    let subject: EngineUnderTest;
    beforeAll(async () => {
      subject = await open({ clockOffsetMs: clock.offsetMs });
    });
    afterAll(() => subject.close());

    test('the engine tells what it is', () => {
      expect(['embedded', 'redis', 'postgres']).toContain(subject.engine.kind);
    });
  });
}
