/** The system clock's waits, and how they end early. */
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';

it('tells milliseconds since 1970', () => {
  const before = Date.now();
  const now = systemClock.now();
  expect(now).toBeGreaterThanOrEqual(before);
  expect(now).toBeLessThanOrEqual(Date.now());
});

it('a wait ends', async () => {
  await expect(systemClock.sleep(1)).resolves.toBeUndefined();
});

it('a wait ends at once when it is aborted, with the reason', async () => {
  const controller = new AbortController();
  const waiting = systemClock.sleep(600_000, controller.signal);
  controller.abort(new Error('stop'));
  await expect(waiting).rejects.toThrow('stop');
});

it('a wait that was aborted before it began does not begin', async () => {
  await expect(systemClock.sleep(600_000, AbortSignal.abort(new Error('stopped before')))).rejects.toThrow(
    'stopped before',
  );
});

it('a wait that has ended does not listen any more', async () => {
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
