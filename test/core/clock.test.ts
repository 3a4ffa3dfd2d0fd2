/** Waits of the system clock, and how they end early. */
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';

it('returns milliseconds since 1970', () => {
  const before = Date.now();
  const now = systemClock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

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
  const controller = new AbortController();
  const added: unknown[] = [];
  const removed: unknown[] = [];
  const signal = new Proxy(controller.signal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'addEventListener') added.push(args[1]);
        if (name === 'removeEventListener') removed.push(args[1]);
        return Reflect.apply(value, target, args);
      };
    },
  });
  await systemClock.sleep(1, signal);
  expect(removed).toEqual(added);
  expect(added).toHaveLength(1);
});
