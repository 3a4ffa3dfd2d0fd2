/** The progress of a worker with a run, reported about once a second as the sum so far. */
import { expect, it } from 'vitest';
import { NO_TALLY, type Tally } from '../../src/engine/stores/run-store.js';
import type { Asked } from '../../src/worker/asked.js';
import { createRunTallies } from '../../src/worker/run-tallies.js';
import { createPassingClock } from './asking.js';

const MATCHED: Asked = { result: { type: 'matched' }, requests: 1, billed: 1 };

function createTallying() {
  const clock = createPassingClock();
  const reports: { run: string; part: string; sum: Tally }[] = [];
  let isRefusing = false;
  const tallies = createRunTallies(
    {
      async addTally(run: string, part: string, sum: Tally) {
        if (isRefusing) throw new Error('the engine is away');
        reports.push({ run, part, sum });
      },
    },
    clock,
  );
  const refuse = (refuses: boolean) => {
    isRefusing = refuses;
  };
  return {
    tallies,
    tally: tallies.of('run'),
    clock,
    reports,
    refuse,
    sums: () => reports.map(({ sum }) => sum),
  };
}

it('a quick chunk reports everything at its end', async () => {
  const { tally, sums } = createTallying();
  tally.addAsked(MATCHED);
  tally.addAsked({ result: { type: 'not_found' }, requests: 2, billed: 1 });
  tally.addAsked({ result: { type: 'revoked' }, requests: 0, billed: 0 });
  tally.add('failed', 1);
  tally.add('stored', 4);
  await tally.flush();
  expect(sums()).toEqual([{ matched: 1, notFound: 1, failed: 1, stored: 4, requests: 3, billed: 2 }]);
});

it('a slow one reports once a second, the sum so far under one name', async () => {
  const { tallies, tally, clock, reports, sums } = createTallying();
  for (let answers = 0; answers < 6; answers += 1) {
    clock.pass(400);
    // Another chunk of the same run.
    tallies.of('run').addAsked(MATCHED);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await tally.flush();
  expect(sums().map(({ matched }) => matched)).toEqual([1, 4, 6]);
  expect(new Set(reports.map(({ part }) => part)).size).toBe(1);
});

it('the first answer is reported at once: other workers trust the address by it', async () => {
  const { tally, sums } = createTallying();
  tally.addAsked({ result: { type: 'revoked' }, requests: 1, billed: 1 });
  expect(sums()).toEqual([]);
  for (let answers = 0; answers < 2; answers += 1) {
    tally.addAsked(MATCHED);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sums().map(({ matched }) => matched)).toEqual([1]);
});

it('of very many runs a forgotten one continues under another name', async () => {
  const { tallies, reports } = createTallying();
  for (let run = 0; run < 1_100; run += 1) {
    tallies.of(`run ${run}`).addAsked(MATCHED);
    await tallies.of(`run ${run}`).flush();
  }
  const again = tallies.of('run 0');
  again.addAsked(MATCHED);
  await again.flush();
  const of = reports.filter(({ run }) => run === 'run 0');
  expect(of.map(({ sum }) => sum.matched)).toEqual([1, 1]);
  expect(of[0]?.part).not.toBe(of[1]?.part);
});

it('nothing is reported when nothing has changed', async () => {
  const { tally, reports } = createTallying();
  tally.add('stored', 0);
  await tally.flush();
  tally.addAsked(MATCHED);
  await tally.flush();
  await tally.flush();
  expect(reports).toHaveLength(1);
});

it('the next report contains a failed one', async () => {
  const { tally, clock, refuse, sums } = createTallying();
  refuse(true);
  clock.pass(1_000);
  tally.addAsked(MATCHED);
  await Promise.resolve();
  await expect(tally.flush()).rejects.toThrow('the engine is away');
  refuse(false);
  tally.addAsked(MATCHED);
  await tally.flush();
  expect(sums()).toEqual([{ ...NO_TALLY, matched: 2, requests: 2, billed: 2 }]);
});
