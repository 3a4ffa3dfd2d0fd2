/** How far a chunk is: told about once a second, and nothing is told twice or lost. */
import { expect, it } from 'vitest';
import type { Asked } from '../../src/resolve/ask.js';
import { createChunkTally } from '../../src/resolve/chunk-tally.js';
import type { Tally } from '../../src/runs/run-store.js';
import { createPassingClock, type PassingClock } from './asking.js';

const MATCHED: Asked = { result: { type: 'matched' }, requests: 1, billed: 1 };
const NOTHING: Tally = { matched: 0, notFound: 0, failed: 0, stored: 0, requests: 0, billed: 0 };

function createTallying(): {
  tally: ReturnType<typeof createChunkTally>;
  clock: PassingClock;
  told: Tally[];
  refuse: (refuses: boolean) => void;
} {
  const clock = createPassingClock();
  const told: Tally[] = [];
  let isRefusing = false;
  const runs = {
    async addTally(_run: string, counts: Tally) {
      if (isRefusing) throw new Error('the engine is away');
      told.push(counts);
    },
  };
  const refuse = (refuses: boolean) => {
    isRefusing = refuses;
  };
  return { tally: createChunkTally(runs, 'run', clock), clock, told, refuse };
}

it('a quick chunk tells everything at its end', async () => {
  const { tally, told } = createTallying();
  tally.addAsked(MATCHED);
  tally.addAsked({ result: { type: 'not_found' }, requests: 2, billed: 1 });
  tally.addAsked({ result: { type: 'revoked' }, requests: 0, billed: 0 });
  tally.add({ failed: 1, stored: 4 });
  await tally.flush();
  expect(told).toEqual([{ matched: 1, notFound: 1, failed: 1, stored: 4, requests: 3, billed: 2 }]);
});

it('a slow one tells once a second', async () => {
  const { tally, clock, told } = createTallying();
  for (let answers = 0; answers < 6; answers += 1) {
    clock.pass(400);
    tally.addAsked(MATCHED);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await tally.flush();
  expect(told.map(({ matched }) => matched)).toEqual([3, 3]);
});

it('nothing to tell is not told', async () => {
  const { tally, told } = createTallying();
  tally.add(NOTHING);
  await tally.flush();
  expect(told).toEqual([]);
});

it('what could not be told goes with the next', async () => {
  const { tally, clock, told, refuse } = createTallying();
  refuse(true);
  clock.pass(1_000);
  tally.addAsked(MATCHED);
  await Promise.resolve();
  await expect(tally.flush()).rejects.toThrow('the engine is away');
  refuse(false);
  tally.addAsked(MATCHED);
  await tally.flush();
  expect(told).toEqual([{ ...NOTHING, matched: 2, requests: 2, billed: 2 }]);
});
