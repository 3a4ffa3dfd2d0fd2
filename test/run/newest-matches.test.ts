import { describe, expect, it } from 'vitest';
import type { Entry } from '../../src/engine/stores/key-value-store.js';
import { packProfile } from '../../src/engine/stores/profile-codec.js';
import type { RunEvent } from '../../src/run/enrich-request.js';
import { keepNewestMatches, readNewestMatches } from '../../src/run/newest-matches.js';
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

/** Follows a run that found so many; `at` is the time. */
function follow(values: Parameters<typeof keepNewestMatches>[0]['keyValues'], found: number, at = { ms: 0 }) {
  const matches = keepNewestMatches({ keyValues: values }, 'r-1', { monotonic: () => at.ms });
  const find = (name: number | string) => matches.note({ type: 'matched', identifier: `domain:${name}.com` });
  for (let index = 1; index <= found; index += 1) find(index);
  const look = () => matches.note({ type: 'progress' } as RunEvent);
  return { find, look, end: matches.end };
}

describe('the engine', () => {
  it.each([
    [3, 'domain:3.com', 'domain:1.com'],
    [20, 'domain:20.com', 'domain:1.com'],
    [47, 'domain:47.com', 'domain:28.com'],
  ])('of %d matches has the last twenty, the newest first', async (count, first, last) => {
    const values = keyValues();
    await follow(values, count).end();
    const [kept = []] = values.told;
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([Math.min(count, 20), first, last]);
  });

  it('gets new matches at most once a second, and all at the end', async () => {
    const values = keyValues();
    const at = { ms: 0 };
    const { find, look, end } = follow(values, 1, at);
    look();
    await end();
    find('late');
    at.ms = 999;
    look();
    expect(values.told).toHaveLength(1);
    at.ms = 1_000;
    look();
    await end();
    expect(values.told.map((each) => each[0])).toEqual(['domain:1.com', 'domain:late.com']);
    at.ms = 5_000;
    look();
    await end();
    expect(values.told).toHaveLength(2);
  });

  it('keeps the matches of the newest thirty runs, and no entry of a run without any', async () => {
    const old = (at: number) => ({ name: `r-old-${at}`, text: '[]', ageMs: 1_000 + at });
    const values = keyValues(Array.from({ length: 40 }, (_, at) => old(at)));
    await follow(values, 0).end();
    expect(values.entries).toHaveLength(40);
    await follow(values, 1).end();
    const names = values.entries.map(({ name }) => name);
    expect([names.length, names.includes('r-1'), names.includes('r-old-39')]).toEqual([30, true, false]);
  });

  it('that fails ends no run', async () => {
    const { look, end } = follow({ ...keyValues(), put: () => Promise.reject(new Error('gone')) }, 1);
    look();
    await expect(end()).resolves.toBeUndefined();
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

  it('gets name, score and colour of brands that are still stored, cut to a length', async () => {
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
