import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { PermitWaiters } from '../../src/ledger/permit-waiters.js';

const RUN = { id: 'run', period: 'month', maxRate: null } as const;
const LOST = { type: 'lost' } as const;

/** Those of two signals, in the order of their places. */
function enterAll(waiters: PermitWaiters, signals: readonly AbortSignal[]) {
  return signals.map((signal, place) => {
    const names = { permit: `p${place}`, key: `k${place}`, own: undefined };
    return waiters.enter({ ...names, run: RUN, signal, place });
  });
}

describe('waiters that share a signal', () => {
  it('leave when it is aborted; those of another signal stay', async () => {
    const waiters = new PermitWaiters();
    const [one, other] = [new AbortController(), new AbortController()];
    const [first, second, third] = enterAll(waiters, [one.signal, one.signal, other.signal]);
    const [waiter] = waiters.choose(0, 1);
    if (waiter === undefined) throw new Error('nobody waits');
    waiters.answer(waiter, LOST);
    one.abort(new Error('stopped'));
    await expect(first).resolves.toBe(LOST);
    await expect(second).rejects.toThrow('stopped');
    expect(waiters.size).toBe(1);
    waiters.rejectAll(new Error('closed'));
    await expect(third).rejects.toThrow('closed');
  });

  it('have one listener on it, until the last of them has left', async () => {
    const waiters = new PermitWaiters();
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, 'abort').length;
    const asked = enterAll(waiters, [signal, signal]);
    for (const waiter of waiters.choose(0, 2)) {
      expect(listeners()).toBe(1);
      waiters.answer(waiter, LOST);
    }
    expect(listeners()).toBe(0);
    await Promise.all(asked);
  });
});
