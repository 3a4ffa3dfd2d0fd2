/** Requests of a worker that have their permits. */
import { expect, it } from 'vitest';
import { Sending } from '../../src/worker/in-flight.js';

it('so many are in flight at once, and the others follow in their order', async () => {
  const sending = new Sending(2);
  const left: string[] = [];
  const send = async (name: string) => {
    await sending.enter();
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

it('a request that goes in any case takes the place of the next', async () => {
  const sending = new Sending(1);
  sending.begin();
  sending.begin();
  const turn = sending.enter();
  expect(turn).not.toBeNull();
  sending.end();
  expect([sending.inFlight, sending.waiting]).toEqual([1, 1]);
  sending.end();
  await turn;
  expect([sending.inFlight, sending.waiting]).toEqual([1, 0]);
});
