/** Which identifiers a trial looks up. */
import { expect, it } from 'vitest';
import { Answers } from '../../../src/run/lookups/answers.js';
import { spreadOver } from '../../../src/run/lookups/trial.js';
import { IdentifierSpool } from '../../../src/run/scan/identifier-spool.js';
import { openSpool } from '../spools.js';

/** `answered`: those that have an answer already. */
async function scanOf(count: number, answered: readonly number[] = []) {
  const identifiers = new IdentifierSpool(await openSpool('identifiers'));
  const answers = new Answers(await openSpool('answers'));
  for (let index = 0; index < count; index += 1) {
    identifiers.add(`domain:b${index}.com`);
    answers.want(index);
    if (answered.includes(index)) answers.set(index, 'matched', null, { before: '', after: '' });
  }
  return { identifiers, answers, priorities: null };
}

it.each([
  [10, 1, [5]],
  [10, 2, [2, 7]],
  [10, 5, [1, 3, 5, 7, 9]],
  [7, 3, [1, 3, 5]],
  [3, 3, [0, 1, 2]],
  [2_000, 4, [250, 750, 1_250, 1_750]],
])('of %i identifiers %i are spread over the file: %j', async (count, wanted, chosen) => {
  expect(spreadOver(await scanOf(count), count, wanted)).toEqual(chosen);
});

it('stored identifiers are not chosen', async () => {
  const stored = [0, 1, 2, 3, 4];
  expect(spreadOver(await scanOf(10, stored), 5, 2)).toEqual([6, 8]);
});

it('each part of the file gives one, for any numbers', async () => {
  const scan = await scanOf(1_013);
  for (const count of [1, 2, 7, 100, 999, 1_013]) {
    const chosen = spreadOver(scan, 1_013, count);
    expect([chosen.length, new Set(chosen).size]).toEqual([count, count]);
  }
});
