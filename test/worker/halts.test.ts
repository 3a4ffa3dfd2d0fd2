import { expect, test } from 'vitest';
import { createHalts } from '../../src/worker/lookup-worker.js';
import { HALTS } from '../support/halts.js';

test('a halted run is remembered while its chunks are withdrawn; a resumed one is asked for at once', () => {
  let now = 1_000_000;
  const clock = { now: () => now, monotonic: () => now, sleep: async () => undefined };
  const halts = createHalts(clock);
  for (const run of ['halted', 'resumed']) halts.set(run, HALTS.limit);
  halts.forget('resumed');
  now += 9_999;
  expect(halts.get('halted')).toEqual(HALTS.limit);
  for (const run of ['resumed', 'another']) expect(halts.get(run)).toBeUndefined();
  // Later chunks belong to a run that may continue.
  now += 1;
  expect(halts.get('halted')).toBeUndefined();
});
