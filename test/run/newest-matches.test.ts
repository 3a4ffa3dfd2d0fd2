import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/engine/stores/key-value-store.js';
import { packProfile } from '../../src/engine/stores/profile-codec.js';
import { NewestMatches, readNewestMatches, tellMatches } from '../../src/run/newest-matches.js';
import { runRecord } from '../dashboard/views.js';

function keyValues(entries: Entry[] = []) {
  const told: string[][] = [];
  return {
    told,
    entries,
    async put(_scope: string, name: string, text: string) {
      told.push(JSON.parse(text));
      entries.push({ name, text, ageMs: 0 });
    },
    list: async () => entries.slice(),
    async remove(_scope: string, name: string) {
      const at = entries.findIndex((each) => each.name === name);
      if (at >= 0) entries.splice(at, 1);
      return at >= 0;
    },
    claim: async () => true,
  };
}

function noted(count: number) {
  const newest = new NewestMatches();
  for (let index = 1; index <= count; index += 1) newest.note(`domain:${index}.com`);
  return newest;
}

it.each([
  [0, undefined, undefined],
  [3, 'domain:3.com', 'domain:1.com'],
  [20, 'domain:20.com', 'domain:1.com'],
  [47, 'domain:47.com', 'domain:28.com'],
])('of %d matches the last twenty are kept, the newest first', (count, first, last) => {
  const kept = noted(count).list();
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([Math.min(count, 20), first, last]);
});

describe('the engine', () => {
  it('is told at most once a second, of what is new, and at the end of all', async () => {
    const values = keyValues();
    const newest = noted(1);
    let now = 0;
    const telling = tellMatches({ keyValues: values }, 'r-1', newest, { monotonic: () => now });
    telling.now();
    await telling.end();
    newest.note('domain:late.com');
    now = 999;
    telling.now();
    expect(values.told).toHaveLength(1);
    now = 1_000;
    telling.now();
    await telling.end();
    expect(values.told.map((each) => each[0])).toEqual(['domain:1.com', 'domain:late.com']);
    now = 5_000;
    telling.now();
    await telling.end();
    expect(values.told).toHaveLength(2);
  });

  it('keeps those of the newest thirty runs', async () => {
    const old = (at: number) => ({ name: `r-old-${at}`, text: '[]', ageMs: 1_000 + at });
    const values = keyValues(Array.from({ length: 40 }, (_, at) => old(at)));
    await tellMatches({ keyValues: values }, 'r-1', noted(1), { monotonic: () => 0 }).end();
    const names = values.entries.map(({ name }) => name);
    expect([names.length, names.includes('r-1'), names.includes('r-old-39')]).toEqual([30, true, false]);
  });

  it('that fails ends no run', async () => {
    const gone = { ...keyValues(), put: () => Promise.reject(new Error('gone')) };
    const telling = tellMatches({ keyValues: gone }, 'r-1', noted(1), { monotonic: () => 0 });
    telling.now();
    await expect(telling.end()).resolves.toBeUndefined();
  });
});

describe('a page', () => {
  const run = runRecord();
  const stored = (brand: object) => ({ packed: packProfile(Buffer.from(JSON.stringify(brand))) });
  const read = (text: string, found: (object | null)[]) =>
    readNewestMatches(
      {
        keyValues: keyValues([{ name: run.id, text, ageMs: 0 }]),
        outcomes: { read: async (keys: readonly string[]) => keys.map((_, at) => found[at] ?? null) },
      } as never,
      run,
    );

  it('gets name, score and colour of what is still stored, cut to a length', async () => {
    const acme = { name: 'A'.repeat(500), qualityScore: 0.5, colors: [{ hex: '#112233', type: 'accent' }] };
    const found = [stored(acme), null, stored({ domain: 'beta.com', name: 7 })];
    expect(await read('["domain:acme.com","domain:gone.com","ticker:BETA"]', found)).toEqual([
      { identifier: 'acme.com', name: 'A'.repeat(100), score: 0.5, color: '#112233' },
      { identifier: 'BETA', name: 'beta.com', score: null, color: null },
    ]);
  });

  it.each(['{}', '[1]', 'no JSON', '["foreign"]'])('gets nothing of %s', async (text) => {
    expect(await read(text, [stored({ name: 'X' })])).toEqual([]);
  });
});
