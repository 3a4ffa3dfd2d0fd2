/** Requests of a worker that have their permits. */
import { expect, it } from 'vitest';
import { Sending } from '../../src/worker/in-flight.js';

const NOT_ABORTED = new AbortController().signal;

it('so many are in flight at once, and the others follow in their order', async () => {
  const sending = new Sending(2);
  const left: string[] = [];
  const send = async (name: string) => {
    await sending.enter(NOT_ABORTED);
    left.push(name);
  };
  const all = ['a', 'b', 'c', 'd'].map(send);
  await Promise.all(all.slice(0, 2));
  expect([left.join(''), sending.inFlight, sending.waiting, sending.free]).toEqual(['ab', 2, 2, -2]);
  sending.end();
  await all[2];
  expect([left.join(''), sending.inFlight, sending.waiting, sending.free]).toEqual(['abc', 2, 1, -1]);
  for (let ended = 0; ended < 3; ended += 1) sending.end();
  await all[3];
  expect([left.join(''), sending.inFlight, sending.waiting, sending.free]).toEqual(['abcd', 0, 0, 2]);
});

it('those that wait are called back, and what is in flight stays', async () => {
  const sending = new Sending(1);
  expect(sending.enter(NOT_ABORTED)).toBe(true);
  const turns = [sending.enter(NOT_ABORTED), sending.enter(NOT_ABORTED)];
  sending.callBack();
  expect(await Promise.all(turns)).toEqual([false, false]);
  expect([sending.inFlight, sending.waiting]).toEqual([1, 0]);
});

it('one whose signal is aborted leaves the line, and none of the others', async () => {
  const sending = new Sending(1);
  sending.begin();
  const stop = new AbortController();
  const [first, second] = [sending.enter(stop.signal), sending.enter(NOT_ABORTED)];
  stop.abort(new Error('stop'));
  expect([await first, await sending.enter(stop.signal), sending.waiting]).toEqual([false, false, 1]);
  sending.end();
  expect([await second, sending.inFlight]).toEqual([true, 1]);
});

it('a request that goes in any case takes the place of the next', async () => {
  const sending = new Sending(1);
  sending.begin();
  sending.begin();
  const turn = sending.enter(NOT_ABORTED);
  expect(turn).not.toBe(true);
  sending.end();
  expect([sending.inFlight, sending.waiting]).toEqual([1, 1]);
  sending.end();
  expect(await turn).toBe(true);
  expect([sending.inFlight, sending.waiting]).toEqual([1, 0]);
});
