/** Slots of the pace: assigned in the store's time, waited for on this process's clock. */
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.js';
import { createSlots } from '../../src/ledger/timing.js';
import { createHandClock, type HandClock } from '../model/hand-clock.js';

const PACE = { version: 1, rate: 100, burst: 1, floorMs: 0, acceptedLastSecond: 0, acceptedThisSecond: 0 };
const ON = new AbortController().signal;

/** When the slots were passed, in milliseconds from now; null for a missed one. */
function awaiting(clock: HandClock, slots = createSlots(clock)) {
  const start = clock.monotonic();
  const passed: (number | null)[] = [];
  /** The slot in `waitMs`, from an answer that took `wayMs` to arrive. */
  const wait = (waitMs: number, wayMs = 0) =>
    void Promise.resolve(slots.await(waitMs, { now: clock.now() - wayMs, pace: PACE }, ON)).then((isInTime) =>
      passed.push(isInTime ? clock.monotonic() - start : null),
    );
  return { passed, wait };
}

it('are as even as the store assigned them, however unevenly its answers arrive', async () => {
  const clock = createHandClock();
  const { passed, wait } = awaiting(clock);
  wait(100, 2);
  // Assigned 8 ms later than the first, for a slot 10 ms later, and 9 ms in transit.
  await clock.advance(15);
  wait(102, 9);
  for (let ms = 15; ms < 130; ms += 1) await clock.advance(1);
  expect(passed).toEqual([100, 110]);
});

it('are not taken when a timer fires too early', async () => {
  const clock = createHandClock();
  const slept: number[] = [];
  const hasty: Clock = {
    now: clock.now,
    monotonic: clock.monotonic,
    sleep: (ms, signal) => {
      slept.push(ms);
      return clock.sleep(slept.length === 1 ? ms - 4 : ms, signal);
    },
  };
  const { passed, wait } = awaiting(clock, createSlots(hasty));
  wait(50);
  for (let ms = 0; ms < 60; ms += 1) await clock.advance(1);
  expect([passed, slept]).toEqual([[50], [50, 4]]);
});

it('are missed when the process stalled for longer than a slot, and never without a rate', async () => {
  const clock = createHandClock();
  const slots = createSlots(clock);
  const { passed, wait } = awaiting(clock, slots);
  wait(50);
  const unpaced = slots.await(50, { now: clock.now(), pace: { ...PACE, rate: null } }, ON);
  await clock.leap(70);
  await clock.rest();
  expect(passed).toEqual([null]);
  expect(await unpaced).toBe(true);
});

it.each([-3 * 86_400_000, -3_600_000, 3_600_000])('are kept, the clock set by %i ms', async (setMs) => {
  const clock = createHandClock();
  const { passed, wait } = awaiting(clock, createSlots(clock));
  wait(50);
  clock.set(setMs);
  await clock.advance(60);
  expect(passed).toEqual([50]);
});

it('that are due need no timer, however long the answer took', async () => {
  const slots = createSlots(systemClock);
  expect(await slots.await(0, { now: systemClock.now() - 500, pace: PACE }, ON)).toBe(true);
});
