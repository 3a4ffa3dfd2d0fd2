import { expect, it } from 'vitest';
import { spreadOver } from '../../../src/run/lookups/trial.js';
import { scanWanting } from '../spools.js';

it.each([
  [10, 1, [5]],
  [10, 2, [2, 7]],
  [10, 5, [1, 3, 5, 7, 9]],
  [7, 3, [1, 3, 5]],
  [3, 3, [0, 1, 2]],
  [2_000, 4, [250, 750, 1_250, 1_750]],
])('of %i identifiers %i are spread over the file: %j', async (count, wanted, chosen) => {
  expect(spreadOver(await scanWanting(count), count, wanted)).toEqual(chosen);
});

it('stored identifiers are not chosen', async () => {
  const scan = await scanWanting(10);
  for (let index = 0; index < 5; index += 1)
    scan.answers.set(index, 'matched', null, { before: '', after: '' });
  expect(spreadOver(scan, 5, 2)).toEqual([6, 8]);
});

it('each part of the file gives one, for any numbers', async () => {
  const scan = await scanWanting(1_013);
  for (const count of [1, 2, 7, 100, 999, 1_013]) {
    const chosen = spreadOver(scan, 1_013, count);
    expect([chosen.length, new Set(chosen).size]).toEqual([count, count]);
  }
});
