/** Contract of claims on outcome keys; part of the suite in `outcomes-contract.ts`. */
import { expect, test } from 'vitest';
import { DAY_MS, type OutcomesBench } from './outcomes-bench.js';
import { runSettings } from './run-settings.js';

export function testClaims(bench: OutcomesBench): void {
  const { engine, clock, begin, store, storeNow, fresh, claim, matched, exchange } = bench;

  test('the first claim of a key succeeds, and the next finds it busy; answers follow the order of the keys', async () => {
    const { keys, first, second } = begin(3);
    expect(await claim(first, keys.slice(0, 2))).toEqual(['ours', 'ours']);
    expect(await claim(second, [...keys].reverse())).toEqual(['ours', 'busy', 'busy']);
    expect(await claim(first, keys)).toEqual(['ours', 'ours', 'busy']);
  });

  test('a key named twice in one claim has one answer', async () => {
    const { keys, first, second } = begin(1);
    expect(await claim(first, [...keys, ...keys])).toEqual(['ours', 'ours']);
    expect(await claim(second, [...keys, ...keys])).toEqual(['busy', 'busy']);
  });

  test('only one of many concurrent workers gets a key', async () => {
    const { keys, mark } = begin(20);
    const workers = Array.from({ length: 10 }, (_, index) => `${mark}-${index}`);
    const answers = await Promise.all(workers.map((worker) => claim(worker, keys)));
    for (const index of keys.keys()) expect(answers.filter((list) => list[index] === 'ours')).toHaveLength(1);
  });

  test('a recorded answer is fresh for every worker, and frees its key', async () => {
    const { keys, first, second } = begin(2);
    await claim(first, keys);
    await store().record(keys.slice(0, 1).map((key) => matched(key)));
    expect(await claim(second, keys)).toEqual(['fresh', 'busy']);
    expect(await claim(second, keys, fresh({ notBefore: storeNow() + DAY_MS }))).toEqual(['ours', 'busy']);
  });

  test('a released key can be claimed by others; claims of others are unaffected', async () => {
    const { keys, first, second } = begin(2);
    await claim(first, keys.slice(0, 1));
    await claim(second, keys.slice(1));
    await store().release(first, keys);
    expect(await claim(second, keys)).toEqual(['ours', 'ours']);
    await store().release(first, keys);
    expect(await claim(first, keys)).toEqual(['busy', 'busy']);
  });

  test('a worker without a heartbeat for 15 s loses its claims, one with heartbeats keeps them', async () => {
    const { keys, first, second } = begin(1);
    await claim(first, keys);
    clock.advance(14_000);
    await store().heartbeat(first);
    clock.advance(14_000);
    expect(await claim(second, keys)).toEqual(['busy']);
    clock.advance(2_000);
    expect(await claim(second, keys)).toEqual(['ours']);
    expect(await claim(first, keys)).toEqual(['busy']);
  });

  test('workers that could not reach the store for a minute keep their claims until they report again', async () => {
    const { keys, first, second } = begin(1);
    await claim(first, keys);
    await store().heartbeat(second);
    clock.advance(60_000);
    expect(await claim(second, keys)).toEqual(['busy']);
    clock.advance(10_000);
    await store().heartbeat(first);
    clock.advance(10_000);
    expect(await claim(second, keys)).toEqual(['busy']);
  });

  test('a worker that does not report soon after an outage loses its claims, to a new worker at once', async () => {
    const { keys, mark, first, second } = begin(2);
    await claim(first, keys);
    await store().heartbeat(second);
    clock.advance(60_000);
    expect(await claim(`${mark}-new`, keys.slice(0, 1))).toEqual(['ours']);
    clock.advance(60_000);
    expect(await claim(second, keys.slice(1))).toEqual(['ours']);
  });

  test('a dead worker stays dead during the long silences of another one', async () => {
    const { keys, first, second } = begin(1);
    await claim(first, keys);
    await store().heartbeat(second);
    for (let times = 0; times < 3; times += 1) {
      clock.advance(16_000);
      expect(await claim(second, keys)).toEqual([times < 2 ? 'busy' : 'ours']);
    }
  });

  test('an exchange for a permit counts as a heartbeat', async () => {
    const { keys, first, second, mark } = begin(1);
    await claim(first, keys);
    clock.advance(14_000);
    await exchange(mark, first);
    clock.advance(14_000);
    expect(await claim(second, keys)).toEqual(['busy']);
  });

  test('a worker that deregisters frees its claims at once', async () => {
    const { keys, first, second } = begin(2);
    await claim(first, keys);
    await store().deregister(first);
    expect(await claim(second, keys)).toEqual(['ours', 'ours']);
  });

  test('taking over a claim without a permit costs nothing', async () => {
    const { keys, mark, first, second } = begin(1);
    const { runs } = engine();
    const settings = runSettings({ account: mark });
    const run = await runs.start({ id: mark, key: mark, label: { host: 'etl-1', name: mark }, settings });
    for (const worker of [first, second, first, second]) {
      await claim(worker, keys);
      await store().deregister(worker);
    }
    await claim(first, keys);
    const { permits } = await exchange(mark, first, {
      run: run.id,
      take: [{ permit: `${mark}-permit`, key: keys[0] ?? '' }],
    });
    expect(permits).toMatchObject([{ answer: 'granted' }]);
  });
}
