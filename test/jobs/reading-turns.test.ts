/** Whose turn it is to be read, what the records say meanwhile, and what a death makes of them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Job, type JobRecord, readNoted } from '../../src/jobs/job-folder.js';
import { afterDeath, beginReading } from '../../src/jobs/reading-turns.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const RECORD: JobRecord = {
  id: 'j-0000000000000001',
  run: null,
  file: 'list.csv',
  reason: null,
  parked: null,
};

describe('after a death', () => {
  it.each([
    ['a file that was not read is as before', {}, {}],
    ['a suspect that was not read is as before', { deaths: 2 }, { deaths: 2 }],
    ['a file read with others is a suspect without blame', { reading: 'with others' }, { deaths: 0 }],
    ['a file read alone is blamed', { reading: 'alone' }, { deaths: 1 }],
    ['a suspect read with small ones is not blamed', { reading: 'with others', deaths: 1 }, { deaths: 1 }],
    ['a suspect read alone is blamed again', { reading: 'alone', deaths: 2 }, { deaths: 3 }],
  ] as const)('%s', (_, before, after) => {
    expect(afterDeath({ ...RECORD, ...before })).toEqual({ ...RECORD, ...after });
  });
});

async function jobOf(size: number, deaths?: number): Promise<Job> {
  const folder = join(await temporaryFolder(), 'job');
  const path = join(folder, 'list.csv');
  await mkdir(folder);
  await writeFile(path, 'a'.repeat(size));
  return { folder, path, file: 'list.csv', record: { ...RECORD, deaths } };
}

const markOf = async ({ folder }: Job) => (await readNoted(folder))?.reading;
/** Begins to read, and says whether that was possible at once. */
async function begin(job: Job) {
  let hasBegun = false;
  const turn = beginReading(job).then((end) => {
    hasBegun = true;
    return end;
  });
  return { turn, hasBegun: () => hasBegun };
}

describe('while files are read', () => {
  it('each record says whether its file is the only one', async () => {
    const [one, other] = await Promise.all([jobOf(9), jobOf(9)]);
    const endOne = await beginReading(one);
    expect(await markOf(one)).toBe('alone');
    const endOther = await beginReading(other);
    expect([await markOf(one), await markOf(other)]).toEqual(['with others', 'with others']);
    await endOne();
    await endOne();
    expect([await markOf(one), await markOf(other)]).toEqual([undefined, 'alone']);
    await endOther();
    expect(await markOf(other)).toBeUndefined();
  });

  it('a suspect waits for large files and suspects, large files wait for it, and small ones pass', async () => {
    const [large, suspect, second, later, small] = await Promise.all([
      jobOf(200_000),
      jobOf(9, 0),
      jobOf(9, 1),
      jobOf(200_000),
      jobOf(9),
    ]);
    const endLarge = await beginReading(large);
    const waiting = await Promise.all([suspect, second, later].map(begin));
    const endSmall = await beginReading(small);
    expect(waiting.map(({ hasBegun }) => hasBegun())).toEqual([false, false, false]);
    await endSmall();
    await endLarge();
    for (const [at, job] of [suspect, second, later].entries()) {
      const end = await waiting[at]?.turn;
      expect(await markOf(job)).toBe('alone');
      expect(waiting.slice(at + 1).some(({ hasBegun }) => hasBegun())).toBe(false);
      await end?.();
    }
  });
});
