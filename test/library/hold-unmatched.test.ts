/** A stream of which hardly any of the first answers match asks for no more. */
import { setMaxListeners } from 'node:events';
import { expect, it } from 'vitest';
import { holdUnmatched } from '../../src/library/hold-unmatched.js';
import type { Found } from '../../src/library/waiters.js';

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
