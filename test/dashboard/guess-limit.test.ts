/** Rate limit for guessing the password. */
import { expect, it } from 'vitest';
import { createGuessLimit, type Guesser, userIn, waitAfter } from '../../src/dashboard/guess-limit.js';

const at = (address: string): Guesser => ({ type: 'address', address, user: null });
const browser = (id: string): Guesser => ({ type: 'browser', id });

it('doubles the wait for each wrong guess beyond the fifth, up to a minute', () => {
  const waits = [0, 1, 4, 5, 6, 7, 10, 11, 12, 1_000].map(waitAfter);
  expect(waits).toEqual([0, 0, 0, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
});

function wrong(limit: ReturnType<typeof createGuessLimit>, guesser: Guesser, times: number, now = 0) {
  for (let time = 0; time < times; time += 1) limit.noteWrong(guesser, now);
}

it('counts the wait from the last guess, and ends it', () => {
  const limit = createGuessLimit();
  wrong(limit, at('10.0.0.1'), 7);
  expect(limit.waitMs(at('10.0.0.1'), 1_500)).toBe(2_500);
  expect(limit.waitMs(at('10.0.0.1'), 4_000)).toBe(0);
});

it('keeps guessers apart: addresses from each other, and each browser from its address', () => {
  const limit = createGuessLimit();
  wrong(limit, at('10.0.0.1'), 9);
  wrong(limit, browser('theirs'), 9);
  expect(limit.waitMs(at('10.0.0.2'), 0)).toBe(0);
  expect(limit.waitMs(browser('ours'), 0)).toBe(0);
});

it('lets a browser start again after the right password, but not an address, which others share', () => {
  const limit = createGuessLimit();
  for (const guesser of [browser('ours'), at('10.0.0.1')]) {
    wrong(limit, guesser, 5);
    limit.noteRight(guesser, 1_000);
    limit.noteWrong(guesser, 1_000);
  }
  expect(limit.waitMs(browser('ours'), 1_000)).toBe(0);
  expect(limit.waitMs(at('10.0.0.1'), 1_000)).toBe(2_000);
});

it('forgets an address after a quarter of an hour', () => {
  const limit = createGuessLimit();
  wrong(limit, at('10.0.0.1'), 20);
  limit.waitMs(at('10.0.0.1'), 15 * 60_000 + 1);
  limit.noteWrong(at('10.0.0.1'), 15 * 60_000 + 1);
  expect(limit.waitMs(at('10.0.0.1'), 15 * 60_000 + 1)).toBe(0);
});

it.each([
  ['2001:db8:1:2::7', '2001:db8:1:2:ffff::1', true],
  ['2001:db8::1', '2001:db8:0:0:1::', true],
  ['2001:db8:1:2::7', '2001:db8:1:3::7', false],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
])('%s and %s count as one client: %s', (one, other, isSame) => {
  const limit = createGuessLimit();
  wrong(limit, at(one), 8);
  expect(limit.waitMs(at(other), 0) > 0).toBe(isSame);
});

it('remembers a bounded number of addresses', () => {
  const limit = createGuessLimit();
  wrong(limit, at('10.0.0.1'), 8);
  for (let host = 0; host < 1_000; host += 1) limit.noteWrong(at(`10.1.${host >> 8}.${host & 255}`), 1);
  expect(limit.waitMs(at('10.0.0.1'), 1)).toBe(0);
});

it('strangers push out nobody who signed in before', () => {
  const limit = createGuessLimit();
  limit.noteRight(at('10.0.0.1'), 0);
  wrong(limit, at('10.0.0.1'), 8);
  wrong(limit, browser('ours'), 8);
  for (let host = 0; host < 2_000; host += 1) limit.noteWrong(at(`10.1.${host >> 8}.${host & 255}`), 1);
  expect(limit.waitMs(at('10.0.0.1'), 1)).toBeGreaterThan(0);
  expect(limit.waitMs(browser('ours'), 1)).toBeGreaterThan(0);
});

it('users of this machine do not use up the guesses of each other', () => {
  const limit = createGuessLimit();
  const user = (number: number): Guesser => ({ type: 'address', address: '127.0.0.1', user: number });
  wrong(limit, user(1_001), 9);
  expect(limit.waitMs(user(1_000), 0)).toBe(0);
  // Whatever address of loopback they take.
  expect(limit.waitMs({ type: 'address', address: '127.0.0.2', user: 1_001 }, 0)).toBeGreaterThan(0);
});

it.each([
  ['an IPv4 socket', '0100007F:BA3C', 1_001],
  ['a socket of both kinds', '0200007F:BA3C', 1_002],
  ['an IPv6 socket', '00000000000000000000000001000000:BA3C', 1_003],
  ['an unknown end', '0100007F:0001', null],
])('finds the user of %s', (_, own, user) => {
  const row = (end: string, id: number) =>
    `  0: ${end} 0100007F:2253 01 00000000:00000000 00:00000000 00000000  ${id}        0 47 1 0 20`;
  const tables = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    row('0100007F:2253', 7),
    row('0100007F:BA3C', 1_001),
    row('0000000000000000FFFF00000200007F:BA3C', 1_002),
    row('00000000000000000000000001000000:BA3C', 1_003),
  ].join('\n');
  expect(userIn(tables, own, '0100007F:2253')).toBe(user);
  expect(userIn(tables, own, '0200007F:2253')).toBeNull();
});
