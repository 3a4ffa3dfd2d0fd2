/**
 * What every engine's outcome store must do, told once and run against each engine: claims that live as long as their
 * worker, answers that are kept byte for byte, and the same rule of freshness in `claim` and `read`.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Freshness } from '../../../src/model.js';
import { isFresh } from '../../../src/outcomes/freshness.js';
import type { NewOutcome } from '../../../src/outcomes/store.js';
import type { EngineUnderTest, OpenEngineUnderTest } from './engine-under-test.js';
import { createTurnedClock } from './engine-under-test.js';
import { runSettings } from './run-settings.js';

const DAY_MS = 86_400_000;

export function describeOutcomes(name: string, open: OpenEngineUnderTest): void {
  describe(`${name}: outcomes`, () => {
    const clock = createTurnedClock();
    let subject: EngineUnderTest;
    let counted = 0;
    beforeAll(async () => {
      subject = await open({ clockOffsetMs: clock.offsetMs });
    });
    afterAll(() => subject.close());

    /** Names that no other test uses. */
    function begin(count: number) {
      counted += 1;
      const mark = `o${counted}`;
      const keys = Array.from({ length: count }, (_, index) => `${mark}:u:domain:${index}.example`);
      return { mark, keys, first: `${mark}-first`, second: `${mark}-second` };
    }
    const store = () => subject.engine.outcomes;
    const storeNow = () => Date.now() + clock.offsetMs();
    /** Everything that is kept is fresh, unless a test says otherwise. */
    const fresh = (some: Partial<Freshness> = {}): Freshness => ({
      asOf: storeNow(),
      maxAgeMs: 29 * DAY_MS,
      maxAgeMissingMs: 29 * DAY_MS,
      notBefore: 0,
      ...some,
    });
    const claim = (worker: string, keys: readonly string[], freshness = fresh()) =>
      store().claim({ worker, run: 'run', keys, freshness });
    const matched = (key: string, some: Partial<NewOutcome> = {}): NewOutcome => ({
      key,
      status: 'matched',
      packed: Buffer.from(key),
      billed: true,
      freshMs: null,
      ...some,
    });

    test('the first to claim a key may ask, the next is told that somebody does, in the order of the keys', async () => {
      const { keys, first, second } = begin(3);
      expect(await claim(first, keys.slice(0, 2))).toEqual(['ours', 'ours']);
      expect(await claim(second, [...keys].reverse())).toEqual(['ours', 'busy', 'busy']);
      expect(await claim(first, keys)).toEqual(['ours', 'ours', 'busy']);
    });

    test('a key that is named twice in one claim has one answer', async () => {
      const { keys, first, second } = begin(1);
      expect(await claim(first, [...keys, ...keys])).toEqual(['ours', 'ours']);
      expect(await claim(second, [...keys, ...keys])).toEqual(['busy', 'busy']);
    });

    test('of many workers at once one gets each key', async () => {
      const { keys, mark } = begin(20);
      const workers = Array.from({ length: 10 }, (_, index) => `${mark}-${index}`);
      const answers = await Promise.all(workers.map((worker) => claim(worker, keys)));
      for (const index of keys.keys())
        expect(answers.filter((list) => list[index] === 'ours')).toHaveLength(1);
    });

    test('a recorded answer is fresh for everybody, and nobody claims it any more', async () => {
      const { keys, first, second } = begin(2);
      await claim(first, keys);
      await store().record(
        first,
        keys.slice(0, 1).map((key) => matched(key)),
      );
      expect(await claim(second, keys)).toEqual(['fresh', 'busy']);
      expect(await claim(second, keys, fresh({ notBefore: storeNow() + DAY_MS }))).toEqual(['ours', 'busy']);
    });

    test('what is released can be claimed by others; what others hold is left alone', async () => {
      const { keys, first, second } = begin(2);
      await claim(first, keys.slice(0, 1));
      await claim(second, keys.slice(1));
      await store().release(first, keys);
      expect(await claim(second, keys)).toEqual(['ours', 'ours']);
      await store().release(first, keys);
      expect(await claim(first, keys)).toEqual(['busy', 'busy']);
    });

    test('a worker that is not heard of for 15 s loses its claims, one that beats keeps them', async () => {
      const { keys, first, second } = begin(1);
      await claim(first, keys);
      clock.advance(14_000);
      await store().beat(first);
      clock.advance(14_000);
      expect(await claim(second, keys)).toEqual(['busy']);
      clock.advance(2_000);
      expect(await claim(second, keys)).toEqual(['ours']);
      expect(await claim(first, keys)).toEqual(['busy']);
    });

    test('the exchange of a permit counts as a heartbeat', async () => {
      const { keys, first, second, mark } = begin(1);
      await claim(first, keys);
      clock.advance(14_000);
      await subject.engine.ledger.exchange({
        account: mark,
        worker: first,
        run: null,
        seen: null,
        settle: [],
        reading: null,
        heard: false,
        refusedForQuota: false,
        pace: null,
        take: [],
        permitMs: 50_000,
        mayHaveTurned: false,
        usageLagMs: 60_000,
      });
      clock.advance(14_000);
      expect(await claim(second, keys)).toEqual(['busy']);
    });

    test('a worker that retires frees its claims at once', async () => {
      const { keys, first, second } = begin(2);
      await claim(first, keys);
      await store().retire(first);
      expect(await claim(second, keys)).toEqual(['ours', 'ours']);
    });

    test('bodies come back byte for byte, dated by the store, in the order of the keys', async () => {
      const { keys, first } = begin(4);
      const bodies = [Buffer.from([0, 255, 10, 13, 0]), Buffer.alloc(0), Buffer.alloc(70_000, 0x80), null];
      const before = storeNow();
      await store().record(
        first,
        keys.map((key, index) => {
          const packed = bodies[index] ?? null;
          return matched(key, {
            packed,
            status: packed ? 'matched' : 'not_found',
            billed: index % 2 === 0,
            freshMs: index === 3 ? 600_000 : null,
          });
        }),
      );
      const stored = await store().read([...keys].reverse(), fresh());
      expect(stored.map((outcome) => outcome?.key)).toEqual([...keys].reverse());
      for (const [index, outcome] of [...stored].reverse().entries()) {
        const packed = outcome?.packed ?? null;
        expect(packed === null ? null : Buffer.from(packed)).toEqual(bodies[index]);
        expect(outcome?.status).toBe(bodies[index] ? 'matched' : 'not_found');
        expect(outcome?.billed).toBe(index % 2 === 0);
        // The store's clock is this machine's; it may be read a little apart.
        expect(outcome?.fetchedAt).toBeGreaterThan(before - 5_000);
        expect(outcome?.fetchedAt).toBeLessThan(storeNow() + 5_000);
        expect(outcome?.freshUntil).toBe(index === 3 ? (outcome?.fetchedAt ?? 0) + 600_000 : null);
      }
    });

    test('an answer is replaced by a later one', async () => {
      const { keys, first } = begin(1);
      const key = keys[0] ?? '';
      await store().record(first, [matched(key, { status: 'not_found', packed: null, freshMs: 1 })]);
      await store().record(first, [matched(key)]);
      expect(await store().read(keys, fresh())).toMatchObject([{ status: 'matched', freshUntil: null }]);
    });

    test('claim and read agree with the rule of freshness, whatever the ages', async () => {
      const { keys, first, mark } = begin(3);
      const [old = '', missing = '', soon = ''] = keys;
      await store().record(first, [
        matched(old),
        matched(missing, { status: 'not_found', packed: null }),
        matched(soon, { freshMs: 600_000 }),
      ]);
      const stored = await store().read(keys, fresh());
      const fetchedAt = stored[0]?.fetchedAt ?? 0;
      let asked = 0;
      const age = fc.constantFrom(0, 1, 599_999, 600_000, 600_001, DAY_MS, 7 * DAY_MS, 30 * DAY_MS);
      await fc.assert(
        fc.asyncProperty(age, age, age, fc.constantFrom(0, -1, 1), async (past, max, maxMissing, edge) => {
          const freshness = {
            asOf: fetchedAt + past,
            maxAgeMs: max,
            maxAgeMissingMs: maxMissing,
            notBefore: edge === 0 ? 0 : fetchedAt + edge,
          };
          const expected = stored.map((outcome) => outcome !== null && isFresh(outcome, freshness));
          const read = await store().read(keys, freshness);
          expect(read.map((outcome) => outcome !== null)).toEqual(expected);
          asked += 1;
          const worker = `${mark}-asks-${asked}`;
          const answers = await claim(worker, keys, freshness);
          expect(answers.map((answer) => answer === 'fresh')).toEqual(expected);
          await store().release(worker, keys);
        }),
        { numRuns: 40 },
      );
    });

    test('a stale answer is not read, and there is none where nothing was asked', async () => {
      const { keys, first } = begin(2);
      await store().record(first, [matched(keys[0] ?? '')]);
      expect(await store().read(keys, fresh({ asOf: storeNow() + 30 * DAY_MS }))).toEqual([null, null]);
    });

    test('empty lists ask nothing', async () => {
      const { first } = begin(0);
      const before = subject.engine.roundTrips.count;
      expect(await claim(first, [])).toEqual([]);
      expect(await store().read([], fresh())).toEqual([]);
      await store().record(first, []);
      await store().release(first, []);
      expect(subject.engine.roundTrips.count).toBe(before);
    });

    test('batches are one round trip each: 50 claims, 500 answers, 1,000 readings', async () => {
      const { keys, first } = begin(1_000);
      const body = Buffer.alloc(450, 0xfe);
      // The first call of each kind may have to teach the store.
      await claim(first, keys.slice(999));
      await store().record(first, [matched(keys[999] ?? '')]);
      const before = subject.engine.roundTrips.count;
      await claim(first, keys.slice(0, 50));
      await store().record(
        first,
        keys.slice(0, 500).map((key) => matched(key, { packed: body })),
      );
      const stored = await store().read(keys, fresh());
      expect(subject.engine.roundTrips.count - before).toBe(3);
      expect(stored.filter((outcome) => outcome?.packed?.equals(body))).toHaveLength(500);
    });

    test('answers are counted, forgotten by key, and purged by age', async () => {
      const { keys, first } = begin(4);
      const [a = '', b = '', c = '', d = ''] = keys;
      await store().purge(storeNow() + DAY_MS);
      expect(await store().stats()).toEqual({
        matched: 0,
        notFound: 0,
        oldestFetchedAt: null,
        newestFetchedAt: null,
      });
      await store().record(first, [matched(a), matched(b, { status: 'not_found', packed: null })]);
      clock.advance(DAY_MS);
      await store().record(first, [matched(c), matched(d)]);
      const [older, , newer] = await store().read(keys, fresh());
      expect(await store().stats()).toEqual({
        matched: 3,
        notFound: 1,
        oldestFetchedAt: older?.fetchedAt,
        newestFetchedAt: newer?.fetchedAt,
      });
      expect(await store().forget([d, 'never-asked'])).toBe(1);
      expect(await store().purge(newer?.fetchedAt ?? 0)).toBe(2);
      expect((await store().read(keys, fresh())).map((outcome) => outcome?.key ?? null)).toEqual([
        null,
        null,
        c,
        null,
      ]);
    });

    test('taking over a claim without a permit costs nothing', async () => {
      const { keys, mark, first, second } = begin(1);
      const { runs, ledger } = subject.engine;
      const settings = runSettings({ account: mark });
      const run = await runs.start({ id: mark, key: mark, label: mark, settings });
      for (const worker of [first, second, first, second]) {
        await claim(worker, keys);
        await store().retire(worker);
      }
      await claim(first, keys);
      const { permits } = await ledger.exchange({
        account: mark,
        worker: first,
        run: run.id,
        seen: null,
        settle: [],
        reading: null,
        heard: false,
        refusedForQuota: false,
        pace: null,
        take: [{ permit: `${mark}-permit`, key: keys[0] ?? '' }],
        permitMs: 50_000,
        mayHaveTurned: false,
        usageLagMs: 60_000,
      });
      expect(permits).toMatchObject([{ answer: 'granted' }]);
    });
  });
}
