/** The stream: order, how far ahead it looks, and how it ends. Nothing is sent here. */
import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { enrichRows, holdUnmatched } from '../../src/library/enrich-rows.js';
import type { Found } from '../../src/library/waiters.js';

const NEVER = new AbortController().signal;

/** Numbers on demand; knows how many were taken, and whether it was closed. */
function counting(count: number, between: () => Promise<unknown> = nextTurn) {
  const seen = { taken: 0, isClosed: false };
  async function* rows() {
    try {
      for (; seen.taken < count; ) {
        await between();
        seen.taken += 1;
        yield seen.taken;
      }
    } finally {
      seen.isClosed = true;
    }
  }
  return { seen, rows: rows() };
}

const tenfold = async (row: number) => row * 10;

async function takeInto<T>(found: T[], results: AsyncIterable<T>): Promise<T[]> {
  for await (const result of results) found.push(result);
  return found;
}

const all = <T>(results: AsyncIterable<T>) => takeInto([], results);

describe('a stream of rows', () => {
  it('comes back whole and in order, whichever is answered first', async () => {
    const slowFirst = async (row: number) => {
      for (let turn = 0; turn < 20 - row; turn += 1) await nextTurn();
      return row * 10;
    };
    expect(await all(enrichRows([1, 2, 3, 4, 5], slowFirst, 3, NEVER))).toEqual([10, 20, 30, 40, 50]);
    expect(await all(enrichRows(counting(5).rows, slowFirst, 2, NEVER))).toEqual([10, 20, 30, 40, 50]);
    expect(await all(enrichRows([], tenfold, 2, NEVER))).toEqual([]);
  });

  it('is read no further ahead than allowed, and not at all before the caller takes results', async () => {
    const { seen, rows } = counting(1_000);
    const results = enrichRows(rows, tenfold, 7, NEVER);
    await nextTurn();
    expect(seen.taken).toBe(0);
    let most = 0;
    for (let taken = 1; taken <= 100; taken += 1) {
      expect((await results.next()).value).toBe(taken * 10);
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      most = Math.max(most, seen.taken - taken);
    }
    expect(most).toBeLessThanOrEqual(7);
    await results.return();
  });

  it('gives a result as soon as it is there, though the next row is not', async () => {
    let hasAsked = false;
    const { rows } = counting(2, () => (hasAsked ? new Promise(() => undefined) : Promise.resolve()));
    const ask = async (row: number) => {
      hasAsked = true;
      return row;
    };
    const results = enrichRows(rows, ask, 5, NEVER);
    expect((await results.next()).value).toBe(1);
    // The source never says another word: leaving must not wait for it.
    await results.return();
  });

  it('that is left early is closed', async () => {
    const { seen, rows } = counting(1_000);
    for await (const result of enrichRows(rows, tenfold, 3, NEVER)) if (result === 50) break;
    expect(seen.taken).toBeLessThanOrEqual(9);
    await expect.poll(() => seen.isClosed).toBe(true);
  });

  function* broken() {
    yield 1;
    yield 2;
    throw new Error('the cursor is gone');
  }
  async function* brokenLater() {
    yield* broken();
  }
  it.each([
    ['at once', broken],
    ['later', brokenLater],
  ])('ends with what its source throws %s, after the rows before it', async (_, source) => {
    const found: number[] = [];
    const taking = takeInto(found, enrichRows(source(), tenfold, 5, NEVER));
    await expect(taking).rejects.toThrow('the cursor is gone');
    expect(found).toEqual([10, 20]);
  });

  it('ends with what asking throws, at its row, and closes the source', async () => {
    const { seen, rows } = counting(50);
    const found: number[] = [];
    const failing = async (row: number) => {
      if (row === 4) throw new Error('the engine is gone');
      return row;
    };
    const taking = takeInto(found, enrichRows(rows, failing, 20, NEVER));
    await expect(taking).rejects.toThrow('the engine is gone');
    expect(found).toEqual([1, 2, 3]);
    await expect.poll(() => seen.isClosed).toBe(true);
  });

  it('ends its lookups before it waits for its source to close', async () => {
    const said: string[] = [];
    async function* slow() {
      try {
        yield* [1, 2, 3];
      } finally {
        said.push('closing');
      }
    }
    for await (const _ of enrichRows(slow(), tenfold, 2, NEVER, () => said.push('ended'))) break;
    expect(said).toEqual(['ended', 'closing']);
  });

  it('ends with the reason of its signal, also while the source is silent', async () => {
    const stop = new AbortController();
    const { rows } = counting(5, () => new Promise(() => undefined));
    const next = enrichRows(rows, tenfold, 5, stop.signal).next();
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });
});

const found = (status: Found['status']): Found => {
  return { status, brand: null, source: 'api', fetchedAt: 0, error: null, billed: 1 };
};

/** Asks for so many at once: how many were asked for, and at most at the same time. */
async function askAll(minMatch: number | null, count: number, statusAt: (at: number) => Found['status']) {
  const asked: string[] = [];
  let [underWay, most] = [0, 0];
  const ask = holdUnmatched(async ({ value }) => {
    asked.push(value);
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    return found(statusAt(Number(value)));
  }, minMatch);
  const each = Array.from({ length: count }, (_, at) => ask({ kind: 'domain', value: String(at) }));
  const results = await Promise.all(each);
  return { asked: asked.length, most, held: results.filter(({ stopped }) => stopped === 'min-match').length };
}

describe('a stream of which hardly any of the first answers match asks for no more', () => {
  it.each<[string, number | null, (at: number) => Found['status'], number, number]>([
    // Asked for of 200, and held.
    ['no match in 50', null, () => 'not_found', 50, 150],
    ['one match in 50', null, (at) => (at === 49 ? 'matched' : 'not_found'), 200, 0],
    ['fewer than a third', 30, (at) => (at < 14 ? 'matched' : 'not_found'), 50, 150],
    ['a third', 30, (at) => (at < 15 ? 'matched' : 'not_found'), 200, 0],
    ['no match, and no check', 0, () => 'not_found', 200, 0],
    ['no answer at all, which says nothing', null, () => 'failed', 200, 0],
    ['failures, which do not count', null, (at) => (at < 30 ? 'failed' : 'not_found'), 80, 120],
  ])('%s', async (_, minMatch, statusAt, asked, held) => {
    const ended = await askAll(minMatch, 200, statusAt);
    expect([ended.asked, ended.held]).toEqual([asked, held]);
    if (held > 0) expect(ended.most).toBeLessThanOrEqual(50);
  });

  it('of one identifier asked for again and again one answer counts', async () => {
    let asked = 0;
    const ask = holdUnmatched(async () => {
      asked += 1;
      return found('not_found');
    }, null);
    for (let time = 0; time < 60; time += 1) await ask({ kind: 'domain', value: 'a.com' });
    expect(asked).toBe(60);
  });

  it('what waits for its turn ends with those under way', async () => {
    const stop = new AbortController();
    const { signal } = stop;
    setMaxListeners(0, signal);
    const ask = holdUnmatched(
      () =>
        new Promise((_, reject) => {
          if (signal.aborted) reject(signal.reason);
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
      null,
    );
    const each = Array.from({ length: 60 }, (_, at) => ask({ kind: 'domain', value: String(at) }));
    const settled = Promise.allSettled(each);
    stop.abort();
    expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
  });
});
