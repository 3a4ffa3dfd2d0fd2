/** Rate limit for guessing the password. */
import { expect, it } from 'vitest';
import { createGuessLimit, waitAfter } from '../../../src/daemon/dashboard/gate.js';

it('doubles the wait for each wrong guess beyond the fifth, up to a minute', () => {
  const waits = [0, 1, 4, 5, 6, 7, 10, 11, 12, 1_000].map(waitAfter);
  expect(waits).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
});

function wrong(limit: ReturnType<typeof createGuessLimit>, address: string, times: number, now = 0) {
  for (let time = 0; time < times; time += 1) limit.noteWrong(address, now);
}

it('counts the wait from the last guess, and ends it', () => {
  const limit = createGuessLimit();
  wrong(limit, '10.0.0.1', 7);
  expect(limit.waitMs('10.0.0.1', 1_500)).toBe(2_500);
  expect(limit.waitMs('10.0.0.1', 4_000)).toBe(0);
});

it('keeps addresses apart, and ends the wait after the right password', () => {
  const limit = createGuessLimit();
  wrong(limit, '10.0.0.1', 9);
  expect(limit.waitMs('10.0.0.2', 0)).toBe(0);
  limit.noteRight('10.0.0.1');
  expect(limit.waitMs('10.0.0.1', 0)).toBe(0);
});

it('forgets an address after a quarter of an hour', () => {
  const limit = createGuessLimit();
  wrong(limit, '10.0.0.1', 20);
  limit.waitMs('10.0.0.1', 15 * 60_000 + 1);
  limit.noteWrong('10.0.0.1', 15 * 60_000 + 1);
  expect(limit.waitMs('10.0.0.1', 15 * 60_000 + 1)).toBe(0);
});

it.each([
  ['2001:db8:1:2::7', '2001:db8:1:2:ffff::1', true],
  ['2001:db8::1', '2001:db8:0:0:1::', true],
  ['2001:db8:1:2::7', '2001:db8:1:3::7', false],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
])('%s and %s count as one client: %s', (one, other, isSame) => {
  const limit = createGuessLimit();
  wrong(limit, one, 8);
  expect(limit.waitMs(other, 0) > 0).toBe(isSame);
});

it('remembers a bounded number of addresses', () => {
  const limit = createGuessLimit();
  wrong(limit, '10.0.0.1', 8);
  for (let host = 0; host < 1_000; host += 1) limit.noteWrong(`10.1.${host >> 8}.${host & 255}`, 1);
  expect(limit.waitMs('10.0.0.1', 1)).toBe(0);
});
