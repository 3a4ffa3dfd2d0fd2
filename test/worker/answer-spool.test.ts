/** Paid answers that the engine could not record. */
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { NewOutcome } from '../../src/core/outcome.js';
import {
  listSpooled,
  purgeSpooled,
  recordSpooled,
  spoolAnswers,
  spoolFolderOf,
} from '../../src/worker/answer-spool.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function outcomes(count: number, from = 0): NewOutcome[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `k:u:domain:${from + at}.example`,
    status: 'matched',
    packed: Buffer.from([0, 255, 128, from + at]),
    billed: true,
    freshMs: null,
  }));
}

const MISSING: NewOutcome = {
  key: 'k:u:ticker:NONE',
  status: 'not_found',
  packed: null,
  billed: false,
  freshMs: 600_000,
};

function createShelf() {
  const taken: NewOutcome[] = [];
  const ages: (number | undefined)[] = [];
  const batches: number[] = [];
  return {
    taken,
    ages,
    batches,
    async record(some: readonly NewOutcome[]) {
      batches.push(some.length);
      for (const { ageMs, ...outcome } of some) {
        taken.push(outcome);
        ages.push(ageMs);
      }
    },
  };
}

it('spooled answers are returned unchanged, once', async () => {
  const folder = join(await temporaryFolder(), 'spool');
  await spoolAnswers(folder, [...outcomes(2), MISSING]);
  const shelf = createShelf();
  expect(await recordSpooled(folder, shelf.record)).toBe(3);
  expect(shelf.taken).toEqual([...outcomes(2), MISSING]);
  expect(await readdir(folder)).toEqual([]);
  expect(await recordSpooled(folder, shelf.record)).toBe(0);
});

it.each([
  [3_600_000, 3_600_000],
  // The clock was set back.
  [-3_600_000, 0],
])('%i ms after their file was written spooled answers are %i ms old', async (later, age) => {
  const folder = join(await temporaryFolder(), 'spool');
  const { mtimeMs } = await stat(await spoolAnswers(folder, outcomes(2)));
  const shelf = createShelf();
  await recordSpooled(folder, shelf.record, mtimeMs + later);
  expect(shelf.ages).toEqual([age, age]);
});

it('no other user of the machine can read the spool', async () => {
  const folder = join(await temporaryFolder(), 'spool');
  const path = await spoolAnswers(folder, outcomes(1));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('two processes that spool at once have a file each', async () => {
  const folder = await temporaryFolder();
  await Promise.all([spoolAnswers(folder, outcomes(1)), spoolAnswers(folder, outcomes(1, 1))]);
  const shelf = createShelf();
  expect(await recordSpooled(folder, shelf.record)).toBe(2);
  expect(shelf.batches).toEqual([1, 1]);
});

it('a missing folder has nothing to record', async () => {
  expect(await recordSpooled(join(await temporaryFolder(), 'none'), createShelf().record)).toBe(0);
});

it('a process killed while writing loses the line it was writing and no other', async () => {
  const folder = await temporaryFolder();
  const path = await spoolAnswers(folder, outcomes(3));
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.slice(0, text.lastIndexOf('{') + 30));
  const shelf = createShelf();
  expect(await recordSpooled(folder, shelf.record)).toBe(2);
  expect(shelf.taken).toEqual(outcomes(2));
});

it('a store that refuses leaves the file for the next start', async () => {
  const folder = await temporaryFolder();
  await spoolAnswers(folder, outcomes(2));
  const refuse = () => Promise.reject(new Error('out of memory'));
  await expect(recordSpooled(folder, refuse)).rejects.toThrow('out of memory');
  const shelf = createShelf();
  expect(await recordSpooled(folder, shelf.record)).toBe(2);
});

it('many answers are recorded in batches, oldest file first', async () => {
  const folder = await temporaryFolder();
  const names = Array.from({ length: 12 }, (_, at) => String(100 + at));
  for (const key of [...names].reverse()) {
    await writeFile(join(folder, `${key}-x.answers`), line({ ...MISSING, key }));
  }
  const shelf = createShelf();
  await recordSpooled(folder, shelf.record);
  expect(shelf.taken.map(({ key }) => key)).toEqual(names);

  await spoolAnswers(folder, outcomes(450));
  await recordSpooled(folder, shelf.record);
  expect(shelf.batches).toEqual([...names.map(() => 1), 200, 200, 50]);
});

it('two starts on one folder lose nothing, and do not block each other', async () => {
  const folder = await temporaryFolder();
  for (let file = 0; file < 20; file += 1) await spoolAnswers(folder, outcomes(10, file * 10));
  const shelf = createShelf();
  await Promise.all([1, 2, 3].map(() => recordSpooled(folder, shelf.record)));
  expect(new Set(shelf.taken.map(({ key }) => key)).size).toBe(200);
  expect(await readdir(folder)).toEqual([]);
});

it('a file in use stays, and is taken once its writer is considered dead', async () => {
  const folder = await temporaryFolder();
  const path = await spoolAnswers(folder, outcomes(3));
  await rename(path, `${path}.part`);
  const shelf = createShelf();
  expect(await recordSpooled(folder, shelf.record)).toBe(0);
  expect(await recordSpooled(folder, shelf.record, Date.now() + 61_000)).toBe(3);
  expect(await readdir(folder)).toEqual([]);
});

describe('the answers of several engines', () => {
  const DAY = 86_400_000;

  it('are listed by engine', async () => {
    const spool = await temporaryFolder();
    const now = Date.now();
    await spoolAnswers(spoolFolderOf(spool, 'a'), outcomes(2));
    await spoolAnswers(spoolFolderOf(spool, 'a'), outcomes(3));
    await mkdir(spoolFolderOf(spool, 'empty'));
    expect(await listSpooled(spool, now)).toEqual([
      { engine: 'a', folder: spoolFolderOf(spool, 'a'), answers: 5, since: expect.any(Number) },
    ]);
    expect(await listSpooled(join(spool, 'none'), now)).toEqual([]);
  });

  it('are kept for thirty days', async () => {
    const spool = await temporaryFolder();
    await spoolAnswers(spoolFolderOf(spool, 'a'), outcomes(2));
    await purgeSpooled(spool, Date.now() + 29 * DAY);
    expect(await listSpooled(spool, Date.now())).toHaveLength(1);
    await purgeSpooled(spool, Date.now() + 31 * DAY);
    expect(await listSpooled(spool, Date.now())).toEqual([]);
  });
});

it('unrelated files in the folder stay', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'deeper'));
  await writeFile(join(folder, 'keyValues.txt'), 'mine');
  expect(await recordSpooled(folder, createShelf().record)).toBe(0);
  expect(await readdir(folder)).toEqual(['deeper', 'keyValues.txt']);
});

function line(outcome: NewOutcome): string {
  return `${JSON.stringify(outcome)}\n`;
}
