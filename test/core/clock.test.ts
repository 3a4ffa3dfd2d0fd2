import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';

it('a wait ends', async () => {
  await expect(systemClock.sleep(1)).resolves.toBeUndefined();
});

it('rejects a wait at once with the reason when it is aborted', async () => {
  const controller = new AbortController();
  const waiting = systemClock.sleep(600_000, controller.signal);
  controller.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
});

it('does not start a wait that is already aborted', async () => {
  await expect(systemClock.sleep(600_000, AbortSignal.abort(new Error('stopped before')))).rejects.toThrow(
    'stopped before',
  );
});

it('removes the abort listener after a wait', async () => {
  const { signal } = new AbortController();
  const waiting = systemClock.sleep(1, signal);
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await waiting;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
