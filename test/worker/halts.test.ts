import { expect, test } from 'vitest';
import { createHalts } from '../../src/worker/lookup-worker.js';
import { HALTS } from '../support/halts.js';

const SPENT = HALTS.limit;

function haltsAt() {
  const time = { now: 1_000_000 };
  return {
    time,
    halts: createHalts({ now: () => time.now, monotonic: () => time.now, sleep: async () => undefined }),
  };
}

test('a halted run is remembered while its chunks are withdrawn', () => {
  const { halts, time } = haltsAt();
  halts.set('run', SPENT);
  time.now += 9_999;
  expect(halts.get('run')).toEqual(SPENT);
  expect(halts.get('another')).toBeUndefined();
});

test('later chunks belong to a run that may continue, whoever said so', () => {
  const { halts, time } = haltsAt();
  halts.set('run', SPENT);
  time.now += 10_000;
  expect(halts.get('run')).toBeUndefined();
});

test('a resumed run is asked for at once', () => {
  const { halts } = haltsAt();
  halts.set('run', SPENT);
  halts.forget('run');
  expect(halts.get('run')).toBeUndefined();
});
