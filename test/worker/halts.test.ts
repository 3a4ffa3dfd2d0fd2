import { expect, test } from 'vitest';
import { createHalts } from '../../src/worker/halts.js';

const SPENT = { why: 'limit', sentence: 'the quota is used up' } as const;

function haltsAt() {
  const time = { now: 1_000_000 };
  return {
    time,
    halts: createHalts({ now: () => time.now, monotonic: () => time.now, sleep: async () => undefined }),
  };
}

test('a halted run is known as such while its chunks are taken back', () => {
  const { halts, time } = haltsAt();
  halts.set('run', SPENT);
  time.now += 9_999;
  expect(halts.get('run')).toEqual(SPENT);
  expect(halts.get('another')).toBeUndefined();
});

test('chunks that come later are of a run that may go on, whoever said so', () => {
  const { halts, time } = haltsAt();
  halts.set('run', SPENT);
  time.now += 10_000;
  expect(halts.get('run')).toBeUndefined();
});

test('a run that is allowed to go on is asked for at once', () => {
  const { halts } = haltsAt();
  halts.set('run', SPENT);
  halts.forget('run');
  expect(halts.get('run')).toBeUndefined();
});
