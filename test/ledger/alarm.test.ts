import { describe, expect, test } from 'vitest';
import { createAlarm } from '../../src/ledger/timing.js';
import { createHandClock } from '../model/hand-clock.js';
import { deferred } from '../support/deferred.js';

function createRinging() {
  const clock = createHandClock();
  const start = clock.now();
  const rungAt: number[] = [];
  const alarm = createAlarm(clock, () => rungAt.push(clock.now() - start));
  return { clock, alarm, rungAt };
}

describe('an alarm', () => {
  test('fires once, when its time has come', async () => {
    const { clock, alarm, rungAt } = createRinging();
    alarm.ringWithin(100);
    await clock.advance(99);
    expect(rungAt).toEqual([]);
    await clock.advance(1_000);
    expect(rungAt).toEqual([100]);
  });

  test.each([
    [100, 50],
    [50, 100],
    [50, 50],
    [0, 50],
  ])('set to %d and %d ms fires at the earlier time', async (first, second) => {
    const { clock, alarm, rungAt } = createRinging();
    alarm.ringWithin(first);
    alarm.ringWithin(second);
    await clock.advance(1_000);
    expect([rungAt, clock.dueInMs]).toEqual([[Math.min(first, second)], []]);
  });

  test('set to now fires after this turn of the event loop, not within it', async () => {
    const { clock, alarm, rungAt } = createRinging();
    alarm.ringWithin(50);
    alarm.ringWithin(0);
    await Promise.resolve();
    expect(rungAt).toEqual([]);
    await clock.rest();
    expect([rungAt, clock.dueInMs]).toEqual([[0], []]);
  });

  test.each([0, 50])('does not fire once cleared: %d ms', async (ms) => {
    const { clock, alarm, rungAt } = createRinging();
    alarm.ringWithin(ms);
    alarm.clear();
    await clock.advance(1_000);
    expect([rungAt, clock.dueInMs]).toEqual([[], []]);
  });

  test('can be set again while it fires', async () => {
    const clock = createHandClock();
    let rung = 0;
    const alarm = createAlarm(clock, () => {
      rung += 1;
      if (rung < 3) alarm.ringWithin(10);
    });
    alarm.ringWithin(10);
    await clock.advance(29);
    expect(rung).toBe(2);
    await clock.advance(1_000);
    expect(rung).toBe(3);
  });

  test('cleared when its wait is over does not fire, and keeps the next setting', async () => {
    let woken = deferred();
    const sleep = () => {
      woken = deferred();
      return woken.promise;
    };
    const rung: string[] = [];
    const alarm = createAlarm({ now: () => 0, monotonic: () => 0, sleep }, () => rung.push('rung'));
    alarm.ringWithin(100);
    woken.resolve();
    alarm.clear();
    alarm.ringWithin(50);
    await new Promise(setImmediate);
    expect(rung).toEqual([]);
    woken.resolve();
    await new Promise(setImmediate);
    expect(rung).toEqual(['rung']);
  });
});
