import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FailFileError } from '../../../src/core/errors.js';
import { createSorter } from '../../../src/run/output/external-sort.js';

interface Entry {
  readonly group: number;
  readonly score: number;
  readonly sequence: number;
  readonly line: string;
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'collate-sort-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function sortOnDisk(
  entries: readonly Entry[],
  memoryBytes: number,
  asBuffers = false,
): Promise<string[]> {
  const sorter = createSorter({ folder, memoryBytes });
  try {
    for (const { group, score, sequence, line } of entries) {
      await sorter.add(group, score, sequence, asBuffers ? Buffer.from(line) : line);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of sorter.merged()) {
      expect(chunk.at(-1)).toBe(10);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks)
      .toString()
      .split(/(?<=\n)/);
  } finally {
    await sorter.close();
  }
}

function sortInMemory(entries: readonly Entry[]): string[] {
  return [...entries]
    .sort((a, b) => a.group - b.group || b.score - a.score || a.sequence - b.sequence)
    .map(({ line }) => line);
}

/** The same entries in every run of the tests, with many ties. */
function makeEntries(count: number): Entry[] {
  let state = 12_345;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  return Array.from({ length: count }, (_, sequence) => {
    const group = random() < 0.6 ? 0 : Math.floor(random() * 7);
    const score = group === 0 ? Math.floor(random() * 50) / 50 : 0;
    return { group, score, sequence, line: `${sequence};${'é'.repeat(Math.floor(random() * 40))}\n` };
  });
}

describe('the sorter', () => {
  it.each([
    ['everything in memory', 1 << 20],
    ['a handful of runs', 20_000],
    ['more runs than are merged at once', 500],
    ['every line a run of its own', 1],
  ])('ranks by group and score, and keeps the order of ties, with %s', async (_name, memoryBytes) => {
    const entries = makeEntries(memoryBytes === 1 ? 300 : 2_000);
    expect(await sortOnDisk(entries, memoryBytes)).toEqual(sortInMemory(entries));
    expect(await readdir(folder)).toEqual([]);
  });

  it('sorts by sequence whatever order rows were added in', async () => {
    const entries = makeEntries(1_000).reverse();
    expect(await sortOnDisk(entries, 2_000, true)).toEqual(sortInMemory(entries));
  });

  it('keeps scores apart that differ in their last bit', async () => {
    const entries = [0.1, 0.1 + 2 ** -56, 0.1 - 2 ** -56].map((score, sequence) => ({
      group: 0,
      score,
      sequence,
      line: `${sequence}\n`,
    }));
    expect(await sortOnDisk(entries, 1)).toEqual(['1\n', '0\n', '2\n']);
  });

  it('takes lines larger than all of its buffers', async () => {
    const large = (sequence: number, size: number) => ({
      group: 0,
      score: sequence / 10,
      sequence,
      line: `${sequence}${'x'.repeat(size)}\n`,
    });
    const entries = [large(1, 5), large(2, 3_000_000), large(3, 700_000), large(4, 5)];
    expect(await sortOnDisk(entries, 1_000)).toEqual(sortInMemory(entries));
  });

  it('gives nothing when nothing was added', async () => {
    const sorter = createSorter({ folder });
    for await (const _chunk of sorter.merged()) expect.unreachable();
    await sorter.close();
    await sorter.close();
  });

  it('can be closed in the middle, and leaves no file', async () => {
    const sorter = createSorter({ folder, memoryBytes: 100 });
    for (const { group, score, sequence, line } of makeEntries(100))
      await sorter.add(group, score, sequence, line);
    await sorter.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('says so when there is no folder to write to', async () => {
    const sorter = createSorter({ folder: join(folder, 'missing'), memoryBytes: 1 });
    await sorter.add(0, 1, 1, 'a\n');
    await expect(async () => sorter.add(0, 1, 2, 'b\n')).rejects.toThrow(FailFileError);
    await sorter.close();
  });

  it('orders any entries as a sort in memory does', async () => {
    const entry = fc.record({
      group: fc.nat(6),
      score: fc.double({ min: 0, max: 1, noNaN: true }),
      text: fc.string({ maxLength: 20 }),
    });
    const lists = fc.array(entry, { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(lists, fc.integer({ min: 1, max: 400 }), async (list, memoryBytes) => {
        const entries = list.map(({ group, score, text }, sequence) => ({
          group,
          score,
          sequence,
          line: `${sequence}${text.replaceAll('\n', '')}\n`,
        }));
        expect(await sortOnDisk(entries, memoryBytes)).toEqual(sortInMemory(entries));
      }),
      { numRuns: 40 },
    );
  });
});
