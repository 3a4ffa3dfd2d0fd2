import { describe, expect, it } from 'vitest';
import { createStoreTime } from '../../src/ledger/timing.js';
import { createHandClock, type HandClock } from '../model/hand-clock.js';

/** A store whose clock is `aheadMs` before ours. */
function begin(aheadMs: number): {
  clock: HandClock;
  time: ReturnType<typeof createStoreTime>;
  follow(wayMs: number): void;
} {
  const clock = createHandClock();
  const time = createStoreTime(clock);
  const follow = (wayMs: number) => time.follow(clock.now() + aheadMs - wayMs);
  return { clock, time, follow };
}

describe("the store's time", () => {
  it.each([0, 3_600_000, -3_600_000])('is that of the fastest answer, its clock %i ms ahead', (aheadMs) => {
    const { clock, time, follow } = begin(aheadMs);
    for (const wayMs of [20, 3, 40]) follow(wayMs);
    const inASecond = clock.now() + aheadMs + 1_000;
    expect(time.toLocal(inASecond)).toBe(clock.now() + 1_000 + 3);
  });

  it('forgets a fast answer after 10 to 20 seconds, since clocks drift apart', async () => {
    const { clock, time, follow } = begin(0);
    follow(1);
    await clock.advance(10_000);
    follow(9);
    expect(time.toLocal(0)).toBe(1);
    await clock.advance(10_000);
    follow(8);
    expect(time.toLocal(0)).toBe(8);
  });

  it('is derived anew when one of the clocks was set', async () => {
    const { clock, time, follow } = begin(0);
    follow(5);
    await clock.leap(3_600_000);
    time.follow(clock.now() - 3_600_000);
    expect(time.toLocal(0)).toBe(3_600_000);
    time.follow(clock.now());
    expect(time.toLocal(0)).toBe(0);
  });
});
